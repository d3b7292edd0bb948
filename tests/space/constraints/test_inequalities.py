"""Constraints as text: what they mean, and what is said about texts that cannot be read."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from flipset.errors import InputError
from flipset.space.constraints.inequalities import Inequality, read_inequalities, read_tree, substituted, sum_of


def holds(text: str, **values: float) -> bool:
    exact = {name: Fraction(str(value)) for name, value in values.items()}
    return all(one.allows(one.total(exact)) for one in read_inequalities(text))


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("a <= b", {"a": 2, "b": 2}, True),
        ("a < b", {"a": 2, "b": 2}, False),
        ("a >= b", {"a": 2, "b": 3}, False),
        ("a > 0.5 * b", {"a": 2, "b": 3}, True),
        ("a == b + c", {"a": 5, "b": 3, "c": 2}, True),
        ("a == b + c", {"a": 6, "b": 3, "c": 2}, False),
        ("a == b + c", {"a": 4, "b": 3, "c": 2}, False),
        ("a <= 0.8 * b + 100", {"a": 180, "b": 100}, True),
        ("a <= 0.8 * b + 100", {"a": 180.01, "b": 100}, False),
        ("late_90 <= late_60 <= late_30", {"late_90": 1, "late_60": 2, "late_30": 2}, True),
        ("late_90 <= late_60 <= late_30", {"late_90": 1, "late_60": 3, "late_30": 2}, False),
        ("years <= age - 16", {"years": 10, "age": 26}, True),
        ("2 * (a - b) / 4 <= -(c - 1)", {"a": 3, "b": 1, "c": 0}, True),
        ("2 * (a - b) / 4 <= -(c - 1)", {"a": 3.1, "b": 1, "c": 0}, False),
        ("a + b <= 0.3", {"a": 0.1, "b": 0.2}, True),  # as decimals: the floats 0.1 and 0.2 add up to more than 0.3
        ("a * 3 <= 3 * `b b`", {"a": 1, "b b": 1}, True),
    ],
)
def test_a_constraint_holds_or_not(text: str, values: dict[str, float], expected: bool) -> None:
    assert holds(text, **values) is expected


def test_columns_that_cancel_are_left_out() -> None:
    assert read_inequalities("a + b <= b + c")[0].columns == ("a", "c")


def test_random_sums_mean_what_they_say() -> None:
    random = Random(7)
    for _ in range(500):
        numbers = [random.randint(-9, 9) / random.choice([1, 2, 10]) for _ in range(4)]
        signs = random.choices("+-", k=2)
        operator = random.choice(["<=", "<", ">=", ">", "=="])
        text = f"{numbers[0]} * a {signs[0]} {abs(numbers[1])} * b {operator} c {signs[1]} {abs(numbers[2])}"
        a, b, c = (Fraction(random.randint(-20, 20), 10) for _ in range(3))
        one, two, three = (Fraction(str(number)) for number in (numbers[0], abs(numbers[1]), abs(numbers[2])))
        left = one * a + two * b * (1 if signs[0] == "+" else -1)
        right = c + three * (1 if signs[1] == "+" else -1)
        compared = {"<=": left <= right, "<": left < right, ">=": left >= right, ">": left > right, "==": left == right}
        values = {"a": a, "b": b, "c": c}
        assert all(one.allows(one.total(values)) for one in read_inequalities(text)) is compared[operator], text


def test_computed_columns_are_replaced_by_what_they_are_computed_from() -> None:
    (rule,) = read_inequalities("years <= age - 16")
    text = "age.before + 2 * (years - years.before)"
    found = substituted(rule, {"age": sum_of(text, read_tree(text, before=True))})
    assert replace(found, through=frozenset(), written=None) == Inequality(
        (("years", -1),), -16, before=(("age", -1), ("years", 2))
    )
    # Only the formula names age, and computes with its codes; where the row has no age, the text itself counts.
    assert found.through == {"age"}
    assert found.written == replace(rule, unless=frozenset({"age"}))


@pytest.mark.parametrize(
    ("text", "problem", "under"),
    [
        ("a <= b ** 2", "powers", "**"),
        ("a <= b * c", "a product of columns is not linear", "c"),
        ("a <= 1 / b", "a quotient of columns is not linear", "b"),
        ("a <= b / 0", "a division by 0", "/"),
        ("a != b", "leaves a gap", "!="),
        ("a <= 'x'", "not texts", "x"),
        ("a = b", "write == to compare", "="),
        ("a <= ", "expected a column", None),
        ("a <= b c", "expected an operator or the end", "c"),
    ],
)
def test_an_error_shows_where_the_text_cannot_be_read(text: str, problem: str, under: str | None) -> None:
    with pytest.raises(InputError) as caught:
        read_inequalities(text)
    said, line, caret = str(caught.value).split("\n")
    assert problem in said
    assert repr(text) in said
    assert line == f"    {text}"
    at = len(text) if under is None else text.rindex(under)
    assert caret == "    " + " " * at + "^"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a + b", "a constraint compares sums of columns"),
        ("a <= b and b <= c", "a constraint compares sums of columns"),
        ("a in [1, 2]", "a constraint compares sums of columns"),
        ("a <= (b <= c)", "cannot be a part of a sum"),
        ("1 <= 2", "has no column on either side"),
        ("a <= a", "has no column on either side"),
    ],
)
def test_other_texts_are_refused_with_what_was_expected(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_inequalities(text)
