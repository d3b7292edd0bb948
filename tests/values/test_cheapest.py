"""The cheapest point of a grid, against all points of it, and how many questions it takes."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from flipset import run
from flipset.errors import BudgetExhausted
from flipset.values.best import Best
from flipset.values.cheapest import find_cheapest, staircase
from flipset.values.grid import Grid, Point


def draw_grid(seed: int) -> tuple[Grid, Point, Callable[[Point], bool]]:
    """Draw a grid with costs that rise in steps, also by nothing, and a monotone function on it."""
    rng = Random(seed)
    n = rng.choice([1, 2, 2, 3, 4])
    lengths = tuple(rng.randint(1, [30, 12, 6, 4][n - 1]) for _ in range(n))
    along = []
    for length in lengths:
        steps = [Fraction(rng.choice([0, 1, 1, 2, 5])) for _ in range(length)]
        along.append([sum(steps[:j], Fraction(0)) for j in range(length + 1)])
    bottom = tuple(rng.choice([0, 1]) for _ in lengths)
    corners = [tuple(rng.randint(low, high) for low, high in zip(bottom, lengths, strict=True)) for _ in range(3)]

    def g(point: Point) -> bool:
        return any(all(a >= b for a, b in zip(point, corner, strict=True)) for corner in (*corners, lengths))

    return Grid(lengths, along, batch=rng.choice([1, 1, 4, 16])), bottom, g


def counting(
    g: Callable[[Point], bool], most: int | None = None
) -> tuple[Callable[[Sequence[Point]], list[bool]], list[Point]]:
    asked: list[Point] = []

    def oracle(points: Sequence[Point]) -> list[bool]:
        if most is not None and len(asked) + len(points) > most:
            raise BudgetExhausted("enough")
        asked.extend(points)
        return [g(point) for point in points]

    return oracle, asked


def points(grid: Grid, bottom: Point) -> list[Point]:
    return list(product(*(range(low, high + 1) for low, high in zip(bottom, grid.lengths, strict=True))))


@pytest.mark.parametrize("chunk", range(4))
def test_cheapest_and_nothing_to_take_back(chunk: int) -> None:
    for seed in range(chunk, 2_000, 4):
        grid, bottom, g = draw_grid(seed)
        oracle, asked = counting(g)
        best = Best()
        run(find_cheapest(grid, bottom, best), oracle)
        assert best.cost == best.lower == min(grid.cost(p) for p in points(grid, bottom) if g(p)), seed
        assert g(best.point)
        assert len(asked) == len(set(asked))
        for i, j in enumerate(best.point):
            if j > bottom[i]:
                assert not g((*best.point[:i], j - 1, *best.point[i + 1 :])), seed


def test_stopped_at_any_moment_the_bounds_hold() -> None:
    for seed in range(300):
        grid, bottom, g = draw_grid(seed)
        truth = min(grid.cost(p) for p in points(grid, bottom) if g(p))
        for most in range(0, 40, 3):
            fresh = Grid(grid.lengths, grid.costs, grid.batch)
            best = Best()
            oracle, asked = counting(g, most)
            try:
                run(find_cheapest(fresh, bottom, best), oracle)
            except BudgetExhausted:
                assert best.cost is not None
                assert best.lower <= truth <= best.cost
                assert best.point in (*asked, fresh.lengths)  # a result is always a point that was asked itself
            else:
                assert best.cost == best.lower == truth


def test_a_bound_from_elsewhere_is_beaten_or_kept() -> None:
    for seed in range(300):
        grid, bottom, g = draw_grid(seed)
        truth = min(grid.cost(p) for p in points(grid, bottom) if g(p))
        for bound in (truth, truth + 1):
            fresh = Grid(grid.lengths, grid.costs, grid.batch)
            best = Best(bound)
            run(find_cheapest(fresh, bottom, best), counting(g)[0])
            assert best.cost == truth
            assert (best.grid is fresh) == (bound > truth)


def test_the_staircase_has_every_corner() -> None:
    for seed in range(600):
        grid, _, g = draw_grid(seed)
        if len(grid.lengths) != 2:
            continue
        least = seed % 2
        flipping = {p for p in points(grid, (least, least)) if g(p)}
        corners = [p for p in sorted(flipping) if not {(p[0] - 1, p[1]), (p[0], p[1] - 1)} & flipping]
        assert run(staircase(grid, (least, least)), counting(g)[0]) == corners


def test_two_paths_asked_one_by_one_take_no_more_than_their_lengths_and_some_logarithms() -> None:
    for seed in range(150):
        rng = Random(seed)
        m, n = rng.randint(1, 60), rng.randint(1, 60)
        prices = [[0, 0, 0, 5], [1], [1, 2, 9]]
        along = []
        for length in (m, n):
            steps = [Fraction(rng.choice(rng.choice(prices))) for _ in range(length)]
            along.append([sum(steps[:j], Fraction(0)) for j in range(length + 1)])
        least = sorted((rng.randint(1, n + 1) for _ in range(m)), reverse=True)

        def g(point: Point, least: list[int] = least, end: Point = (m, n)) -> bool:
            return point[1] >= least[point[0] - 1] or point == end

        grid = Grid((m, n), along)
        oracle, asked = counting(g)
        best = Best()
        run(find_cheapest(grid, (1, 1), best), oracle)
        assert best.cost == min(grid.cost(p) for p in points(grid, (1, 1)) if g(p)), seed
        assert len(asked) <= m + n - 1 + 3 * max(m, n).bit_length(), seed


@pytest.mark.parametrize("threshold", [1, 2, 333_333, 777_777, 999_999, 1_000_000])
def test_one_threshold_among_a_million_takes_twenty_questions(threshold: int) -> None:
    oracle, asked = counting(lambda p: p[0] >= threshold)
    best = Best()
    run(find_cheapest(Grid((1_000_000,), [range(1_000_001)]), (1,), best), oracle)
    assert best.point == (threshold,)
    assert len(asked) <= 21


def staircases() -> list[tuple[str, Callable[[Point], bool]]]:
    made: list[tuple[str, Callable[[Point], bool]]] = [
        ("along the cost", lambda p: p[0] + p[1] >= 256),
        ("hyperbola", lambda p: p[0] * p[1] >= 4_000),
        ("corner", lambda p: p == (256, 256)),
        ("late", lambda p: p[0] + p[1] >= 500),
        ("concave", lambda p: p[1] >= 256 - p[0] ** 2 // 256),
        ("steep", lambda p: p[0] >= 200 or p[1] >= 250),
    ]
    for seed in range(8):
        rng = Random(seed)
        wild = sorted((rng.randint(1, 256) for _ in range(256)), reverse=True)
        hugging = [max(1, 257 - i + rng.randint(-3, 3)) for i in range(256)]
        for i in range(1, 256):
            hugging[i] = min(hugging[i], hugging[i - 1])
        made.append((f"wild {seed}", lambda p, h=wild: p[1] >= h[p[0] - 1] or p == (256, 256)))  # type: ignore[misc]
        made.append((f"hugging {seed}", lambda p, h=hugging: p[1] >= h[p[0] - 1] or p == (256, 256)))  # type: ignore[misc]
    return made


@pytest.mark.parametrize(("name", "g"), staircases(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_staircase_of_256_by_256_takes_at_most_520_questions(name: str, g: Callable[[Point], bool]) -> None:
    oracle, asked = counting(g)
    best = Best()
    grid = Grid((256, 256), [range(257), range(257)])
    run(find_cheapest(grid, (1, 1), best), oracle)
    assert best.cost == min(grid.cost(p) for p in points(grid, (1, 1)) if g(p))
    assert len(asked) <= 520


@pytest.mark.parametrize("length", range(1, 6))
def test_what_follows_is_the_same_for_every_length(length: int) -> None:
    seen = set()
    for seed in range(100):
        rng = Random(seed)
        zeros, ones, points = (
            [tuple(rng.randint(0, 4) for _ in range(length)) for _ in range(n)] for n in (rng.randint(0, 3), 2, 20)
        )
        grid = Grid((4,) * length, [range(5)] * length, zeros=zeros, ones=ones)
        for point in points:
            below = any(all(i <= a for i, a in zip(point, zero, strict=True)) for zero in zeros)
            above = any(all(a <= i for i, a in zip(point, one, strict=True)) for one in ones)
            assert grid.settle(point) is (False if below else True if above else None)
            seen.add((below, above))
    assert len(seen) == 4
