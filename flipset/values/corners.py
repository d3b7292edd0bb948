"""The cheapest point of a grid with a small proof: points that do not flip, each as far as it gets.

Inside a smallest flip set every path is needed, and mostly up to some position whatever the other paths do. So first
the *least position* of each path is found, with all other paths as far as they get: one point that does not flip then
settles every point with less of this path. Where the point of all least positions flips, it is the cheapest, and the
proof has one zero for each path and a one.

Otherwise open *corners* are looked at, the cheapest first. A corner that lies below a zero is replaced by the corners
just beyond this zero, one for each path. A corner that does not flip is grown, all paths together and then each by
itself, to a zero beyond which no path gets a step further for less than the best cost.

Invariant: every point that flips and costs less than the best one lies at or above an open corner. So a corner that
flips is the cheapest point of all if no other open corner costs less.
"""

from __future__ import annotations

from bisect import bisect_left
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from flipset.protocol import Steps, checkpoint
from flipset.values.bracket import Bracket
from flipset.values.grid import is_below

if TYPE_CHECKING:
    from flipset.protocol import Flow
    from flipset.values.best import Best
    from flipset.values.grid import Cost, Grid, Point

GROWN = 2
"""For each path of a grid, how many corners are grown before another search takes over. Scores of trees seldom need
more than one. Where the score and the costs rise nearly in proportion, as in sums, a small proof does not exist."""


def search_corners(grid: Grid, bottom: Point, best: Best) -> Flow[Point, Point | None]:
    """Improve `best` until it is proved to be the cheapest; return None then.

    Where that would take too many zeros, return a point instead: nothing that flips for less than the best cost lies
    below it on any path.
    """
    top = affordable(grid, bottom, bottom, best.price)
    flips = grid.settle(top)
    top_margin = grid.top_margin if top == grid.lengths else None
    if flips is None:
        (top_margin,) = yield from grid.ask([top])
        flips = top_margin >= 0
    if not flips:
        return None
    best.offer(grid, top)
    least = yield from _least_positions(grid, bottom, top, top_margin, best)
    search = _Corners(grid, least, best)
    grown = 0
    steps = Steps()
    while (corner := search.take()) is not None:
        if steps.due(grid.steps_to_settle() + len(search.open)):
            yield from checkpoint()
        zero = search.zero_above(corner)
        if zero is None:
            flips, margin = grid.settle(corner), None
            if flips is None:
                (margin,) = yield from grid.ask([corner])
                flips = margin >= 0
            if flips:
                best.offer(grid, corner)
                continue
            if grown == GROWN * len(corner):
                return least
            grown += 1
            zero = yield from _grow(grid, least, corner, margin, best)
        search.replace(corner, zero)
    return None


def affordable(grid: Grid, bottom: Point, point: Point, cost: Cost) -> Point:
    """Return how far each path gets from `bottom` for less than `cost`, the others staying there.

    No path gets less far than in `point`.
    """
    spare = cost - grid.cost(bottom)
    return tuple(
        [
            bisect_left(costs, costs[low] + spare, at + 1, length + 1) - 1
            for costs, low, at, length in zip(grid.costs, bottom, point, grid.lengths, strict=True)
        ]
    )


def _least_positions(grid: Grid, bottom: Point, top: Point, top_margin: float | None, best: Best) -> Flow[Point, Point]:
    """Return for each path the least position that flips with the others at `top`, which flips."""
    brackets = [Bracket(low - 1, high, None, top_margin) for low, high in zip(bottom, top, strict=True)]
    while open_ := [i for i, bracket in enumerate(brackets) if bracket.is_open]:
        # No path says anything about another here. So they share calls, if calls may have more than one query.
        asked = [(i, brackets[i].guess()) for i in (open_ if grid.batch > 1 else open_[:1])]
        points = [(*top[:i], j, *top[i + 1 :]) for i, j in asked]
        for (i, j), point, margin in zip(asked, points, (yield from grid.ask(points)), strict=True):
            brackets[i].learn(j, margin >= 0, margin)
            if margin >= 0:
                best.offer(grid, point)
        best.raise_to(grid.cost(tuple([bracket.low + 1 for bracket in brackets])))
    return tuple([bracket.high for bracket in brackets])


class _Corners:
    """The open corners of a search, by cost."""

    def __init__(self, grid: Grid, bottom: Point, best: Best) -> None:
        self.grid, self.best = grid, best
        self.open: list[tuple[Cost, Point]] = [(grid.cost(bottom), bottom)]
        self._seen = {bottom}

    def take(self) -> Point | None:
        """Remove and return the cheapest open corner, if it costs less than the best point."""
        self.best.raise_to(self.open[0][0] if self.open else self.best.price)
        if not self.open or self.open[0][0] >= self.best.price:
            return None
        return heappop(self.open)[1]

    def zero_above(self, corner: Point) -> Point | None:
        """Return the zero above a corner that goes furthest beyond it; None if there is none."""
        above = [zero for zero in self.grid.zeros if is_below(corner, zero)]
        return max(above, key=sum, default=None)

    def replace(self, corner: Point, zero: Point) -> None:
        """Open the corners just beyond a zero, one for each path."""
        cost = self.grid.cost(corner)
        for i, (costs, at, last) in enumerate(zip(self.grid.costs, zero, self.grid.lengths, strict=True)):
            if at < last:
                beyond = (*corner[:i], at + 1, *corner[i + 1 :])
                amount = cost - costs[corner[i]] + costs[at + 1]
                if amount < self.best.price and beyond not in self._seen:
                    self._seen.add(beyond)
                    heappush(self.open, (amount, beyond))


def _grow(grid: Grid, bottom: Point, corner: Point, margin: float | None, best: Best) -> Flow[Point, Point]:
    """Return a zero at or above a corner that does not flip, which cannot be grown further along any path.

    Points that cost at least the best cost with all other paths at the bottom are not needed.
    """
    end = affordable(grid, corner, corner, best.price)
    span = max(b - a for a, b in zip(corner, end, strict=True))

    def between(t: int) -> Point:
        return tuple([a + (b - a) * t // span for a, b in zip(corner, end, strict=True)])

    # Together first, so that no path uses up all that may change without a flip.
    zero = corner
    if span:
        bracket = Bracket(0, span + 1, margin)
        flips, end_margin = grid.settle(end), None
        if flips is None:
            (end_margin,) = yield from grid.ask([end])
            flips = end_margin >= 0
        if flips:
            bracket.high, bracket.high_margin = span, end_margin
            best_at = yield from grid.first_flipping(between, bracket)
            best.offer(grid, between(best_at))
            zero, margin = between(best_at - 1), bracket.low_margin
        else:
            zero, margin = end, end_margin
    far = affordable(grid, bottom, zero, best.price)
    for i in sorted(range(len(zero)), key=lambda i: (far[i] - zero[i], i)):
        if zero[i] == far[i]:
            continue
        last = (*zero[:i], far[i], *zero[i + 1 :])
        flips, last_margin = grid.settle(last), None
        if flips is None:
            (last_margin,) = yield from grid.ask([last])
            flips = last_margin >= 0
        if flips:
            ends = margin, last_margin
            j = (yield from grid.least_along(i, zero, zero[i] + 1, far[i], ends)) - 1
            zero = (*zero[:i], j, *zero[i + 1 :])
            margin = None if j < far[i] else margin
        else:
            zero, margin = last, last_margin
    return zero
