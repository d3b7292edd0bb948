"""The search by corners: against all points, and how few queries it takes where a small proof exists."""

from collections.abc import Callable, Sequence
from itertools import product
from random import Random

import pytest

from flipset import run
from flipset.values import corners
from flipset.values.best import Best
from flipset.values.corners import affordable, search_corners
from flipset.values.grid import Grid, Point


def draw(seed: int) -> tuple[Grid, Point, Callable[[Sequence[Point]], list[float]], list[Point]]:
    """Draw a grid with costs that never fall and a monotone function with some minimal points."""
    rng = Random(seed)
    n = rng.randint(2, 4)
    lengths = tuple(rng.randint(1, [0, 0, 15, 7, 4][n]) for _ in range(n))
    costs = []
    for length in lengths:
        steps = [rng.choice([0, 1, 1, 3]) for _ in range(length)]
        costs.append([sum(steps[:j]) for j in range(length + 1)])
    bottom = tuple(rng.choice([0, 1]) for _ in lengths)
    minimal = [tuple(rng.randint(low, high) for low, high in zip(bottom, lengths, strict=True)) for _ in range(4)]
    asked: list[Point] = []

    def g(point: Point) -> bool:
        return any(all(a >= b for a, b in zip(point, one, strict=True)) for one in (*minimal, lengths))

    def oracle(points: Sequence[Point]) -> list[float]:
        asked.extend(points)
        return [rng.choice([0.01, 1.0, 9.0]) * (1 if g(point) else -1) for point in points]

    return Grid(lengths, costs, rng.choice([1, 8]), ones=[lengths]), bottom, oracle, asked


@pytest.mark.parametrize("most", [0, 1, 2, 1_000])
def test_it_proves_the_cheapest_or_says_below_which_point_nothing_is_cheaper(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corners, "GROWN", most)
    handed_over = 0
    for seed in range(600):
        grid, bottom, oracle, asked = draw(seed)
        best = Best()
        best.offer(grid, grid.lengths)
        left = run(search_corners(grid, bottom, best), oracle)
        points = list(product(*(range(low, high + 1) for low, high in zip(bottom, grid.lengths, strict=True))))
        _, _, again, _ = draw(seed)
        flipping = [point for point, margin in zip(points, again(points), strict=True) if margin >= 0]
        truth = min(map(grid.cost, flipping))
        assert len(asked) == len(set(asked))
        assert best.lower <= truth
        if left is None:
            assert best.cost == truth
        else:
            handed_over += 1
            cheaper = [point for point in flipping if grid.cost(point) < best.price]
            assert all(a >= b for point in cheaper for a, b in zip(point, left, strict=True))
    assert (handed_over > 20) == (most == 0)


@pytest.mark.parametrize("n", range(2, 9))
def test_where_each_path_is_needed_up_to_a_position_the_proof_is_one_zero_for_each(n: int) -> None:
    rng = Random(n)
    wanted = tuple(rng.randint(2, 199) for _ in range(n))
    asked: list[Point] = []

    def oracle(points: Sequence[Point]) -> list[float]:
        asked.extend(points)
        return [1.0 if all(a >= b for a, b in zip(point, wanted, strict=True)) else -1.0 for point in points]

    grid, best = Grid((200,) * n, [range(201)] * n, batch=8), Best()
    grid.ones.append(grid.lengths)
    best.offer(grid, grid.lengths)
    assert run(search_corners(grid, (1,) * n, best), oracle) is None
    assert best.point == wanted
    assert len(grid.zeros) == n
    assert len(asked) <= 8 * n + 1  # halving 200 positions takes up to 8


def test_how_far_each_path_gets() -> None:
    grid = Grid((4, 4), [[0, 1, 1, 5, 6], [0, 2, 4, 6, 8]])
    assert affordable(grid, (0, 0), (0, 0), 5) == (2, 2)
    assert affordable(grid, (1, 1), (1, 1), 5) == (2, 1)
    assert affordable(grid, (0, 0), (3, 1), 5) == (3, 2)


def test_a_limit_that_nothing_keeps_takes_one_query() -> None:
    asked: list[Point] = []

    def oracle(points: Sequence[Point]) -> list[float]:
        asked.extend(points)
        return [sum(point) - 150.5 for point in points]

    grid, best = Grid((100, 100), [range(101), range(101)]), Best(60)
    assert run(search_corners(grid, (1, 1), best), oracle) is None
    assert (best.cost, best.grid) == (60, None)
    assert asked == [(58, 58)]
