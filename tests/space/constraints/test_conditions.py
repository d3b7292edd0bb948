"""Rules about single columns: what they mean, and what is said about texts that cannot be read."""

import pytest

from flipset import InputError
from flipset.space.constraints.conditions import (
    Condition,
    Implication,
    Together,
    is_about_moves,
    is_implication,
    read_implication,
    read_together,
)


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("a == 0 implies b == 1", Condition("a", "==", (0,)), Condition("b", "==", (1,))),
        ("3 < a implies b != 'x'", Condition("a", ">", (3,)), Condition("b", "!=", ("x",))),
        ("a in [1, 2] implies `b b` <= 2.5", Condition("a", "==", (1, 2)), Condition("b b", "<=", (2.5,))),
        ("a >= -7 implies b in ['x']", Condition("a", ">=", (-7,)), Condition("b", "==", ("x",))),
    ],
)
def test_an_implication_has_two_conditions(text: str, left: Condition, right: Condition) -> None:
    assert is_implication(text)
    assert read_implication(text) == Implication(left, right)
    assert read_implication(text).columns == (left.column, right.column)


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        (Condition("a", "==", (1, 2)), 2.0, True),
        (Condition("a", "==", (1, 2)), 3, False),
        (Condition("a", "!=", (1,)), "x", True),
        (Condition("a", "<", (1,)), "x", False),  # a text and a number have no order
        (Condition("a", ">", (1,)), 1.5, True),
        (Condition("a", "==", (0,)), False, True),
    ],
)
def test_a_condition_holds_or_not(condition: Condition, value: object, expected: bool) -> None:
    assert condition.holds(value) is expected


def test_a_rule_about_moves() -> None:
    assert is_about_moves("if a moves then b moves")
    assert read_together("if a moves then b moves") == read_together("if a moves then b") == Together("a", "b")
    assert read_together("if `a a` moves then b moves").columns == ("a a", "b")
    assert not is_about_moves("iffy <= 3")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a == 0 implies b == 1 implies c == 2", "stands in it twice"),
        ("a == 0 implies a == 1", "both conditions are about 'a'"),
        ("a implies b == 1", "a condition compares one column"),
        ("a == b implies c == 1", "a condition compares one column"),
        ("a == null implies c == 1", "a condition compares one column"),
        ("a not in [1] implies c == 1", "list the values that are meant"),
        ("a + 1 == 0 implies c == 1", "a condition compares one column"),
        ("a == 0 implies", "cannot be read"),
    ],
)
def test_what_is_no_implication_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        read_implication(text)
    assert repr(text) in str(caught.value) or text in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["if a moves", "if a moves then", "if a changes then b moves", "if a moves then b moves now", "if 3 moves then b"],
)
def test_what_is_no_rule_about_moves_is_refused(text: str) -> None:
    with pytest.raises(InputError, match='has the form "if income moves then job moves"'):
        read_together(text)


def test_a_column_cannot_need_itself() -> None:
    with pytest.raises(InputError, match="it names 'a' twice"):
        read_together("if a moves then a moves")


def test_a_caret_stands_under_the_place() -> None:
    with pytest.raises(InputError) as caught:
        read_implication("a == 0 implies b ** 2 == 1")
    *_, line, caret = str(caught.value).split("\n")
    assert line[caret.index("^") :].startswith("**")
