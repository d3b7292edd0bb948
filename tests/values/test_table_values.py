"""The cheapest values of one and two columns in arrays, against going through all points of each grid."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from flipset.models.scores import HUGE, TINY
from flipset.protocol import Done, advance
from flipset.values.table_values import Items, PointQueries, cheapest_points

Point = tuple[int, ...]


@dataclass(frozen=True)
class Grid:
    """The points of one flip set: the costs along each path from position 1 on, and the margin of each point.

    There are at least two paths; the last ones may have no length.
    """

    costs: tuple[tuple[int, ...], ...]
    margin: Callable[[Point], float]

    @property
    def lengths(self) -> Point:
        return tuple(map(len, self.costs))

    def points(self) -> list[Point]:
        return list(product(*(range(1, length + 1) if length else (0,) for length in self.lengths)))

    def cost(self, point: Point) -> int:
        return sum(costs[p - 1] for costs, p in zip(self.costs, point, strict=True) if p)

    def cheapest(self) -> Point:
        return min((p for p in self.points() if self.margin(p) >= 0), key=lambda p: (self.cost(p), p))


def draw_costs(rng: Random, length: int) -> tuple[int, ...]:
    """Draw costs that do not fall; many are equal."""
    steps = rng.choice(((0, 1), (1,), (0, 0, 3), (1, 2, 9)))
    cost, found = rng.choice((0, 0, 1, 5)), []
    for _ in range(length):
        found.append(cost)
        cost += rng.choice(steps)
    return tuple(found)


def draw_grid(rng: Random) -> Grid:
    axes = rng.choice((1, 2, 2, 2, 3, 4))
    longest = {1: 12, 2: 12, 3: 6, 4: 4}[axes]
    lengths = [rng.randint(1, longest) for _ in range(axes)]
    least = [[rng.randint(1, length) for length in lengths] for _ in range(rng.randint(1, 4))]
    kind = rng.randrange(4)
    weights = [rng.random() + 0.01 for _ in lengths]
    enough = rng.random() * sum(weight * length for weight, length in zip(weights, lengths, strict=True))

    def total(point: Point) -> float:
        return sum(weight * p for weight, p in zip(weights, point, strict=False)) - enough

    def flips(point: Point) -> bool:
        return any(all(p >= q for p, q in zip(point, one, strict=False)) for one in least)

    def margin(point: Point) -> float:
        if 0 in point[:axes]:
            return -1.0  # a part of a smallest flip set never flips
        if kind == 0:
            return total(point)
        size = (1.0, 1.0, (TINY, HUGE, 3.0)[hash(point) % 3])[kind - 1]
        return size if flips(point) else -size

    costs = [draw_costs(rng, length) for length in lengths]
    return Grid((*costs, *[()] * (2 - axes)), margin)


def items_of(grids: Sequence[Grid], rng: Random) -> Items:
    """Lay the costs of grids one after the other, some falling, some counted from elsewhere, some in other units."""
    costs: list[int] = [0]
    shape = len(grids), max((len(grid.costs) for grid in grids), default=2)
    lengths = np.zeros(shape, dtype=np.int64)
    start, sign, scale, origin = (np.zeros(shape, dtype=np.int64) for _ in range(4))
    for k, grid in enumerate(grids):
        for axis, own in enumerate(grid.costs):
            lengths[k, axis] = len(own)
            sign[k, axis], scale[k, axis] = rng.choice((1, -1)), rng.choice((1, 3))
            origin[k, axis] = rng.randint(-50, 50)
            scale[k, axis] = 1 if any(cost % 3 for cost in own) else scale[k, axis]
            start[k, axis] = len(costs)
            costs.append(0)  # position 0, the row as it is: never looked at
            costs += [int(sign[k, axis] * (cost // scale[k, axis] + origin[k, axis])) for cost in own]
    base = np.array([grid.margin((0,) * len(grid.costs)) for grid in grids])
    best = np.array([grid.margin(grid.lengths) for grid in grids])
    return Items(lengths, np.array(costs, dtype=np.int64), start, sign, scale, origin, base, best)


@dataclass
class Outcome:
    points: list[Point]
    contradicted: list[bool]
    given_up: list[bool]
    asked: list[list[Point]]
    calls: int


def cheapest(grids: Sequence[Grid], *, thorough: bool, seed: int = 0, most: int | None = None) -> Outcome:
    asked: list[list[Point]] = [[] for _ in grids]
    calls = 0

    def own(k: int, point: list[int]) -> Point:
        axes = len(grids[k].costs)
        assert not any(point[axes:])
        return tuple(point[:axes])

    flow = cheapest_points(items_of(grids, Random(seed)), most, thorough=thorough)
    step: Any = advance(flow)
    while not isinstance(step, Done):
        assert isinstance(step, PointQueries)
        points = [(k, own(k, point)) for k, point in zip(step.items.tolist(), step.points.tolist(), strict=True)]
        assert len(points) == len(step) > 0
        for k, point in points:
            asked[k].append(point)
        calls += 1
        step = advance(flow, [grids[k].margin(point) for k, point in points])
    found = step.result
    told = [own(k, point) for k, point in enumerate(found.points.tolist())]
    return Outcome(told, found.contradicted.tolist(), found.given_up.tolist(), asked, calls)


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize(
    "seeds",
    [range(150), *(pytest.param(range(k, k + 2_000), marks=pytest.mark.campaign) for k in range(150, 10_150, 2_000))],
    ids=lambda seeds: f"{seeds.start}-{seeds.stop}",
)
def test_every_point_is_the_cheapest_by_the_rule(seeds: range, thorough: bool) -> None:
    kinds = Counter[str]()
    for seed in seeds:
        rng = Random(seed)
        grids = [draw_grid(rng) for _ in range(rng.randint(1, 8))]
        found = cheapest(grids, thorough=thorough, seed=seed)
        for grid, point, asked in zip(grids, found.points, found.asked, strict=True):
            assert grid.margin(point) >= 0
            assert point == grid.cheapest(), (seed, grid.costs)
            assert set(asked) <= set(grid.points()) - {grid.lengths}, seed  # that the best values flip is known
            assert thorough or len(grid.costs) > 2 or len(set(asked)) == len(asked), seed
            assert point == grid.lengths or point in asked, "the score of what is reported is known"
            flipping = [p for p in grid.points() if grid.margin(p) >= 0]
            tied = [grid.cost(p) for p in flipping].count(grid.cost(point)) > 1
            kinds["one" if not grid.lengths[1] else "tied" if tied else str(len(grid.lengths))] += 1
        assert not any(found.contradicted), seed
        assert not any(found.given_up), seed
    assert len(kinds) == 5
    assert min(kinds.values()) > 20, kinds


def test_company_changes_nothing() -> None:
    for seed in range(60):
        rng = Random(seed)
        grids = [draw_grid(rng) for _ in range(6)]
        together = cheapest(grids, thorough=False)
        for k, grid in enumerate(grids):
            assert cheapest([grid], thorough=False).asked[0] == together.asked[k], seed


def test_few_queries_are_made() -> None:
    """One column is bracketed, and of two columns only a small part of the points is asked."""
    long = tuple(range(1, 1_001))
    one = Grid((long, ()), lambda p: p[0] - 637.5)
    two = Grid((long, long), lambda p: p[0] + p[1] - 800.5 if 0 not in p else -800.5)
    steps = Grid((long, long), lambda p: 1.0 if p[0] >= 400 and p[1] >= 300 else -1.0)
    found = cheapest([one, two, steps], thorough=False)
    assert found.points == [(638, 0), (1, 800), (400, 300)]  # of 800 points as cheap as (1, 800), the rule takes this
    assert found.points == [grid.cheapest() for grid in (one, two, steps)]
    counts = list(map(len, found.asked))
    assert counts[0] <= 3
    assert counts[1] <= 2_000  # of a million; nearly every one of 800 positions needs a point to show that it is dearer
    assert counts[2] <= 60


def test_with_thorough_fewer_calls_are_made() -> None:
    long = tuple(range(1, 30_001))
    grid = Grid((long, ()), lambda p: 1.0 if p[0] >= 12_345 else -1.0)
    frugal, thorough = (cheapest([grid], thorough=one) for one in (False, True))
    assert frugal.points == thorough.points == [(12_345, 0)]
    assert thorough.calls <= 4 < frugal.calls
    assert max(Counter(thorough.asked[0]).values()) == 1


def test_answers_that_contradict_each_other_are_noticed_and_end() -> None:
    noticed = 0
    for seed in range(300):
        rng = Random(seed)
        lengths = rng.randint(1, 9), rng.choice((0, rng.randint(1, 9)))
        answers: dict[Point, float] = {lengths: 1.0, (0, 0): -1.0}
        margin: Any = lambda point, a=answers, r=rng: a.setdefault(point, r.choice((-1.0, 1.0)))  # noqa: E731
        grid = Grid((draw_costs(rng, lengths[0]), draw_costs(rng, lengths[1])), margin)
        found = cheapest([grid], thorough=rng.random() < 0.5)
        asked = set(found.asked[0])
        ones, zeros = ([p for p in asked if (answers[p] >= 0) == flips] for flips in (True, False))
        expected = any(one[0] <= zero[0] and one[1] <= zero[1] for one in ones for zero in zeros)
        assert found.contradicted == [expected], seed
        noticed += expected
    assert noticed > 30


def test_with_a_limit_grids_are_given_up_and_the_others_are_not() -> None:
    given_up = Counter[bool]()
    for seed in range(60):
        rng = Random(seed)
        grids = [draw_grid(rng) for _ in range(6)]
        most = rng.randint(0, 12)
        whole, found = cheapest(grids, thorough=False), cheapest(grids, thorough=False, most=most)
        for k, asked in enumerate(whole.asked):
            assert found.given_up[k] == (len(asked) > most), seed
            given_up[found.given_up[k]] += 1
            if not found.given_up[k]:
                assert found.points[k] == whole.points[k]
                assert found.asked[k] == asked
    assert min(given_up.values()) > 50


def test_no_flip_set_asks_nothing() -> None:
    found = cheapest([], thorough=False)
    assert (found.points, found.contradicted, found.calls) == ([], [], 0)
    # A path of one position leaves nothing to choose.
    found = cheapest(
        [Grid(((7,), ()), lambda p: p[0] - 0.5), Grid(((7,), (1,)), lambda p: sum(p) - 1.5)], thorough=True
    )
    assert (found.points, found.calls) == ([(1, 0), (1, 1)], 0)
