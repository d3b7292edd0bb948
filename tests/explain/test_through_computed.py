"""Directions through computed columns: what is known of them limits what is known of the columns that move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flipset import Explainer, Feature, Space
from flipset.explain.through_computed import Through, through_computed

if TYPE_CHECKING:
    from flipset.results.basis import Basis

NAMES = ("a", "b", "s", "t", "r")


def space(**how: dict[str, str]) -> Space:
    return Space(
        [Feature("a", direction=1, lower=0, upper=9), Feature("b", direction=-1, lower=0, upper=9)]
        + [Feature(name) for name in NAMES[2:]],
        derived=how.get("derived"),
        follows=how.get("follows"),
    )


DIRECTIONS = {"a": 1, "b": -1}


def test_without_computed_columns_there_is_nothing_between() -> None:
    assert through_computed(DIRECTIONS, None) == Through()


@pytest.mark.parametrize(
    ("formulas", "directions", "moved"),
    [
        ({"s": "a - b"}, {"s": 1}, {"a": ("s",), "b": ("s",)}),
        ({"s": "-2 * a"}, {"s": -1}, {"a": ("s",)}),
        ({"s": "a + b"}, {}, {"a": ("s",), "b": ("s",)}),  # its columns move it in opposite directions
        ({"s": "a - b", "t": "1 - s"}, {"s": 1, "t": -1}, {"a": ("s", "t"), "b": ("s", "t")}),
        ({"s": "a / b"}, {}, {"a": ("s",), "b": ("s",)}),
        ({"s": "a / b", "t": "s + a"}, {}, {"a": ("s", "t"), "b": ("s", "t")}),
    ],
)
def test_directions_of_sums(formulas: dict[str, str], directions: dict[str, int], moved: dict[str, object]) -> None:
    found = through_computed(DIRECTIONS, space(derived=formulas).computed)
    assert found.directions == directions
    assert found.moved == moved


def test_a_follower_that_does_not_begin_at_its_own_value_has_no_direction() -> None:
    own = through_computed(DIRECTIONS, space(follows={"s": "s + (a - a.before)"}).computed)
    other = through_computed(DIRECTIONS, space(follows={"s": "2 * a"}).computed)
    assert (own.directions, other.directions) == ({"s": 1}, {})
    assert own.moved == other.moved == {"a": ("s",)}


def test_the_weakest_computed_column_decides() -> None:
    through = Through({"s": 1}, {"a": ("s", "r"), "b": ("s",)})
    known: dict[str, Basis] = {"a": "proved", "b": "proved", "s": "declared"}
    limits = through.limits(known)
    assert {name: basis for name, (basis, _) in limits.items()} == {"a": "assumed", "b": "declared"}
    assert "through the computed column r" in limits["a"][1]
    assert Through({"s": 1}, {"a": ("s",)}).limits(known | {"s": "proved"}) == {}


def test_what_an_explanation_rests_on() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    model = linear.LinearRegression().fit([[0, 0, 0], [1, 0, 1], [0, 1, -1], [2, 1, 0]], [0.0, 2.0, -2.0, 1.5])
    model.coef_[:] = [1.0, -1.0, 1.0]
    features = [Feature("a", direction=1, lower=0, upper=9), Feature("b", direction=-1, lower=0, upper=9), Feature("s")]
    for formula, basis in (("a - b", "proved"), ("a / (b + 1)", "assumed")):
        e = Explainer(model, Space(features, derived={"s": formula}), threshold=5.0).explain(
            [1.0, 1.0, 0.0 if "-" in formula else 0.5]
        )
        assert set(e.basis.values()) == {basis}, formula
