"""Which values stay as they are, and what the explanation says about them."""

from typing import Any

import pytest

from flipset import Explainer, Feature, Space
from flipset.space.held import is_held_fixed, why_held, why_hot_held

SCALE: dict[str, Any] = {"kind": "integer", "direction": 1, "lower": 0, "upper": 9, "special": (-7, -8)}


@pytest.mark.parametrize(
    ("how", "value", "why"),
    [
        ({}, 3, None),
        ({}, 20, None),  # beyond its bounds: it may come back, or stay
        ({}, None, "missing"),
        ({"missing": "may be filled"}, None, None),
        ({"missing": "may become missing"}, None, "missing"),
        ({"missing": True}, None, None),
        ({}, -7, "special code"),
        ({"may_leave": (-7,)}, -7, None),
        ({"may_leave": (-7,)}, -8, "special code"),
        ({"may_become": (-7,)}, -7, "special code"),
    ],
)
def test_missing_values_and_codes_stay_unless_they_may_not(how: Any, value: Any, why: Any) -> None:
    assert why_held(Feature("x", **SCALE | how), value) == why


def test_a_label_without_a_place_stays_and_a_category_may_move() -> None:
    assert why_held(Feature("x", "ordinal", direction=+1, options=("low", "high")), "odd") == "unknown value"
    assert why_held(Feature("x", "binary", direction=+1), 2) == "unknown value"
    assert why_held(Feature("x", "categorical", options=("a", "b")), "odd") is None


@pytest.mark.parametrize(
    ("values", "why"),
    [((0, 1), None), ((0, 0), None), ((False, True), None), ((1, 1), "unknown value"), ((0.5, 0), "unknown value"),
     ((None, 1), "missing"), ((float("nan"), 2), "missing"), (("1", 0), "unknown value")],
)  # fmt: skip
def test_one_hot_columns_that_are_none_stay(values: Any, why: Any) -> None:
    assert why_hot_held(values) == why


def test_a_feature_that_can_be_nothing_else_is_held_fixed() -> None:
    assert is_held_fixed(Feature("x"))
    assert is_held_fixed(Feature("x", missing="may be filled"))  # with what?
    assert not is_held_fixed(Feature("x", missing="may become missing"))
    assert is_held_fixed(Feature("x", fixed=True, missing="either way"))


def test_a_missing_value_is_no_advice_unless_the_space_says_so() -> None:
    def approve(rows: Any) -> Any:
        return [float(x == x and x >= 5) + float(y) / 10 for x, y in rows]

    other = Feature("y", "integer", direction=+1, lower=0, upper=9)
    e = Explainer(approve, Space([Feature("x", **SCALE), other])).explain([None, 3])
    assert (e.status, e.flipsets) == ("optimal", (("y",),))
    assert (e.held_fixed, e.held_because) == (("x",), {"x": "missing"})
    assert "Held fixed: x (missing)" in str(e)
    may = Explainer(approve, Space([Feature("x", **SCALE, missing="may be filled"), other])).explain([None, 3])
    assert set(may.flipsets) == {("x",), ("y",)}
    assert may.held_because == {}
