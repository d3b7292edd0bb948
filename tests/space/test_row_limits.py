"""The range of a column in one row: bounds of its own, and limits that start from its value."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from flipset import Explainer, Feature, InputError, Space
from flipset.space.row_limits import is_within, narrowed, own_columns, read_pair


def ends(value: Any, own_bounds: dict[str, Any] | None = None, **how: Any) -> tuple[Any, Any] | None:
    given: dict[str, Any] = {"kind": "numeric", "direction": 1, "lower": 0, "upper": 100, **how}
    made = narrowed(Feature("x", **given), value, own_bounds or {})
    return None if made is None else (made.lower, made.upper)


@pytest.mark.parametrize(
    ("value", "how", "expected"),
    [
        (50, {"max_rise": 20}, (0, 70)),
        (50, {"max_fall": 20}, (30, 100)),
        (50, {"max_rise": "20 %", "max_fall": "10 %"}, (45, 60)),
        (95, {"max_rise": 20}, (0, 100)),  # the bound is nearer
        (50, {"max_rise": 0, "max_fall": 0}, (50, 50)),
        (0, {"max_rise": "20 %"}, (0, 0)),  # a share of nothing
        (0.1, {"max_rise": 0.2}, (0, 0.3)),  # in decimals, not 0.30000000000000004
        (0.1, {"max_rise": "10 %"}, (0, 0.11)),
        (7, {"kind": "integer", "max_rise": "20 %"}, (0, 8)),  # 8.4, rounded inwards
        (7, {"kind": "integer", "max_fall": 2.5}, (5, 100)),
        (130, {"max_fall": 20}, None),  # beyond its bounds, and too far to come back
        (130, {"max_fall": 40}, (90, 100)),
        (-10, {"max_rise": "50 %"}, None),
        (None, {"max_rise": 1}, (0, 100)),  # nothing to start from
        (-7, {"max_rise": 1, "special": (-7,)}, (0, 100)),
    ],
)
def test_limits_start_from_the_value(value: Any, how: dict[str, Any], expected: Any) -> None:
    assert ends(value, **how) == expected


@pytest.mark.parametrize(
    ("own", "how", "expected"),
    [
        ({"cap": 60}, {"upper_from": "cap"}, (0, 60)),
        ({"cap": 160}, {"upper_from": "cap"}, (0, 100)),
        ({"cap": None}, {"upper_from": "cap"}, (0, 100)),
        ({"cap": 60.7}, {"upper_from": "cap", "kind": "integer"}, (0, 60)),
        ({"floor": 60.7}, {"lower_from": "floor", "kind": "integer"}, (61, 100)),
        ({"floor": 70, "cap": 60}, {"lower_from": "floor", "upper_from": "cap"}, None),
        ({"cap": 60}, {"upper_from": "cap", "max_rise": 5}, (0, 55)),
    ],
)
def test_columns_give_bounds_to_each_row(own: dict[str, Any], how: dict[str, Any], expected: Any) -> None:
    assert ends(50, own, **how) == expected


@pytest.mark.parametrize("bound", ["much", True, float("inf"), 10**400])
def test_a_bound_that_is_no_number_is_refused(bound: Any) -> None:
    with pytest.raises(
        InputError, match=r"feature 'x': its bound from the column 'cap' is .*; expected a finite number"
    ):
        ends(50, {"cap": bound}, upper_from="cap")


def test_levels_are_counted() -> None:
    levels = ("a", "b", "c", "d")
    given: dict[str, Any] = {"kind": "ordinal", "options": levels, "lower": None, "upper": None}
    assert ends("b", **given, max_rise=1) == ("a", "c")
    assert ends("b", **given, max_fall=0, max_rise=9) == ("b", "d")
    assert ends("d", {"cap": "b"}, **given, upper_from="cap") == ("a", "b")
    with pytest.raises(InputError, match="its bound from the column 'cap' is 'z'; expected one of its values"):
        ends("d", {"cap": "z"}, **given, upper_from="cap")


def test_limits_only_narrow_the_range() -> None:
    rng = Random(5)
    for _ in range(400):
        value = rng.choice([rng.randrange(-20, 130), round(rng.uniform(-20, 130), 2)])
        how: dict[str, Any] = {
            name: rng.choice([None, 0, 7, 0.3, "20 %", "33.3 %"]) for name in ("max_rise", "max_fall")
        }
        kind = rng.choice(["numeric", "integer"])
        found = ends(value, kind=kind, **how)
        if found is None:
            continue
        low, high = (Fraction(str(end)) for end in found)
        assert 0 <= low <= high <= 100
        for room, distance in (
            (how["max_rise"], high - Fraction(str(value))),
            (how["max_fall"], Fraction(str(value)) - low),
        ):
            share = isinstance(room, str)
            if room is not None:
                most = abs(Fraction(str(value))) * Fraction(room.rstrip(" %")) / 100 if share else Fraction(str(room))
                assert distance <= most or distance <= 0


def test_a_limit_without_room_means_that_the_feature_cannot_move() -> None:
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "ab"])
    explainer = Explainer(lambda rows: rows.sum(axis=1) >= 8, space)
    assert explainer.explain([2, 2]).flipsets == (("a",), ("b",))
    assert explainer.explain([2, 2], max_rise={"a": 0}).flipsets == (("b",),)
    e = explainer.explain([2, 2], max_rise={"a": 0, "b": "50 %"})
    assert (e.status, [unit.name for unit in e.moves.units]) == ("none", ["b"])


def test_costs_are_shares_of_the_whole_range() -> None:
    space = Space([Feature("a", "integer", direction=+1, lower=0, upper=100)])
    explainer = Explainer(lambda rows: rows[:, 0] >= 30, space)
    free, limited = explainer.explain([20]), explainer.explain([20], max_rise={"a": 15})
    assert free.counterfactuals == limited.counterfactuals


def test_rows_need_the_columns_of_their_bounds_by_name() -> None:
    space = Space([Feature("a", "integer", direction=+1, lower=0, upper=100, upper_from="cap")])
    assert (space.own_columns, space.table_columns, own_columns(space.features)) == (("cap",), ("a", "cap"), ("cap",))
    seen: list[int] = []

    def model(rows: Any) -> Any:
        seen.append(rows.shape[1])
        return rows[:, 0] >= 30

    explainer = Explainer(model, space)
    e = explainer.explain({"a": 20, "cap": 40})
    assert e.own_bounds == {"cap": 40}
    assert e.moves.units[0].end == (0, 40)
    assert explainer.explain({"a": 20, "cap": 29}).status == "none"
    assert set(seen) == {1}  # the model does not see the bound
    with pytest.raises(InputError, match="the row has no 'cap'; it needs 'a', 'cap'"):
        explainer.explain({"a": 20})
    with pytest.raises(InputError, match="bounds come from the column 'cap', so rows need names"):
        explainer.explain([20])
    assert explainer.verify(type(e).from_json(e.to_json()))


@pytest.mark.parametrize("pair", [3, (1, 2, 3), None])
def test_bounds_are_pairs(pair: Any) -> None:
    with pytest.raises(InputError, match=r"bounds\['x'\] must be a pair"):
        read_pair("x", pair)
    assert read_pair("x", [None, 5]) == {"upper": 5}
    assert read_pair("x", ("floor", 5)) == {"lower_from": "floor", "upper": 5}
    assert read_pair("x", ("low", None), ("low", "high")) == {"lower": "low"}


@pytest.mark.parametrize(("value", "option", "allowed"), [(4, 6, True), (4, 9, False), (4, 2, False), (None, 2, True)])
def test_options_of_numbers_keep_to_bounds_and_directions(value: Any, option: Any, allowed: bool) -> None:
    feature = Feature("x", options=(2, 4, 6, 9), upper=8, may_fall=False)
    assert is_within(feature, value, option) is allowed


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"max_rise": -1}, "max_rise must be an amount of at least 0, such as 5000, or a share"),
        ({"max_fall": "20"}, 'max_fall must be an amount of at least 0, such as 5000, or a share, such as "20 %"'),
        ({"max_rise": True}, "max_rise must be an amount"),
        ({"upper_from": ""}, "upper_from must be the name of a column"),
        ({"lower_from": 3}, "lower_from must be the name of a column"),
        ({"kind": "binary", "max_rise": "20 %"}, "max_rise counts levels here: expected a whole number"),
        ({"kind": "categorical", "max_rise": 3}, "max_rise needs an order"),
        ({"missing": "sometimes"}, "missing must be one of 'stays', 'may be filled'"),
        ({"may_leave": (-7,)}, "may_leave has -7, which is not among its special codes"),
    ],
)
def test_limits_that_mean_nothing_are_refused(how: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Feature("x", **how)
