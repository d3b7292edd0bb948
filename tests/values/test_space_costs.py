"""Costs that rows of a space share are those that each row would compute by itself."""

import pickle
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from flipset import Feature, Space, range_share
from flipset.space.moves import MoveFinder
from flipset.space.path import Path
from flipset.values import space_costs
from flipset.values.costs import common_unit, costs_in_units
from flipset.values.space_costs import SpaceCosts

FRAME = pd.DataFrame({"a": [1.0, 2.0, 2.0, 5.0, 9.0], "b": [0, 1, 1, 0, 1], "c": ["x", "y", "x", "x", "y"]})

SPACE = Space(
    [
        Feature("a", direction=+1, lower=0.0, upper=10.0, weight=2.5),
        Feature("b", "binary", direction=-1),
        Feature("c", "categorical", options=("x", "y")),
    ],
    reference=FRAME,
)


def paths_of(finder: MoveFinder, *cells: Any) -> list[Path]:
    units = finder.moves(cells, raise_score=True).units
    return [path for unit in units for option in unit.options for _, path in option.paths]


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("cost", [None, range_share, {"a": lambda before, after: after - before}])
def test_costs_are_those_of_each_path_alone(cost: Any, at_once: bool) -> None:
    costs, finder = SpaceCosts(SPACE, cost), MoveFinder(SPACE)
    assert costs.unit == (common_unit(SPACE) if cost is None else 1)
    for a in (0.0, 1.5, 2.0, 9.0, 0.0):
        for path in paths_of(finder, a, 1, "x"):
            alone = costs_in_units(path, cost, SPACE.reference, costs.unit)
            assert list(costs.along(path, at_once=at_once)) == list(alone)
            assert [costs.to(path, value) for value in path.values] == list(alone)[1:]


def test_rows_with_the_same_value_share_costs_of_the_default_only() -> None:
    finder = MoveFinder(SPACE)
    first, second = (paths_of(finder, 2.0, b, "x")[0] for b in (0, 1))
    assert first is second
    default, own = SpaceCosts(SPACE, None), SpaceCosts(SPACE, range_share)
    assert default.along(first, at_once=True) is default.along(second, at_once=True)
    assert default.along(first, at_once=True) is not default.along(first, at_once=False)
    assert own.along(first, at_once=False) is not own.along(second, at_once=False)


def test_what_is_kept_is_bounded_and_stays_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space_costs, "KEPT", 2)
    costs = SpaceCosts(SPACE, None)
    for i in range(20):
        for path in paths_of(MoveFinder(SPACE), i / 4, 1, "x"):  # paths of their own, which nobody else keeps
            alone = costs_in_units(path, None, SPACE.reference, costs.unit)
            assert list(costs.along(path, at_once=True)) == list(alone)
            assert [costs.to(path, value) for value in path.values] == list(alone)[1:]
            assert len(costs._along) <= 2
            assert len(costs._to) <= 2


def test_costs_are_whole_only_where_all_of_them_are_counted() -> None:
    assert SpaceCosts(SPACE, None).are_whole([0, 1])
    assert SpaceCosts(SPACE, None).are_whole([])
    # Without paths, too, a cost of the user's own may be any fraction.
    assert not SpaceCosts(SPACE, {"c": lambda before, after: Fraction(1, 3)}).are_whole([])
    assert not SpaceCosts(SPACE, range_share).are_whole([0])
    assert not SpaceCosts(Space(SPACE.features), None).are_whole([0])
    unseen = pd.DataFrame({"a": [None, float("nan")], "b": [0, 1], "c": ["x", "y"]})
    assert not SpaceCosts(Space(SPACE.features, reference=unseen), None).are_whole([0, 1])


def test_costs_can_be_sent_to_another_process_after_they_were_used() -> None:
    costs = SpaceCosts(SPACE, None)
    (path, *_) = paths_of(MoveFinder(SPACE), 2.0, 1, "x")
    assert len(costs.along(path, at_once=False)) == len(path.values) + 1
    sent: SpaceCosts = pickle.loads(pickle.dumps(costs))
    assert (sent.unit, sent.cost, sent.space) == (costs.unit, None, SPACE)
