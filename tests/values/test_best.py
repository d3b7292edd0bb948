"""The cheapest point found so far is one that was asked itself, and its bound only rises."""

from flipset.values.best import Best
from flipset.values.grid import Grid


def test_a_point_that_follows_from_a_lower_one_counts_as_that_one() -> None:
    grid, best = Grid((9, 9), [range(10), range(10)], ones=[(2, 3)]), Best()
    best.offer(grid, (5, 5))
    assert (best.point, best.price) == ((2, 3), 5)
    best.offer(grid, (1, 6))
    assert best.point == (2, 3)
    best.offer(grid, (1, 3))
    assert best.point == (1, 3)


def test_the_bound_never_falls_and_never_passes_the_best_cost() -> None:
    best = Best(7, lower=2)
    best.raise_to(1)
    assert best.lower == 2
    best.raise_to(4)
    assert best.lower == 4
    best.raise_to(9)
    assert best.lower == 7
    assert best.point == ()
    assert best.grid is None
