"""The cheapest values of many flip sets at once, in arrays.

A flip set whose columns move along paths spans a grid of positions, 1 to the length of each path. This module finds the
cheapest position of each grid that flips, for all flip sets side by side: each step asks one call for all of them.

- One column: the least position that flips is the cheapest, whatever the cost. It is bracketed, and guessed from the
  margins at both ends of the bracket.
- Several columns: a good point first, on the diagonal, with every change taken back as far as it still flips. Then
  boxes: positions l to h on all paths but the longest, and on the longest all that costs no more than the best point so
  far. If the far corner of a box does not flip, one query has settled it; if it does, the box is halved, and a box of
  one position is searched along the longest path. The far corners that do not flip are the proof.

Invariants:

- No two points of a grid have the same rank: cheaper comes first, then less far along the first column in which they
  differ. It is the order of `flipset.values.ties`, so the result does not depend on which queries were made.
- Everything is decided by the signs of margins; their sizes only choose the next position to ask.
- The result is a point that was asked itself and flips, and no point of lower rank flips.
- A grid that takes more queries than are allowed is given up, and nothing is said about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from flipset.protocol import ask

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from flipset.protocol import Flow

    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]

TOGETHER = 200
"""The most points that are asked together where a call counts more than the queries in it, or somewhat more."""

FEW_CALLS = 3
"""In how many such calls a path of any length is settled, if there is room for the queries."""


@dataclass(frozen=True, slots=True, eq=False)
class PointQueries:
    """Queries about points: the number of a flip set, and a position on the path of each of its columns."""

    items: Ints
    points: Ints

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Flip sets whose columns move along paths; all arrays but the last two have a column for each path, at least two.

    Attributes
    ----------
    lengths
        The last position on each path; 0 where a flip set has fewer columns.
    costs
        The costs of all paths, one after the other, as whole numbers that add up within a flip set.
    start
        Where the costs of each path begin, so that position p costs `costs[start + p] * scale - origin`, at least 0.
    sign, scale, origin
        See `start`; the sign is -1 where the numbers fall along the path.
    base
        The margin of the row as it is: position 0 on all paths.
    best
        The margin at the last positions, which flips.
    """

    lengths: Ints
    costs: Ints
    start: Ints
    sign: Ints
    scale: Ints
    origin: Ints
    base: Floats
    best: Floats

    def __len__(self) -> int:
        return len(self.base)

    def cost(self, items: Ints, axis: Ints | int, position: Ints) -> Ints:
        """Return the cost of positions, each on one path of a flip set."""
        passed = self.costs[self.start[items, axis] + position] * self.sign[items, axis] - self.origin[items, axis]
        cost: Ints = np.where(self.lengths[items, axis] > 0, np.maximum(passed, 0) * self.scale[items, axis], 0)
        return cost

    def cost_of(self, items: Ints, points: Ints) -> Ints:
        """Return the cost of points."""
        total = np.zeros(len(items), dtype=np.int64)
        for axis in range(points.shape[1]):
            total += self.cost(items, axis, points[:, axis])
        return total


@dataclass(frozen=True, slots=True, eq=False)
class CheapestPoints:
    """The cheapest point of each flip set that flips, and where none is told.

    Attributes
    ----------
    points
        The points; they mean nothing where a flip set is `given_up` or `contradicted`.
    given_up
        The flip sets that would have taken more queries than were allowed.
    contradicted
        The flip sets with a point that flips at or below one that does not.
    """

    points: Ints
    given_up: Bools
    contradicted: Bools


def cheapest_points(items: Items, most: int | None, *, thorough: bool) -> Flow[PointQueries, CheapestPoints]:
    """Return the cheapest point of each flip set, with at most `most` queries for each.

    With `thorough`, more positions are asked in a call, to need fewer calls.
    """
    search = _Search(items, most, thorough)
    if thorough:
        yield from search.settle_in_few_calls()
    else:
        several = np.count_nonzero(items.lengths, axis=1) > 1
        yield from search.begin(np.flatnonzero(~several), np.flatnonzero(several))
        yield from search.settle(np.flatnonzero(several))
    return CheapestPoints(search.best, search.given_up(), search.contradicted())


class _Search:
    """The state of the search about some flip sets: the best point of each, and the points that were asked."""

    def __init__(self, items: Items, most: int | None, thorough: bool) -> None:
        self.items, self.most, self.thorough = items, most, thorough
        self.best = items.lengths.copy()
        self._count = np.zeros(len(items), dtype=np.int64)
        self._asked: list[tuple[Ints, Ints, Bools]] = []
        self._zeros = _Zeros(items.lengths.shape[1])  # those among them that do not flip, of grids of several paths

    def _ask(self, items: Ints, points: Ints) -> Flow[PointQueries, Floats]:
        queries: Any = PointQueries(items, points)
        margins: Floats = np.asarray((yield from ask(queries)))
        self._asked.append((items, points, margins >= 0))
        zeros = (margins < 0) & (points[:, 1:] > 0).any(axis=1)
        self._zeros.add(items[zeros], points[zeros])
        self._count += np.bincount(items, minlength=len(self._count))
        return margins

    def given_up(self) -> Bools:
        """Say which flip sets took more queries than are allowed."""
        return np.zeros(len(self.items), dtype=bool) if self.most is None else self._count > self.most

    # --- the first point that flips on a line ---------------------------------------------------------------------

    def _first(
        self,
        items: Ints,
        low: Ints,
        high: Ints,
        low_margin: Floats,
        high_margin: Floats,
        at: Callable[[Ints, Ints], Ints],
    ) -> Flow[PointQueries, Ints]:
        """Return the least t for which the point `at(which, t)` flips.

        `which` are places in `items`. The point at `high` flips, and the one at `low` does not, nor any before it.
        """
        low, high = low.copy(), high.copy()
        low_margin, high_margin = low_margin.copy(), high_margin.copy()
        halve = np.zeros(len(items), dtype=bool)  # whether the last guess left more than half of the range
        while (open_ := np.flatnonzero(high - low > 1)).size:
            width = high[open_] - low[open_]
            share = _share_below(low_margin[open_], high_margin[open_])
            share[halve[open_]] = 0.5
            t = low[open_] + np.clip(np.rint(width * share).astype(np.int64), 1, width - 1)
            margins = yield from self._ask(items[open_], at(open_, t))
            up, down = open_[margins < 0], open_[margins >= 0]
            low[up], low_margin[up] = t[margins < 0], margins[margins < 0]
            high[down], high_margin[down] = t[margins >= 0], margins[margins >= 0]
            halve[open_] = 2 * (high[open_] - low[open_]) > width
        return high

    # --- one path, and a good first point of several --------------------------------------------------------------

    def begin(self, single: Ints, several: Ints) -> Flow[PointQueries, None]:
        """Find the first point that flips on each single path, and on the diagonal of each grid; then step back."""
        items = np.concatenate([single, several])
        lengths = self.items.lengths
        # The diagonal begins at position 1 of all paths. It is numbered from 0, so that number -1 is the row as it is.
        on_diagonal = np.arange(len(items)) >= len(single)
        span = np.where(on_diagonal, lengths[items].max(axis=1, initial=0) - 1, lengths[items, 0])

        def at(which: Ints, t: Ints) -> Ints:
            last = lengths[items[which]]
            diagonal = 1 + (last - 1) * t[:, None] // np.maximum(span[which], 1)[:, None]
            along = np.zeros_like(last)
            along[:, 0] = t
            return np.where(on_diagonal[which, None], np.where(last > 0, diagonal, 0), along)

        row = np.where(on_diagonal, -1, 0)
        first = yield from self._first(items, row, span, self.items.base[items], self.items.best[items], at)
        self.best[items] = at(np.arange(len(items)), first)
        # The most expensive change is taken back first.
        width = lengths.shape[1]
        costs = np.stack([self.items.cost(several, axis, self.best[several, axis]) for axis in range(width)], axis=1)
        for axis in np.argsort(-costs, axis=1, kind="stable").T:
            yield from self._step_back(several, axis)

    def _step_back(self, items: Ints, axis: Ints) -> Flow[PointQueries, None]:
        """Take one change of each best point back as far as it still flips."""
        moved = self.items.lengths[items, axis] > 0
        items, axis = items[moved], axis[moved]
        if not items.size:
            return
        point = self.best[items]
        each = np.arange(len(items))

        def at(which: Ints, t: Ints) -> Ints:
            some = point[which].copy()
            some[np.arange(len(which)), axis[which]] = t
            return some

        # Answers that contradict each other must not leave an empty range; they are noticed at the end.
        low = np.minimum(self._zeros.reach(items, axis, point), point[each, axis] - 1)
        base, best = self.items.base[items], self.items.best[items]
        point[each, axis] = yield from self._first(items, low, point[each, axis], base, best, at)
        self.best[items] = point

    # --- several paths: nothing is cheaper ------------------------------------------------------------------------

    def settle(self, items: Ints) -> Flow[PointQueries, None]:
        """Prove that no point has a lower rank than the best one of each grid, or find the one that has."""
        boxes = _Boxes.whole(self.items, items)
        while len(boxes):
            self._zeros.keep(boxes.items)
            boxes = self._tightened(boxes)
            if self.most is not None:
                boxes = boxes.take(np.flatnonzero(self._count[boxes.items] <= self.most))
            corner = self._corners(boxes)
            each = np.arange(len(boxes))
            open_ = corner[each, boxes.along] >= 1
            # A corner at or above a point that flips, flips; one at or below a point that does not, does not.
            flips = (corner >= self.best[boxes.items]).all(axis=1) | (corner == boxes.above).all(axis=1)
            unknown = np.flatnonzero(open_ & ~flips)
            unknown = unknown[~self._zeros.hold(boxes.items[unknown], corner[unknown])]
            open_ &= flips
            if unknown.size:
                answers = (yield from self._ask(boxes.items[unknown], corner[unknown])) >= 0
                open_[unknown] = flips[unknown] = answers
            boxes, corner = boxes.take(np.flatnonzero(open_)), corner[open_]
            # A corner that flips in a box of one position has a lower rank than the best point.
            single = boxes.is_single()
            if single.any():
                found = np.flatnonzero(single)
                found = found[self._least(boxes.items[found], corner[found])]
                self.best[boxes.items[found]] = corner[found]
                yield from self._step_back(boxes.items[found], boxes.along[found])
            boxes = boxes.divided(corner, single)

    def settle_in_few_calls(self) -> Flow[PointQueries, None]:
        """Find the cheapest point of each grid: in each call, cells of positions are cut into many along all paths.

        A cell is open while its last point flips, and its first one has a lower rank than the best point so far. No
        point of any other cell has.
        """
        items = np.arange(len(self.items))
        low, high = np.minimum(self.items.lengths, 1), self.items.lengths
        # With so many parts, a path is settled after a few calls. More would save no call, and take many queries.
        parts = np.ceil(high.max(axis=1) ** (1 / FEW_CALLS)).astype(np.int64)
        while True:
            open_ = (low < high).any(axis=1) & self._has_lower_rank(items, low)
            if self.most is not None:
                open_ &= self._count[items] <= self.most
            if not open_.any():
                return
            items, low, high = _cut(items[open_], low[open_], high[open_], parts[items[open_]])
            flips: Bools = np.logical_and.reduce(high >= self.best[items], axis=1)
            unknown = np.flatnonzero(~flips)
            if unknown.size:
                flips[unknown] = (yield from self._ask(items[unknown], high[unknown])) >= 0
            items, low, high = items[flips], low[flips], high[flips]
            least = self._least(items, high)
            least = least[self._has_lower_rank(items[least], high[least])]
            self.best[items[least]] = high[least]

    def _has_lower_rank(self, items: Ints, points: Ints) -> Bools:
        """Say which points have a lower rank than the best ones."""
        best = self.best[items]
        cost, least = self.items.cost_of(items, points), self.items.cost_of(items, best)
        differs = points != best
        first = np.arange(len(items)), differs.argmax(axis=1)
        is_lower: Bools = (cost < least) | ((cost == least) & (points[first] < best[first]))
        return is_lower

    def _least(self, items: Ints, points: Ints) -> Ints:
        """Return the place of the point of lowest rank for each flip set."""
        keys = [points[:, axis] for axis in reversed(range(points.shape[1]))]
        order = np.lexsort((*keys, self.items.cost_of(items, points), items))
        return order[np.diff(items[order], prepend=-1) > 0]

    def _tightened(self, boxes: _Boxes) -> _Boxes:
        """Leave out the ends of boxes that cost more than the best point, and boxes of which nothing is left."""
        spare = self._spare(boxes)
        boxes, spare = boxes.take(np.flatnonzero(spare >= 0)), spare[spare >= 0]
        high = boxes.high.copy()
        for axis in range(high.shape[1]):
            own = self.items.cost(boxes.items, axis, boxes.low[:, axis])
            high[:, axis] = self._affordable(boxes.items, axis, boxes.low[:, axis], high[:, axis], spare + own)
        return _Boxes(boxes.items, boxes.along, boxes.low, high, boxes.above)

    def _spare(self, boxes: _Boxes) -> Ints:
        """Return by how much the lowest point of each box is cheaper than the best point."""
        return self.items.cost_of(boxes.items, self.best[boxes.items]) - self.items.cost_of(boxes.items, boxes.low)

    def _corners(self, boxes: _Boxes) -> Ints:
        """Return a point at or above all points of lower rank than the best one, along the longest path of each box.

        It is at position 0 of that path where there are no such points.
        """
        items, along = boxes.items, boxes.along
        each = np.arange(len(items))
        corner = boxes.high.copy()
        lowest = boxes.low[each, along]
        spare = self._spare(boxes) + self.items.cost(items, along, lowest)
        before, longest = lowest - 1, self.items.lengths[items, along]
        as_cheap = self._affordable(items, along, before, longest, spare)
        cheaper = self._affordable(items, along, before, longest, spare - 1)
        # At the same cost, the point that is less far along the first path in which they differ wins. In a box of
        # several positions, a few points too many do no harm.
        best = self.best[items]
        differs = (boxes.low != best) & (np.arange(best.shape[1]) != along[:, None])
        at = differs.argmax(axis=1)
        first = np.where(differs.any(axis=1), at, best.shape[1])
        is_less = differs.any(axis=1) & (boxes.low[each, at] < best[each, at])
        # Before the longest path decides: less or not. After it: only at the same position along the longest path.
        tied = np.where(
            first < along, np.where(is_less, as_cheap, 0), np.minimum(as_cheap, best[each, along] - ~is_less)
        )
        exact = np.maximum(cheaper, tied)
        exact[exact < lowest] = 0
        corner[each, along] = np.where(boxes.is_single(), exact, as_cheap)
        return corner

    def _affordable(self, items: Ints, axis: Ints | int, low: Ints, high: Ints, most: Ints) -> Ints:
        """Return the last position from `low` to `high` that costs no more than `most`; `low` if none does."""
        low, beyond = low.copy(), high + 1
        axis = np.broadcast_to(np.asarray(axis), low.shape)
        # Invariant: position `low` is the first or costs no more, and `beyond` is too far or costs more.
        while (open_ := np.flatnonzero(beyond - low > 1)).size:
            middle = (low[open_] + beyond[open_]) // 2
            fits = self.items.cost(items[open_], axis[open_], middle) <= most[open_]
            low[open_[fits]] = middle[fits]
            beyond[open_[~fits]] = middle[~fits]
        return low

    def contradicted(self) -> Bools:
        """Say for which flip sets a point that flips lies at or below one that does not."""
        bad = np.zeros(len(self.items), dtype=bool)
        if not self._asked:
            return bad
        items, points, flips = (np.concatenate(column) for column in zip(*self._asked, strict=True))
        zeros = _Zeros(points.shape[1])
        zeros.add(items[~flips], points[~flips])
        ones = np.flatnonzero(flips)
        bad[items[ones[zeros.hold(items[ones], points[ones])]]] = True
        return bad


def _share_below(low_margin: Floats, high_margin: Floats) -> Floats:
    """Return where between two margins the threshold lies, as a share; one half where they do not say."""
    # Margins beyond all limits say nothing about where in the range the sign changes.
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        share = low_margin / (low_margin - high_margin)
    return np.where(np.isfinite(share), share, 0.5)


def _cut(items: Ints, low: Ints, high: Ints, most: Ints) -> tuple[Ints, Ints, Ints]:
    """Cut cells into parts along all paths, as many as fill a call, and at most so many along each path."""
    width = high - low + 1
    axes = np.count_nonzero(width > 1, axis=1)
    each = max(2, TOGETHER // len(items))
    parts = np.minimum(np.clip((each ** (1 / axes)).astype(np.int64), 2, np.maximum(most, 2))[:, None], width)
    count = parts.prod(axis=1)
    which = np.repeat(np.arange(len(items)), count)
    number = _number_within(count)
    first, last = low[which], high[which]
    for axis in range(low.shape[1]):
        share = parts[which, axis]
        part = number % share
        number //= share
        first[:, axis] = low[which, axis] + width[which, axis] * part // share
        last[:, axis] = low[which, axis] + width[which, axis] * (part + 1) // share - 1
    return items[which], first, last


@dataclass(frozen=True, slots=True, eq=False)
class _Boxes:
    """Boxes of positions, each in the grid of a flip set. They have one position, the lowest, on the longest path.

    `along` is the longest path, and `above` a point above the box that was asked and flips, or the end of all paths.
    """

    items: Ints
    along: Ints
    low: Ints
    high: Ints
    above: Ints

    def __len__(self) -> int:
        return len(self.items)

    @classmethod
    def whole(cls, items: Items, some: Ints) -> _Boxes:
        """Return one box for each flip set, which has all of its positions."""
        lengths = items.lengths[some]
        along = lengths.argmax(axis=1)
        low = np.minimum(lengths, 1)
        high = lengths.copy()
        high[np.arange(len(some)), along] = 1
        return cls(some, along, low, high, lengths)

    def take(self, some: Ints) -> _Boxes:
        return _Boxes(self.items[some], self.along[some], self.low[some], self.high[some], self.above[some])

    def is_single(self) -> Bools:
        """Say which boxes have a single position."""
        single: Bools = np.all(self.low == self.high, axis=1)
        return single

    def divided(self, corner: Ints, single: Bools) -> _Boxes:
        """Return these boxes, those of several positions halved where they are widest; their corners flip."""
        whole = self.take(np.flatnonzero(single))
        wide = self.take(np.flatnonzero(~single))
        each = np.arange(len(wide))
        axis = (wide.high - wide.low).argmax(axis=1)
        middle = (wide.low[each, axis] + wide.high[each, axis]) // 2
        low, high = wide.low.copy(), wide.high.copy()
        high[each, axis], low[each, axis] = middle, middle + 1
        items, along = (np.concatenate([a, b, b]) for a, b in ((whole.items, wide.items), (whole.along, wide.along)))
        lowest = np.concatenate([whole.low, wide.low, low])
        highest = np.concatenate([whole.high, high, wide.high])
        above = np.concatenate([whole.above, corner[~single], corner[~single]])
        return _Boxes(items, along, lowest, highest, above)


class _Zeros:
    """Points that do not flip, by flip set."""

    def __init__(self, axes: int) -> None:
        self._items = np.zeros(0, dtype=np.int64)
        self._points = np.zeros((0, axes), dtype=np.int64)

    def add(self, items: Ints, points: Ints) -> None:
        """Add points."""
        items, points = np.concatenate([self._items, items]), np.concatenate([self._points, points])
        order = np.argsort(items, kind="stable")
        self._items, self._points = items[order], points[order]

    def keep(self, items: Ints) -> None:
        """Forget the points of all other flip sets."""
        kept = np.isin(self._items, items)
        self._items, self._points = self._items[kept], self._points[kept]

    def hold(self, items: Ints, points: Ints) -> Bools:
        """Say which points lie at or below a point that does not flip."""
        held = np.zeros(len(items), dtype=bool)
        if not len(self._items) or not len(items):
            return held
        likely = np.flatnonzero(self._hold_first_two(items, points))
        if points.shape[1] == 2:
            held[likely] = True
            return held
        which, at = self._pairs(items[likely])
        for axis in range(points.shape[1]):  # one at a time, because few pairs are left after the first
            above = self._points[at, axis] >= points[likely[which], axis]
            which, at = which[above], at[above]
        held[likely[which]] = True
        return held

    def _hold_first_two(self, items: Ints, points: Ints) -> Bools:
        """Say the same, by the first two positions alone: comparing all pairs of points takes much longer."""
        width = 1 + max(int(self._points[:, :2].max()), int(points[:, :2].max()))
        # For each flip set, the points from the furthest along the first path on, and how far those up to each are
        # along the second path.
        key = self._items * width + (width - 1 - self._points[:, 0])
        order = np.argsort(key)
        own = self._items[order]
        furthest = np.maximum.accumulate(own * width + self._points[order, 1]) - own * width
        last = np.searchsorted(key[order], items * width + (width - 1 - points[:, 0]), "right") - 1
        found: Bools = (last >= 0) & (own[last] == items) & (furthest[last] >= points[:, 1])
        return found

    def reach(self, items: Ints, axes: Ints, points: Ints) -> Ints:
        """Return up to which position on a path no point flips, the other positions as given; 0 if none is known."""
        which, at = self._pairs(items)
        for axis in range(points.shape[1]):
            above = (axes[which] == axis) | (self._points[at, axis] >= points[which, axis])
            which, at = which[above], at[above]
        low = np.zeros(len(items), dtype=np.int64)
        np.maximum.at(low, which, self._points[at, axes[which]])
        return low

    def _pairs(self, items: Ints) -> tuple[Ints, Ints]:
        """Return the places of flip sets, each with the places of all points kept of it."""
        left, right = np.searchsorted(self._items, items), np.searchsorted(self._items, items, "right")
        count = right - left
        which = np.repeat(np.arange(len(items)), count)
        return which, _number_within(count) + left[which]


def _number_within(count: Ints) -> Ints:
    """Number the members of groups of these sizes, one group after the other, each from 0."""
    return np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
