"""What follows on a grid from earlier answers is not asked again, and what contradicts them is an error.

`tests/values/test_cheapest.py` compares `settle` with all points.
"""

from collections.abc import Sequence

import pytest

from flipset import run
from flipset.values.grid import Contradiction, Grid, Point


def test_only_maximal_zeros_and_minimal_ones_are_kept() -> None:
    grid = Grid((9, 9), [range(10), range(10)])
    asked: list[Point] = []

    def oracle(points: Sequence[Point]) -> list[float]:
        asked.extend(points)
        return [sum(point) - 7.5 for point in points]

    for points in [[(1, 2), (9, 9)], [(3, 3), (5, 5)], [(2, 2), (6, 7), (4, 3)]]:
        assert run(grid.flips(points), oracle) == [sum(point) >= 8 for point in points]
    assert asked == [(1, 2), (9, 9), (3, 3), (5, 5), (4, 3)]
    assert (grid.zeros, grid.ones) == ([(4, 3)], [(5, 5)])


def test_the_least_position_is_bracketed_by_what_is_known() -> None:
    grid = Grid((100, 9), [range(101), range(10)], zeros=[(40, 9)], ones=[(44, 2)])
    asked: list[Point] = []

    def oracle(points: Sequence[Point]) -> list[float]:
        asked.extend(points)
        return [point[0] - 42.5 for point in points]

    assert run(grid.least_along(0, (0, 5), 1, 100), oracle) == 43
    assert all(40 < i < 44 for i, _ in asked)
    assert len(asked) == 2
    assert run(grid.least_along(0, (0, 5), 60, 100), oracle) == 60  # one before `low` is known to flip


def test_answers_of_one_call_that_contradict_each_other_are_told() -> None:
    grid = Grid((9, 9), [range(10), range(10)])
    with pytest.raises(Contradiction) as caught:
        run(grid.flips([(1, 1), (3, 2)]), lambda points: [1.0, -1.0])
    assert (caught.value.lower, caught.value.upper) == ((1, 1), (3, 2))
