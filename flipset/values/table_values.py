"""The cheapest values of many flip sets of one or two columns at once, in arrays.

A flip set whose columns move along paths spans a grid of positions, 1 to the length of each path. This module finds the
cheapest position of each grid that flips, for all flip sets side by side: each step asks one call for all of them.

- One column: the least position that flips is the cheapest, whatever the cost. It is bracketed, and guessed from the
  margins at both ends of the bracket.
- Two columns: a good point first, on the diagonal, with both changes taken back as far as it still flips. Then boxes:
  positions l to h on the shorter path, and on the longer one all that costs less than the best point so far. If the far
  corner of a box does not flip, one query has settled it; if it does, the box is halved, and a box of one position is
  searched along the longer path. The far corners that do not flip are the proof.

Invariants:

- No two points of a grid have the same rank: cheaper comes first, then less far along the first column, then along the
  second. It is the order of `flipset.values.ties`, so the result does not depend on which queries were made.
- Everything is decided by the signs of margins; their sizes only choose the next position to ask.
- The result is a point that was asked itself and flips, and no point of lower rank flips.
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

PROBES = 32
"""The most positions of a path that are asked together where a call counts more than the queries in it."""


@dataclass(frozen=True, slots=True, eq=False)
class PointQueries:
    """Queries about points: the number of a flip set, and a position on the path of each of its columns."""

    items: Ints
    first: Ints
    second: Ints

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Flip sets of one or two columns.

    Attributes
    ----------
    lengths
        The last position on each path; 0 for a second path that there is not.
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

    lengths: Ints  # two for each flip set, as all of the following up to `origin`
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
        cost: Ints = np.maximum(passed, 0) * self.scale[items, axis]
        return cost


def cheapest_points(items: Items, *, thorough: bool) -> Flow[PointQueries, tuple[Ints, Bools]]:
    """Return the cheapest point of each flip set that flips, and for which of them the answers contradict each other.

    With `thorough`, more positions are asked in a call, to need fewer calls.
    """
    search = _Search(items, thorough)
    single = np.flatnonzero(items.lengths[:, 1] == 0)
    double = np.flatnonzero(items.lengths[:, 1] > 0)
    yield from search.begin(single, double)
    yield from search.settle(double)
    return search.best, search.contradicted()


class _Search:
    """The state of the search about some flip sets: the best point of each, and the points that were asked."""

    def __init__(self, items: Items, thorough: bool) -> None:
        self.items, self.thorough = items, thorough
        self.best = items.lengths.copy()
        # All points that were asked, with whether each flips.
        self._asked: list[tuple[Ints, Ints, Ints, Bools]] = []

    def _flips(self, items: Ints, points: Ints) -> Flow[PointQueries, Floats]:
        queries: Any = PointQueries(items, points[:, 0], points[:, 1])
        margins: Floats = np.asarray((yield from ask(queries)))
        self._asked.append((items, points[:, 0], points[:, 1], margins >= 0))
        return margins

    # --- the first point that flips on a line ---------------------------------------------------------------------

    def _first(
        self,
        items: Ints,
        low: Ints,
        high: Ints,
        low_margin: Floats,
        high_margin: Floats,
        at: Callable[[Ints, Ints], Ints],
    ) -> Flow[PointQueries, tuple[Ints, Floats]]:
        """Return the least t for which the point `at(which, t)` flips, and its margin.

        `which` are places in `items`. The point at `high` flips, and the one at `low` does not, nor any before it.
        """
        low, high = low.copy(), high.copy()
        low_margin, high_margin = low_margin.copy(), high_margin.copy()
        halve = np.zeros(len(items), dtype=bool)  # whether the last guess left more than half of the range
        while (open_ := np.flatnonzero(high - low > 1)).size:
            width = high[open_] - low[open_]
            which, t = self._probes(open_, low[open_], width, low_margin[open_], high_margin[open_], halve[open_])
            margins = yield from self._flips(items[which], at(which, t))
            flips = margins >= 0
            # Probes of the same range are ascending, and later ones of the same kind win or lose by these two rules.
            np.minimum.at(high, which[flips], t[flips])
            is_high = flips & (t == high[which])
            high_margin[which[is_high]] = margins[is_high]
            below = ~flips & (t < high[which])
            np.maximum.at(low, which[below], t[below])
            is_low = below & (t == low[which])
            low_margin[which[is_low]] = margins[is_low]
            halve[open_] = 2 * (high[open_] - low[open_]) > width
        return high, high_margin

    def _probes(
        self, open_: Ints, low: Ints, width: Ints, low_margin: Floats, high_margin: Floats, halve: Bools
    ) -> tuple[Ints, Ints]:
        """Return the next positions to ask, with the places of their ranges."""
        if self.thorough:
            most = max(3, PROBES // len(open_))
            parts = np.minimum(most, width - 1)
            which = np.repeat(np.arange(len(open_)), parts)
            number = np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts) + 1
            return open_[which], low[which] + width[which] * number // (parts[which] + 1)
        # Margins beyond all limits say nothing about where in the range the sign changes.
        with np.errstate(invalid="ignore", over="ignore"):
            share = low_margin / (low_margin - high_margin)
        share = np.where(halve | ~np.isfinite(share), 0.5, share)
        return open_, low + np.clip(np.rint(width * share).astype(np.int64), 1, width - 1)

    # --- one path, and a good first point of two ------------------------------------------------------------------

    def begin(self, single: Ints, double: Ints) -> Flow[PointQueries, None]:
        """Find the first point that flips on each single path, and on the diagonal of each grid; then step back."""
        items = np.concatenate([single, double])
        lengths = self.items.lengths
        # The diagonal is numbered from 0, so that number -1 is the row as it is.
        is_double = np.arange(len(items)) >= len(single)
        span = np.where(is_double, lengths[items].max(axis=1) - 1, lengths[items, 0])
        offset = np.where(is_double, -1, 0)

        def at(which: Ints, t: Ints) -> Ints:
            one = items[which]
            last = lengths[one] - 1
            diagonal = 1 + last * t[:, None] // np.maximum(span[which], 1)[:, None]
            along = np.stack([t, np.zeros_like(t)], axis=1)
            return np.where(is_double[which, None], diagonal, along)

        first, _ = yield from self._first(items, offset, span, self.items.base[items], self.items.best[items], at)
        self.best[items] = at(np.arange(len(items)), first)
        if double.size:
            costs = np.stack([self.items.cost(double, axis, self.best[double, axis]) for axis in (0, 1)], axis=1)
            dearer = (costs[:, 1] > costs[:, 0]).astype(np.int64)
            for axis in (dearer, 1 - dearer):
                yield from self._step_back(double, axis)

    def _step_back(self, items: Ints, axis: Ints) -> Flow[PointQueries, None]:
        """Take one change of each best point back as far as it still flips."""
        if not items.size:
            return
        point = self.best[items]
        each = np.arange(len(items))

        def at(which: Ints, t: Ints) -> Ints:
            moved = point[which].copy()
            moved[np.arange(len(which)), axis[which]] = t
            return moved

        # A point that does not flip settles all positions up to its own, if it is at least as far along the other path.
        low = np.zeros(len(items), dtype=np.int64)
        which, *zero = self._asked_of(items, flips=False)
        on_axis = np.where(axis[which] == 0, zero[0], zero[1])
        on_other = np.where(axis[which] == 0, zero[1], zero[0])
        beside = on_other >= point[which, 1 - axis[which]]
        np.maximum.at(low, which[beside], on_axis[beside])
        # Answers that contradict each other must not leave an empty range; they are noticed at the end.
        low = np.minimum(low, point[each, axis] - 1)
        base, best = self.items.base[items], self.items.best[items]
        point[each, axis], _ = yield from self._first(items, low, point[each, axis], base, best, at)
        self.best[items] = point

    # --- two paths: nothing is cheaper ----------------------------------------------------------------------------

    def settle(self, items: Ints) -> Flow[PointQueries, None]:
        """Prove that no point has a lower rank than the best one of each grid, or find the one that has."""
        # A box has positions low to high on the shorter path. Together, the boxes of a grid cover all points of lower
        # rank than its best point.
        across = (self.items.lengths[:, 1] < self.items.lengths[:, 0]).astype(np.int64)
        item, low = items, np.ones(len(items), dtype=np.int64)
        high = self.items.lengths[items, across[items]]
        while item.size:
            axis = across[item]
            reach = self._reach(item, axis, low)
            high = np.minimum(high, self._affordable(item, axis, self._spare(item, 1 - axis, np.ones_like(low))))
            open_ = (reach >= 1) & (low <= high)
            item, low, high, reach, axis = item[open_], low[open_], high[open_], reach[open_], axis[open_]
            corner = np.where(axis[:, None] == [0, 1], high[:, None], reach[:, None])
            open_ = ~self._is_known_not_to_flip(item, corner)
            item, low, high, corner, axis = item[open_], low[open_], high[open_], corner[open_], axis[open_]
            if not item.size:
                return
            flips = self._is_known_to_flip(item, corner)
            new = np.flatnonzero(~flips)
            if new.size:
                flips[new] = (yield from self._flips(item[new], corner[new])) >= 0
            item, low, high, corner, axis = item[flips], low[flips], high[flips], corner[flips], axis[flips]
            # A corner that flips in a box of one position has a lower rank than the best point.
            better = low == high
            if better.any():
                least = np.flatnonzero(better)[self._least(item[better], corner[better])]
                self.best[item[least]] = corner[least]
                yield from self._step_back(item[least], 1 - axis[least])
            middle = (low + high) // 2
            wide = ~better
            item = np.concatenate([item[better], item[wide], item[wide]])
            low, high = (
                np.concatenate([low[better], low[wide], middle[wide] + 1]),
                np.concatenate([high[better], middle[wide], high[wide]]),
            )

    def _least(self, items: Ints, points: Ints) -> Ints:
        """Return the place of the point of lowest rank for each flip set."""
        cost = self.items.cost(items, 0, points[:, 0]) + self.items.cost(items, 1, points[:, 1])
        order = np.lexsort((points[:, 1], points[:, 0], cost, items))
        return order[np.diff(items[order], prepend=-1) > 0]

    def _spare(self, items: Ints, axis: Ints, position: Ints) -> Ints:
        """Return what the other change may cost beside one, for no more than the best point costs."""
        best = self.best[items]
        whole = self.items.cost(items, 0, best[:, 0]) + self.items.cost(items, 1, best[:, 1])
        return whole - self.items.cost(items, axis, position)

    def _reach(self, items: Ints, axis: Ints, position: Ints) -> Ints:
        """Return how far the other path goes beside a position with a lower rank than the best point."""
        best = self.best[items]
        spare = self._spare(items, axis, position)
        cheaper = self._affordable(items, 1 - axis, spare - 1)
        as_cheap = self._affordable(items, 1 - axis, spare)
        # At the same cost, the point that is less far along the first path wins, then along the second.
        on_first = np.where(
            position < best[:, 0], as_cheap, np.where(position > best[:, 0], 0, np.minimum(as_cheap, best[:, 1] - 1))
        )
        on_second = np.minimum(as_cheap, best[:, 0] - (position >= best[:, 1]))
        return np.maximum(cheaper, np.where(axis == 0, on_first, on_second))

    def _affordable(self, items: Ints, axis: Ints, most: Ints) -> Ints:
        """Return the last position on a path that costs no more than `most`; 0 if none does."""
        low = np.zeros(len(items), dtype=np.int64)
        high = self.items.lengths[items, axis] + 1
        # Invariant: position `low` is 0 or costs no more, and `high` is beyond the path or costs more.
        while (open_ := np.flatnonzero(high - low > 1)).size:
            middle = (low[open_] + high[open_]) // 2
            fits = self.items.cost(items[open_], axis[open_], middle) <= most[open_]
            low[open_[fits]] = middle[fits]
            high[open_[~fits]] = middle[~fits]
        return low

    def _is_known_to_flip(self, items: Ints, corner: Ints) -> Bools:
        """Say which corners lie at or above a point that flips."""
        which, first, second = self._asked_of(items, flips=True)
        above = (first <= corner[which, 0]) & (second <= corner[which, 1])
        known: Bools = np.all(self.best[items] <= corner, axis=1)
        known[which[above]] = True
        return known

    def _is_known_not_to_flip(self, items: Ints, corner: Ints) -> Bools:
        """Say which corners lie at or below a point that does not flip."""
        which, first, second = self._asked_of(items, flips=False)
        below = (first >= corner[which, 0]) & (second >= corner[which, 1])
        known = np.zeros(len(items), dtype=bool)
        known[which[below]] = True
        return known

    def _asked_of(self, items: Ints, *, flips: bool) -> tuple[Ints, Ints, Ints]:
        """Return the points of these flip sets that flip, or that do not: the place of the flip set, and the point."""
        if not self._asked:  # all paths have one position
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing, nothing
        item, first, second, answer = (np.concatenate(column) for column in zip(*self._asked, strict=True))
        kept = np.flatnonzero((answer == flips) & np.isin(item, items))
        kept = kept[np.argsort(item[kept], kind="stable")]
        left, right = np.searchsorted(item[kept], items), np.searchsorted(item[kept], items, "right")
        count = right - left
        which = np.repeat(np.arange(len(items)), count)
        at = kept[np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + left[which]]
        return which, first[at], second[at]

    def contradicted(self) -> Bools:
        """Say for which flip sets a point that flips lies at or below one that does not."""
        bad = np.zeros(len(self.items), dtype=bool)
        if not self._asked:
            return bad
        item, first, second, flips = (np.concatenate(column) for column in zip(*self._asked, strict=True))
        zeros = np.flatnonzero(~flips)
        zeros = zeros[np.argsort(item[zeros], kind="stable")]
        ones = np.flatnonzero(flips)
        left, right = np.searchsorted(item[zeros], item[ones]), np.searchsorted(item[zeros], item[ones], "right")
        count = right - left
        which = np.repeat(ones, count)
        at = zeros[np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(left, count)]
        below = (first[which] <= first[at]) & (second[which] <= second[at])
        bad[item[which[below]]] = True
        return bad
