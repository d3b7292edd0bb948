"""The cheapest point of a grid that flips.

The grid is a product of paths; position 0 of each is "stay". Whether a point flips is monotone: further along any path
never flips back. The cost is a sum along the paths and never falls either. So a point that does not flip settles all
points below it, and no point that costs as much as the best one known needs to be looked at.

Boxes over all paths but the longest are settled one by one. What the best cost leaves for the longest path, given the
cheapest corner of a box, is one point beyond all that matter there: if it does not flip, the box is done with one
question. If it does, the box is halved; a box of one column is searched along the longest path. With one path that is
binary search. With two, asked one by one, a walk along the staircase takes the place of boxes: as a rule it asks more
than they do, but never more than the two lengths together.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from flipset.protocol import Steps, ask, checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from flipset.protocol import Flow

Point: TypeAlias = tuple[int, ...]
"""A position on each path; 0 is "stay"."""

Cost: TypeAlias = Fraction | int
"""An exact amount; whole numbers where costs share a unit, for they are much faster."""

Box: TypeAlias = tuple[Point, Point]


BOX = 10
"""Elementary steps that it takes to tighten a box."""


class Contradiction(Exception):
    """The point `lower` flips and `upper`, which is further along, does not."""

    def __init__(self, lower: Point, upper: Point) -> None:
        super().__init__(lower, upper)
        self.lower = lower
        self.upper = upper


@dataclass(slots=True)
class Grid:
    """Paths of given lengths, what each position on them costs (0 is "stay"), and what is known about its points."""

    lengths: Point
    costs: Sequence[Sequence[Cost]]
    batch: int = 1
    base: Cost = 0  # what is paid at every point
    zeros: list[Point] = field(default_factory=list)
    ones: list[Point] = field(default_factory=list)

    def cost(self, point: Point) -> Cost:
        """Return the cost of a point."""
        total = self.base
        for costs, j in zip(self.costs, point, strict=True):
            total += costs[j]
        return total

    def settle(self, point: Point) -> bool | None:
        """Say whether a point flips, if that follows from what was asked."""
        if len(point) == 2:  # the common case, spelled out
            i, j = point
            for a, b in self.zeros:
                if i <= a and j <= b:
                    return False
            for a, b in self.ones:
                if a <= i and b <= j:
                    return True
            return None
        for zero in self.zeros:
            if _is_below(point, zero):
                return False
        for one in self.ones:
            if _is_below(one, point):
                return True
        return None

    def looks(self) -> int:
        """Return how many points have to be looked at to settle one."""
        return 1 + len(self.zeros) + len(self.ones)

    def flips(self, points: Sequence[Point]) -> Flow[Point, list[bool]]:
        """Say which points flip, asking together what does not follow."""
        told = {point: self.settle(point) for point in points}
        unknown = [point for point, flips in told.items() if flips is None]
        if unknown:
            for point, margin in zip(unknown, (yield from ask(unknown)), strict=True):
                told[point] = margin >= 0
                self._learn(point, margin >= 0)
        return [told[point] is True for point in points]

    def _learn(self, point: Point, flips: bool) -> None:
        """Take note of an answer; one that goes against another of the same round shows that the model does."""
        if self.settle(point) is (not flips):
            for other in self.zeros if flips else self.ones:
                lower, upper = (point, other) if flips else (other, point)
                if _is_below(lower, upper):
                    raise Contradiction(lower, upper)
        # Only the highest zeros and the lowest ones say anything.
        if flips:
            self.ones = [one for one in self.ones if not _is_below(point, one)]
            self.ones.append(point)
        else:
            self.zeros = [zero for zero in self.zeros if not _is_below(zero, point)]
            self.zeros.append(point)

    def first_flipping(self, at: Callable[[int], Point], low: int, high: int) -> Flow[Point, int]:
        """Return the least t from `low` to `high` with `at(t)` flipping, where `at(high)` is known to."""
        while low < high:
            probes = between(low, high, self.batch)
            for t, flips in zip(probes, (yield from self.flips([at(t) for t in probes])), strict=True):
                if flips:
                    high = min(high, t)
                else:
                    low = max(low, t + 1)
        return low

    def least_along(self, axis: int, point: Point, low: int, high: int) -> Flow[Point, int]:
        """Return the least position on one path from `low` to `high` that flips, the others as in `point`.

        At `high` it is known to flip.
        """
        before, after = point[:axis], point[axis + 1 :]
        for zero in self.zeros:
            if zero[axis] >= low and _is_below(before, zero[:axis]) and _is_below(after, zero[axis + 1 :]):
                low = zero[axis] + 1
        for one in self.ones:
            if one[axis] < high and _is_below(one[:axis], before) and _is_below(one[axis + 1 :], after):
                high = one[axis]
        while low < high:
            probes = between(low, high, self.batch)
            signs = yield from ask([(*before, j, *after) for j in probes])
            for j, sign in zip(probes, signs, strict=True):
                self._learn((*before, j, *after), sign >= 0)
                if sign >= 0:
                    high = min(high, j)
                else:
                    low = j + 1
        return low


def between(low: int, high: int, most: int) -> list[int]:
    """Return up to `most` points that cut the way from `low` to `high` evenly; `high` is not among them."""
    width = high - low
    parts = min(most, width)
    if parts == 1:
        return [low + width // 2]
    return sorted({low + width * k // (parts + 1) for k in range(1, parts + 1)})


def _is_below(lower: Point, upper: Point) -> bool:
    """Say whether no position of `lower` is beyond that of `upper`."""
    if len(lower) == 1:  # the common case, spelled out
        return lower[0] <= upper[0]
    for a, b in zip(lower, upper, strict=True):  # noqa: SIM110 - half the time of all(...)
        if a > b:
            return False
    return True


@dataclass(slots=True)
class Best:
    """The cheapest point known to flip, and a bound below which none is; shared by several grids."""

    cost: Cost | None = None
    point: Point = ()
    grid: Grid | None = None
    lower: Cost = 0

    def offer(self, grid: Grid, point: Point) -> None:
        """Take a point that flips, if it is cheaper; where that only follows, the point it follows from is as cheap."""
        point = next((one for one in grid.ones if _is_below(one, point)), point)
        cost = grid.cost(point)
        if self.cost is None or cost < self.cost:
            self.cost, self.point, self.grid = cost, point, grid


def find_cheapest(grid: Grid, bottom: Point, best: Best) -> Flow[Point, None]:
    """Put the cheapest flipping point from `bottom` on into `best`, if it beats what is there.

    The point at the ends of all paths is known to flip. All the time `best` holds the best point so far and a bound.
    """
    top = grid.lengths
    base = grid.cost(bottom)
    best.lower = base if best.cost is None else min(base, best.cost)
    if best.cost is not None and base >= best.cost:
        return
    grid.ones.append(top)
    best.offer(grid, top)
    if not top:
        best.lower = base
        return
    if len(top) == 1:  # the least point on a path is the cheapest
        least = yield from _step_back(grid, bottom, top)
        best.offer(grid, least)
        if best.grid is grid:
            best.point = least  # steps back that cost nothing included
        best.lower = _cost(best)
        return
    best.offer(grid, (yield from _down_the_diagonal(grid, bottom, top)))
    if len(top) == 2 and grid.batch == 1:
        yield from _walk(grid, bottom, best)
    else:
        best.offer(grid, (yield from _step_back(grid, bottom, best.point if best.grid is grid else top)))
        *across, longest = sorted(range(len(top)), key=lambda i: (top[i], i))
        yield from _settle(grid, across, longest, bottom, best)
    if best.grid is grid:
        best.point = yield from _step_back(grid, bottom, best.point)
        best.cost = grid.cost(best.point)
    best.lower = best.cost if best.cost is not None else base


def _down_the_diagonal(grid: Grid, bottom: Point, top: Point) -> Flow[Point, Point]:
    """Go down from the top along all paths at once, as far as it still flips: a first bound."""
    span = max(a - b for a, b in zip(top, bottom, strict=True))
    if not span:
        return top

    def diagonal(t: int) -> Point:
        return tuple(b + (a - b) * t // span for a, b in zip(top, bottom, strict=True))

    return diagonal((yield from grid.first_flipping(diagonal, 0, span)))


def _walk(grid: Grid, bottom: Point, best: Best) -> Flow[Point, None]:
    """Settle a grid of two paths, of lengths m and n, one question at a time: at most m + n - 1 of them.

    Walk along the staircase: where a point flips, less of the second path may do; where it does not, more of the first
    is needed. What costs as much as the best point is passed over.
    """
    i, j = bottom[0], grid.lengths[1]
    steps = Steps()
    while i <= grid.lengths[0] and j >= bottom[1]:
        best.lower = min(_cost(best), grid.cost((i, bottom[1])))
        spare = _cost(best) - grid.base - grid.costs[0][i]
        if best.grid is grid and best.point[0] == i and grid.costs[1][j] == spare:
            pass  # below the best point a step that costs nothing is still one that need not be taken
        elif grid.costs[1][bottom[1]] >= spare:
            return
        else:
            j = _affordable(grid, 1, bottom[1], j, spare - grid.costs[1][bottom[1]])
        if steps.due(grid.looks()):
            yield from checkpoint()
        (flips,) = yield from grid.flips([(i, j)])
        if flips:
            best.offer(grid, (i, j))
            j -= 1
        else:
            i += 1


def _step_back(grid: Grid, bottom: Point, point: Point) -> Flow[Point, Point]:
    """Take every change back as far as it still flips, the most expensive first: no single step back is left."""
    for i in sorted(range(len(point)), key=lambda i: (-grid.costs[i][point[i]], i)):
        least = yield from grid.least_along(i, point, bottom[i], point[i])
        point = (*point[:i], least, *point[i + 1 :])
    return point


def _settle(grid: Grid, across: Sequence[int], longest: int, bottom: Point, best: Best) -> Flow[Point, None]:
    """Show that nothing is cheaper than the best point, or find what is."""
    boxes = _Boxes(grid)
    boxes += [(bottom, tuple(bottom[i] if i == longest else n for i, n in enumerate(grid.lengths)))]
    steps = Steps()
    while boxes:
        best.lower = min(_cost(best), boxes.least_cost())
        taken = boxes.take(grid.batch)
        if steps.due(len(taken) * (BOX + grid.looks())):
            yield from checkpoint()
        tests: list[tuple[Box, Point]] = []
        for low, high in taken:
            tight = _tighten(grid, low, high, across, _cost(best))
            if tight is None:
                continue
            columns = 1
            for i in across:
                columns *= tight[i] - low[i] + 1
            if columns == 2:  # a question about both would seldom spare one
                boxes += _halves(low, tight, across)
            else:
                tests.append(((low, tight), _reach(grid, low, tight, longest, _cost(best))))
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
    """A stack of boxes that are open, and what the cheapest point of any costs."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self._boxes: list[Box] = []
        self._least: list[Cost] = []  # beside each box: of it and of all below it

    def __bool__(self) -> bool:
        return bool(self._boxes)

    def __iadd__(self, boxes: Sequence[Box]) -> Self:
        for box in boxes:
            cost = self.grid.cost(box[0])
            self._boxes.append(box)
            self._least.append(min(cost, self._least[-1]) if self._least else cost)
        return self

    def least_cost(self) -> Cost:
        """Return what the cheapest point of the open boxes costs."""
        return self._least[-1]

    def take(self, most: int) -> list[Box]:
        """Take boxes from the top of the stack."""
        taken = self._boxes[-most:]
        del self._boxes[-most:], self._least[-most:]
        return taken


def _tighten(grid: Grid, low: Point, high: Point, across: Sequence[int], cost: Cost) -> Point | None:
    """Return the box's end without what costs too much from its low corner on; None if all of it does."""
    spare = cost - grid.cost(low)
    if spare <= 0:
        return None
    tight = list(high)
    for i in across:
        tight[i] = _affordable(grid, i, low[i], high[i], spare)
    return tuple(tight)


def _reach(grid: Grid, low: Point, high: Point, longest: int, cost: Cost) -> Point:
    """Return the point of the box beyond all points of it that are cheaper than `cost`."""
    spare = cost - grid.cost(low)
    j = _affordable(grid, longest, low[longest], grid.lengths[longest], spare)
    return (*high[:longest], j, *high[longest + 1 :])


def _affordable(grid: Grid, i: int, low: int, high: int, spare: Cost) -> int:
    """Return the last position on path i whose cost exceeds that of `low` by less than `spare`."""
    costs = grid.costs[i]
    return bisect_left(costs, costs[low] + spare, low + 1, high + 1) - 1


def _halves(low: Point, high: Point, across: Sequence[int]) -> list[Box]:
    """Cut a box in two where it is widest; the half to look at first comes last."""
    i = max(across, key=lambda i: high[i] - low[i])
    middle = (low[i] + high[i]) // 2
    return [((*low[:i], middle + 1, *low[i + 1 :]), high), (low, (*high[:i], middle, *high[i + 1 :]))]


def _cost(best: Best) -> Cost:
    assert best.cost is not None, "a point that flips was offered before"
    return best.cost


def staircase(grid: Grid, bottom: Point) -> Flow[Point, list[Point]]:
    """Return all minimal points of a grid of two paths that flip, where its last point does.

    For each position on the first path the least one on the second that flips, which never rises: the middle one is
    sought first, and bounds those on either side.
    """
    m, n = grid.lengths
    grid.ones.append((m, n))
    found: dict[int, int] = {}
    steps = Steps()
    spans = [(bottom[0], m, bottom[1], n + 1)]  # positions on the first path, and what bounds those on the second
    while spans:
        first, last, low, high = spans.pop()
        if first > last or low > n:
            continue
        if steps.due(grid.looks()):
            yield from checkpoint()
        i = first if low == high else (first + last) // 2
        j = yield from grid.least_along(1, (i, 0), low, high)
        found[i] = j
        if low < high:
            spans += [(first, i - 1, j, high), (i + 1, last, low, j)]
    corners: list[Point] = []
    for i in sorted(found):
        if found[i] <= n and (not corners or found[i] < corners[-1][1]):
            corners.append((i, found[i]))
    return corners
