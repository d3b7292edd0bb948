"""Grids and costs, by hand."""

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from flipset import Feature, InputError, Space, range_share, share_passed
from flipset.space.path import Path, find_path
from flipset.values.costs import own_cost


def path(before: Any, *, raise_score: bool = True, frame: Any = None, **how: Any) -> Path:
    reference = None if frame is None else Space.from_frame(frame).reference
    found = find_path(Feature("x", **how), before, raise_score=raise_score, reference=reference)
    assert found is not None
    return found


def test_every_value_is_a_multiple_of_the_step() -> None:
    way = path(0.25, direction=1, lower=0, upper=1, step=0.1)
    assert list(way.values) == [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]  # not 0.30000000000000004
    assert list(path(0.3, direction=1, lower=0, upper=0.55, step=0.1).values) == [0.4, 0.5]
    assert list(path(7, direction=-1, lower=0, upper=9, step=5).values) == [5.0, 0.0]
    assert list(path(7, kind="integer", direction=-1, lower=3, upper=9).values) == [6, 5, 4, 3]


def test_a_row_outside_its_bounds_enters_at_the_nearest_multiple_and_is_never_pushed_the_wrong_way() -> None:
    assert list(path(9, direction=-1, lower=0, upper=4, step=3).values) == [3.0, 0.0]
    assert list(path(-5, direction=1, lower=1, upper=4, step=3).values) == [3.0]
    assert find_path(Feature("x", direction=1, lower=0, upper=4), 9, raise_score=True, reference=None) is None
    assert find_path(Feature("x", direction=1, lower=0, upper=4), 4, raise_score=True, reference=None) is None


def test_no_path_leads_from_beyond_the_last_multiple() -> None:
    feature = Feature("x", direction=1, lower=0, upper=0.55, step=0.1)
    assert find_path(feature, 0.5, raise_score=True, reference=None) is None
    assert find_path(feature, 0.52, raise_score=True, reference=None) is None
    assert list(path(0.52, raise_score=False, direction=1, lower=0.25, upper=0.55, step=0.1).values) == [0.5, 0.4, 0.3]


def test_from_outside_the_order_the_whole_range_is_open() -> None:
    assert list(path(None, kind="integer", direction=1, lower=2, upper=4).values) == [2, 3, 4]
    assert list(path(-7, kind="integer", direction=-1, lower=2, upper=4, special=(-7,)).values) == [4, 3, 2]


def test_levels_in_their_order() -> None:
    levels = ("poor", "fair", "good", "best")
    assert list(path("fair", kind="ordinal", direction=1, options=levels).values) == ["good", "best"]
    assert list(path("best", kind="ordinal", direction=-1, options=levels, lower="fair").values) == ["good", "fair"]
    # A label without a place is outside the order, like a code: from there, every level can be reached.
    assert list(path("odd", kind="ordinal", direction=1, options=levels).values) == [*levels]


def test_without_a_step_the_values_seen_are_the_grid() -> None:
    frame = pd.DataFrame({"x": [1.5, 2.5, 2.5, 9.0, 7.0]})
    way = path(2.0, direction=1, lower=0, upper=8, frame=frame)
    assert (list(way.values), way.grid) == ([2.5, 7.0, 8], "the 4 values seen")
    many = pd.DataFrame({"x": [k / 7 for k in range(1_000)]})
    way = path(10.0, direction=1, lower=0, upper=100, frame=many)
    assert way.grid == "256 quantiles of the values seen"
    assert set(way.values[:-1]) <= set(many["x"])
    assert path(0, direction=1, lower=0, upper=50).grid == "100 parts of its range"


def test_a_million_points_are_not_made() -> None:
    way = path(0, kind="integer", direction=1, lower=0, upper=10**12)
    assert (way.values[10**9], way.values[-1], way.values[:2]) == (10**9 + 1, 10**12, [1, 2])
    with pytest.raises(IndexError):
        way.values[10**13]


def test_the_share_of_the_population_passed_over() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 2.0, 3.0, 5.0, 5.0, 8.0, 9.0, 9.5, 10.0]})
    reference = Space.from_frame(frame).reference
    rising = path(2.0, direction=1, lower=0, upper=10, frame=frame)
    along = share_passed(rising, reference)
    assert [along(j) for j in range(3)] == [Fraction(1, 10), Fraction(3, 10), Fraction(4, 10)]  # 3, 5, 8
    falling = path(5.0, direction=-1, lower=0, upper=10, frame=frame)
    along = share_passed(falling, reference)
    assert [along(j) for j in range(3)] == [Fraction(1, 10), Fraction(3, 10), Fraction(4, 10)]  # 3, 2, 1
    from_nothing = path(None, direction=1, lower=0, upper=10, frame=frame)
    assert share_passed(from_nothing, reference)(1) == Fraction(1, 10)


def test_the_share_of_the_range() -> None:
    way = path(2, kind="integer", direction=1, lower=0, upper=10)
    assert [range_share(way, None)(j) for j in (0, 7)] == [Fraction(1, 10), Fraction(8, 10)]
    levels = path("a", kind="ordinal", direction=1, options=("a", "b", "c"))
    assert range_share(levels, None)(0) == Fraction(1, 2)


def test_own_costs_may_not_fall_or_be_nonsense() -> None:
    way = path(0, kind="integer", direction=1, lower=0, upper=10)
    along = own_cost(lambda before, after: 10 - after, way)
    along(2)
    with pytest.raises(InputError, match="feature 'x': its cost falls from 3 to 6"):
        along(5)
    with pytest.raises(InputError, match="its cost from 0 to 1 is nan"):
        own_cost(lambda before, after: float("nan"), way)(0)
