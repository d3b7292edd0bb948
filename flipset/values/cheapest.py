"""The cheapest point of a grid that flips.

A point that does not flip settles all points below it, and a point that costs as much as the best known one need not
be looked at. On one path the first point that flips is the cheapest. On several, `search_corners` finds the cheapest
one with few queries where a small proof exists. Where it does not, that search hands over what it knows:

- With two paths and one query at a time, a walk along the staircase goes on. It never takes more queries than the two
  lengths together.
- Otherwise the rest is settled in boxes over all paths except the longest. For a box, take its cheapest corner and see
  how far along the longest path one gets for less than the best cost. The point at that reach, with all other paths at
  the far end of the box, is at least as far as every point of the box that is cheaper than the best. If it does not
  flip, one query has settled the box. If it flips, the box is halved, and a box of a single column is searched along
  the longest path.

Invariant: `Best.point` is the cheapest point known to flip, and no point that costs less than `Best.lower` flips.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, TypeAlias

from flipset.protocol import Steps, checkpoint
from flipset.values.bracket import FILLED
from flipset.values.corners import search_corners

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from flipset.protocol import Flow
    from flipset.values.best import Best
    from flipset.values.grid import Cost, Grid, Point

Box: TypeAlias = "tuple[Point, Point]"
"""The lowest and the highest point of a box."""

FEW_PATHS = 4
"""Up to so many paths, few boxes are left open."""

BOX_STEPS = 10
"""Elementary steps that it takes to tighten a box."""


def find_cheapest(grid: Grid, bottom: Point, best: Best) -> Flow[Point, None]:
    """Put the cheapest point at or above `bottom` that flips into `best`, if it is cheaper than the one there.

    The last point of all paths is known to flip. If the flow is stopped, `best` holds the best point so far, and a
    lower bound for this grid.
    """
    top = grid.lengths
    base = grid.cost(bottom)
    best.lower = base if best.cost is None else min(base, best.cost)
    if best.cost is not None and base >= best.cost:
        return
    grid.ones.append(top)
    best.offer(grid, top)
    if not top:  # a grid without paths has one point
        best.lower = base
        return
    if len(top) == 1:  # the least point on a path is the cheapest
        least = yield from grid.least_along(0, top, bottom[0], top[0], (None, grid.top_margin))
        best.offer(grid, (least,))
        if best.grid is grid:
            best.point = (least,)  # it may cost the same as the point offered before, and still be a smaller change
        best.lower = best.price
        return
    # Corners are looked at one after the other. Where a search has calls to itself, boxes fill them.
    fills_calls = grid.batch >= FILLED and len(top) <= FEW_PATHS
    left = bottom if fills_calls else (yield from search_corners(grid, bottom, best))
    if left is not None and len(top) == 2 and grid.batch == 1:
        yield from _walk_staircase(grid, left, best)
    elif left is not None:
        if best.grid is grid:  # a good point makes the bound tight, and the boxes few
            best.offer(grid, (yield from _step_back(grid, left, best.point)))
        *across, longest = sorted(range(len(top)), key=lambda i: (top[i], i))
        yield from _settle_boxes(grid, across, longest, left, best)
    if best.grid is grid:
        # Changes that cost nothing are taken back as well.
        best.point = yield from _step_back(grid, bottom, best.point)
        best.cost = grid.cost(best.point)
    best.lower = best.price


def _walk_staircase(grid: Grid, bottom: Point, best: Best) -> Flow[Point, None]:
    """Settle a grid of two paths, of lengths m and n, with at most m + n - 1 queries, one at a time.

    Walk along the staircase. Where a point flips, less of the second path may be enough. Where it does not, more of the
    first path is needed. Points that cost as much as the best one are skipped.
    """
    # Invariant: a point that flips for less than the best cost has at least i of the first path and at most j of the
    # second.
    i, j = bottom[0], grid.lengths[1]
    steps = Steps()
    while i <= grid.lengths[0] and j >= bottom[1]:
        best.raise_to(grid.cost((i, bottom[1])))
        spare = best.price - grid.base - grid.costs[0][i]
        if best.grid is grid and best.point[0] == i and grid.costs[1][j] == spare:
            pass  # this step down from the best point saves nothing, but makes the change smaller
        elif grid.costs[1][bottom[1]] >= spare:
            return
        else:
            j = _affordable(grid, 1, bottom[1], j, spare - grid.costs[1][bottom[1]])
        if steps.due(grid.steps_to_settle()):
            yield from checkpoint()
        (flips,) = yield from grid.flips([(i, j)])
        if flips:
            best.offer(grid, (i, j))
            j -= 1
        else:
            i += 1


def _step_back(grid: Grid, bottom: Point, point: Point) -> Flow[Point, Point]:
    """Undo each change as far as the point still flips, the most expensive one first.

    In the result no single path can be a step shorter.
    """
    for i in sorted(range(len(point)), key=lambda i: (-grid.costs[i][point[i]], i)):
        least = yield from grid.least_along(i, point, bottom[i], point[i])
        point = (*point[:i], least, *point[i + 1 :])
    return point


def _settle_boxes(grid: Grid, across: Sequence[int], longest: int, bottom: Point, best: Best) -> Flow[Point, None]:
    """Prove that no point is cheaper than the best one, or find the cheapest that is."""
    # Invariant: every point that flips for less than the best cost lies above some open box, along the longest path.
    # A box is flat: its points have the same position on the longest path.
    boxes = _Boxes(grid)
    boxes += [(bottom, tuple(bottom[i] if i == longest else n for i, n in enumerate(grid.lengths)))]
    steps = Steps()
    while boxes:
        best.raise_to(boxes.least_cost())
        taken = boxes.take(grid.batch)
        if steps.due(len(taken) * (BOX_STEPS + grid.steps_to_settle())):
            yield from checkpoint()
        tests: list[tuple[Box, Point]] = []
        for low, high in taken:
            tight = _tighten(grid, low, high, across, best.price)
            if tight is None:
                continue
            columns = 1
            for i in across:
                columns *= tight[i] - low[i] + 1
            if columns == 2:  # one query about both columns would seldom save a query
                boxes += _halves(low, tight, across)
            else:
                tests.append(((low, tight), _reach(grid, low, tight, longest, best.price)))
        answers = yield from grid.flips([point for _, point in tests])
        for ((low, high), point), flips in zip(tests, answers, strict=True):
            if not flips:
                continue
            best.offer(grid, point)
            if all(low[i] == high[i] for i in across):
                j = yield from grid.least_along(longest, low, low[longest], point[longest])
                best.offer(grid, (*low[:longest], j, *low[longest + 1 :]))
            else:
                boxes += _halves(low, high, across)


class _Boxes:
    """A stack of open boxes, with the cost of the cheapest point in any of them."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self._boxes: list[Box] = []
        self._least: list[Cost] = []  # for each box, the least cost in it and in the boxes below it on the stack

    def __bool__(self) -> bool:
        return bool(self._boxes)

    def __iadd__(self, boxes: Sequence[Box]) -> Self:
        for box in boxes:
            cost = self.grid.cost(box[0])
            self._boxes.append(box)
            self._least.append(min(cost, self._least[-1]) if self._least else cost)
        return self

    def least_cost(self) -> Cost:
        """Return the cost of the cheapest point of all open boxes."""
        return self._least[-1]

    def take(self, most: int) -> list[Box]:
        """Remove and return up to `most` boxes from the top of the stack."""
        taken = self._boxes[-most:]
        del self._boxes[-most:], self._least[-most:]
        return taken


def _tighten(grid: Grid, low: Point, high: Point, across: Sequence[int], cost: Cost) -> Point | None:
    """Return the highest point of the box that leaves out what costs too much; None if all of it does."""
    # A point that goes as far as position j on path i costs at least the low corner plus the way from there to j.
    spare = cost - grid.cost(low)
    if spare <= 0:
        return None
    tight = list(high)
    for i in across:
        tight[i] = _affordable(grid, i, low[i], high[i], spare)
    return tuple(tight)


def _reach(grid: Grid, low: Point, high: Point, longest: int, cost: Cost) -> Point:
    """Return a point that is at least as far as every point above the box that costs less than `cost`."""
    spare = cost - grid.cost(low)
    j = _affordable(grid, longest, low[longest], grid.lengths[longest], spare)
    return (*high[:longest], j, *high[longest + 1 :])


def _affordable(grid: Grid, i: int, low: int, high: int, spare: Cost) -> int:
    """Return the last position on path i whose cost exceeds that of `low` by less than `spare`."""
    costs = grid.costs[i]
    return bisect_left(costs, costs[low] + spare, low + 1, high + 1) - 1


def _halves(low: Point, high: Point, across: Sequence[int]) -> list[Box]:
    """Cut a box in two where it is widest. The lower half comes last, so that it is looked at first."""
    i = max(across, key=lambda i: high[i] - low[i])
    middle = (low[i] + high[i]) // 2
    return [((*low[:i], middle + 1, *low[i + 1 :]), high), (low, (*high[:i], middle, *high[i + 1 :]))]


def staircase(grid: Grid, bottom: Point) -> Flow[Point, list[Point]]:
    """Return all minimal points that flip in a grid of two paths, whose last point is known to flip.

    For each position on the first path, find the least position on the second that flips. It never rises along the
    first path, so the middle position is searched first, and its result bounds those on either side.
    """
    m, n = grid.lengths
    grid.ones.append((m, n))
    least: dict[int, int] = {}  # the least position on the second path, by position on the first; n + 1 for none
    steps = Steps()
    # A span is a range of positions on the first path, and the bounds of their least positions on the second.
    spans = [(bottom[0], m, bottom[1], n + 1)]
    while spans:
        first, last, low, high = spans.pop()
        if first > last or low > n:
            continue
        if steps.due(grid.steps_to_settle()):
            yield from checkpoint()
        # Where the bounds agree, all positions of the span have the same result, and the first is the minimal one.
        i = first if low == high else (first + last) // 2
        j = yield from grid.least_along(1, (i, 0), low, high)
        least[i] = j
        if low < high:
            spans += [(first, i - 1, j, high), (i + 1, last, low, j)]
    corners: list[Point] = []
    for i in sorted(least):
        if least[i] <= n and (not corners or least[i] < corners[-1][1]):
            corners.append((i, least[i]))
    return corners
