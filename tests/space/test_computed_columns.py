"""Computed columns: formulas, their order, and what becomes of a row."""

from __future__ import annotations

import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from flipset import Explainer, Explanation, Feature, InputError, Space
from flipset.space.computed_columns import linear_sums, read_computed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.space.computed_columns import ComputedColumns

NAMES = ("debt", "income", "dti", "age", "years")


def as_given(place: int, value: float) -> float:
    return value


def computed(names: tuple[str, ...] = NAMES, **how: Mapping[str, Any]) -> ComputedColumns:
    read = read_computed(how.get("derived", {}), how.get("follows", {}), names, as_given)
    assert read is not None
    return read


RATIO = computed(derived={"dti": "debt / income"}, follows={"age": "age + (years - years.before)"})
ROW = (10.0, 40.0, 0.25, 30, 5)


def test_nothing_is_computed_without_formulas() -> None:
    assert read_computed({}, {}, NAMES, as_given) is None


def test_computed_columns_change_with_those_they_use() -> None:
    assert RATIO.complete(ROW, ()) == ()
    assert RATIO.complete(ROW, ((0, 8.0),)) == ((0, 8.0), (2, 0.2))
    assert RATIO.complete(ROW, ((1, 50.0), (4, 7))) == ((1, 50.0), (2, 0.2), (3, 32), (4, 7))
    assert RATIO.recomputed((8.0, 40.0, 0.25, 30, 5), [0]) == [8.0, 40.0, 0.2, 30, 5]


def test_a_row_that_was_completed_stays_as_it_is() -> None:
    cells = RATIO.complete(ROW, ((0, 8.0), (4, 6)))
    assert RATIO.complete(ROW, cells) == cells


def test_whole_numbers_stay_whole() -> None:
    ((_, _), (_, age)) = sorted(RATIO.complete(ROW, ((4, 7),)), reverse=True)
    assert (age, type(age)) == (32, int)
    assert RATIO.complete(ROW, ((4, 5.5),)) == ((3, 30.5), (4, 5.5))


def test_what_is_missing_makes_a_result_missing() -> None:
    assert RATIO.complete(ROW, ((1, None),)) == ((1, None), (2, None))
    assert RATIO.complete((10.0, None, None, 30, 5), ((0, 8.0),)) == ((0, 8.0),)


def test_one_column_may_be_computed_from_another() -> None:
    both = computed(derived={"dti": "age / 2"}, follows={"age": "age + (years - years.before)"})
    assert [one.name for one in both.columns] == ["age", "dti"]
    assert both.complete((0, 0, 15, 30, 5), ((4, 7),)) == ((2, 16), (3, 32), (4, 7))


def test_a_division_by_zero_names_the_column_and_the_values() -> None:
    with pytest.raises(
        InputError, match=r"the derived column 'dti' cannot be computed: a division by 0 in debt / inco"
    ):
        RATIO.complete(ROW, ((1, 0),))
    with pytest.raises(InputError, match=r"debt is 1e\+308.* is no finite number"):
        RATIO.complete(ROW, ((0, 1e308), (1, 1e-9)))
    with pytest.raises(InputError, match="cannot be computed: a text in debt / income"):
        RATIO.complete(ROW, ((1, "none"),))


def test_a_division_by_zero_spoils_its_own_row_of_a_table_only() -> None:
    debt = Feature("d", "integer", direction=-1, lower=0, upper=9)
    income = Feature("i", "integer", direction=1, lower=0, upper=9)
    space = Space([debt, income, Feature("r")], derived={"r": "d / i"})
    explainer = Explainer(lambda rows: [-row[2] for row in rows], space, threshold=-0.3)
    first, second = explainer.explain_table([{"d": 4, "i": 5, "r": 0.8}, {"d": 4, "i": 0, "r": 0.8}])
    assert isinstance(first, Explanation)
    assert first.status == "optimal"
    assert isinstance(second, InputError)
    assert "row 1: the derived column 'r' cannot be computed: a division by 0" in str(second)


@pytest.mark.parametrize("given", [0.25, 0.2500000001, 0.3, 0.2])
def test_a_row_that_agrees_with_the_formula_is_taken(given: float) -> None:
    RATIO.check((10.0, 40.0, given, 99, 5))  # 0.2 was cut, and 0.3 rounded


def test_a_derived_value_may_be_missing_only_with_an_input() -> None:
    RATIO.check((None, 40.0, None, 30, 5))
    with pytest.raises(InputError, match=r"'dti' is missing in this row, and debt / income gives 0\.25"):
        RATIO.check((10.0, 40.0, None, 30, 5))


def test_a_follower_that_jumps_where_nothing_changes_is_refused() -> None:
    jumping = computed(follows={"age": "age + years"})
    with pytest.raises(
        InputError, match=r"'age' is 30 in this row, and its formula age \+ years gives 35 although nothing"
    ):
        jumping.check(ROW)
    jumping.check((10.0, 40.0, 0.25, None, 5))  # what is missing stays missing


def test_inputs_are_stuck_where_a_value_could_not_be_computed_again() -> None:
    assert RATIO.stuck(ROW) == frozenset()
    assert RATIO.stuck((10.0, None, 0.25, 30, 5)) == {"debt", "income"}
    assert RATIO.stuck((10.0, None, None, 30, 5)) == frozenset()
    assert RATIO.stuck((10.0, 40.0, 0.25, 30, None)) == frozenset()  # a follower becomes missing
    nested = computed(derived={"dti": "debt / income", "age": "dti * years"})
    assert nested.stuck((10.0, 40.0, 0.25, 1.25, None)) == {"debt", "income", "years"}


@pytest.mark.parametrize("given", [0.26, 0.4, -0.25])
def test_a_row_that_contradicts_the_formula_is_refused(given: float) -> None:
    with pytest.raises(InputError, match=r"'dti' is .* in this row, and debt / income gives 0\.25; correct the row or"):
        RATIO.check((10.0, 40.0, given, 30, 5))


def test_a_derived_column_must_be_a_number() -> None:
    with pytest.raises(InputError, match="the derived column 'dti' is 'high' in this row; expected a number"):
        RATIO.check((10.0, 40.0, "high", 30, 5))


def ratio(row: Mapping[str, Any]) -> Any:
    return row["debt"] / row["income"]


def wrong(row: Mapping[str, Any], value: Any) -> Any:
    return value


def test_a_function_computes_a_column() -> None:
    by_function = computed(derived={"dti": ratio})
    assert by_function.complete(ROW, ((0, 8.0),)) == ((0, 8.0), (2, 0.2))
    assert pickle.loads(pickle.dumps(by_function)).complete(ROW, ((0, 8.0),)) == ((0, 8.0), (2, 0.2))
    missing = computed(derived={"dti": partial(wrong, value=None)})
    assert missing.complete(ROW, ((0, 8.0),)) == ((0, 8.0), (2, None))


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda row: row["nothing"], "its function raised KeyError"),
        (lambda row: 1 / 0, "its function raised ZeroDivisionError"),
        (lambda row: float("inf"), "its function returned inf; expected a finite number or None"),
        (lambda row: "high", "its function raised ValueError"),
    ],
)
def test_what_a_function_must_not_do(function: Any, problem: str) -> None:
    with pytest.raises(InputError, match=f"the derived column 'dti': {problem}"):
        computed(derived={"dti": function}).complete(ROW, ((0, 8.0),))


def test_a_function_that_cannot_be_sent_to_workers_is_refused() -> None:
    space = Space(
        [Feature("a", direction=1, lower=0, upper=9, step=1), Feature("s")], derived={"s": lambda row: row["a"]}
    )
    explainer = Explainer(first_column, space, threshold=5)
    rows = [{"a": i, "s": i} for i in range(4)]
    assert len(explainer.explain_table(rows)) == 4
    with pytest.raises(InputError, match="functions of derived columns be; this cannot"):
        explainer.explain_table(rows, workers=2)


def first_column(rows: Any) -> list[float]:
    return [float(row[0]) for row in rows]


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({"derived": {"dti": "debt / wages"}}, "the derived column 'dti': there is no column 'wages'"),
        ({"derived": {"ratio": "debt / income"}}, "the derived column 'ratio': there is no column 'ratio'"),
        ({"derived": {"dti": "dti + 1"}}, "need each other's results"),
        ({"follows": {"age": "age + (years - wages.before)"}}, "there is no column 'wages'"),
        (
            {"follows": {"age": "age + years", "years": "years + age"}},
            "'age' → 'years' → 'age'|'years' → 'age' → 'years'",
        ),
        ({"follows": {"age": "age + 1"}}, "it names no other column"),
        ({"derived": {"dti": "3"}}, "it names no column"),
        ({"derived": {"dti": "debt <= income"}}, "it is no number"),
        ({"derived": {"dti": "debt.before / income"}}, "cannot be read"),
        ({"derived": {"dti": ""}}, "the formula of 'dti' must be a formula or a function"),
        ({"follows": {"age": ratio}}, "the follower of 'age' must be a formula"),
        ({"derived": {"dti": "debt"}, "follows": {"dti": "debt"}}, "both derived and a follower"),
        ({"derived": [("dti", "debt")]}, "derived must be a mapping"),
    ],
)
def test_formulas_that_are_refused(how: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_computed(how.get("derived", {}), how.get("follows", {}), NAMES, as_given)


def test_which_columns_are_sums() -> None:
    names = ("a", "b", "s", "t", "r", "f", "g")
    found = linear_sums(
        computed(
            names,
            derived={"s": "a + 2 * b", "t": "s - a + 1", "r": "a / b"},
            follows={"f": "f + (a - a.before)", "g": "2 * a"},
        )
    )
    # A follower counts if it is its own value in the row itself: the sum of "g" is not.
    assert set(found) == {"s", "t", "f"}
    assert {key.name: factor for key, factor in found["t"].factors.items() if factor} == {"b": 2}
    assert found["t"].constant == 1
