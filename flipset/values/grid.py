"""A grid of points, and what answers about some of them imply for the others.

The grid is a product of paths; position 0 of each path is "stay". Flipping is monotone: a point further along any path
never flips back. The cost is a sum over the paths and never falls along any of them.

Invariant: `Grid.zeros` holds the maximal points known not to flip, and `Grid.ones` the minimal points known to flip. A
point is queried only if its answer does not follow from these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from operator import getitem, le
from typing import TYPE_CHECKING, TypeAlias

from flipset.protocol import ask
from flipset.values.bracket import Bracket

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.protocol import Flow

Point: TypeAlias = tuple[int, ...]
"""A position on each path; 0 is "stay"."""

Cost: TypeAlias = Fraction | int
"""An exact amount; a whole number where costs share a unit, because whole numbers are much faster than fractions."""


class Contradiction(Exception):
    """The point `lower` flips, and `upper`, which is further along, does not."""

    def __init__(self, lower: Point, upper: Point) -> None:
        super().__init__(lower, upper)
        self.lower = lower
        self.upper = upper


@dataclass(slots=True)
class Grid:
    """A product of paths, and what is known about its points.

    Attributes
    ----------
    lengths
        The last position on each path.
    costs
        The cost of each position on each path.
    batch
        How many queries go into one call. With more than 1, what is independent is asked together even if it is more.
    base
        A cost that every point has in addition.
    zeros, ones
        The maximal points known not to flip, and the minimal points known to flip.
    top_margin
        The margin at the last position of all paths, which is known to flip; None if the margin is not known.
    """

    lengths: Point
    costs: Sequence[Sequence[Cost]]
    batch: int = 1
    base: Cost = 0
    zeros: list[Point] = field(default_factory=list)
    ones: list[Point] = field(default_factory=list)
    top_margin: float | None = None

    def cost(self, point: Point) -> Cost:
        """Return the cost of a point."""
        return sum(map(getitem, self.costs, point), self.base)

    def settle(self, point: Point) -> bool | None:
        """Say whether a point flips, if that follows from the answers so far; None if it does not."""
        return _SETTLE.get(len(point), _settle)(point, self.zeros, self.ones)

    def steps_to_settle(self) -> int:
        """Return how many elementary steps `settle` takes for one point."""
        return 1 + len(self.zeros) + len(self.ones)

    def flips(self, points: Sequence[Point]) -> Flow[Point, list[bool]]:
        """Say which points flip; query, in one call, those for which it does not follow."""
        results = {point: self.settle(point) for point in points}
        unknown = [point for point, flips in results.items() if flips is None]
        if unknown:
            for point, margin in zip(unknown, (yield from self.ask(unknown)), strict=True):
                results[point] = margin >= 0
        return [results[point] is True for point in points]

    def _learn(self, point: Point, flips: bool) -> None:
        """Note an answer, and raise if it contradicts an earlier one."""
        # Only an answer of the same call can be contradicted: a point whose answer follows is not queried.
        if self.settle(point) is (not flips):
            for other in self.zeros if flips else self.ones:
                lower, upper = (point, other) if flips else (other, point)
                if is_below(lower, upper):
                    raise Contradiction(lower, upper)
        # Keep only maximal zeros and minimal ones: the others follow from them.
        if flips:
            self.ones = [one for one in self.ones if not is_below(point, one)]
            self.ones.append(point)
        else:
            self.zeros = [zero for zero in self.zeros if not is_below(zero, point)]
            self.zeros.append(point)

    def ask(self, points: Sequence[Point]) -> Flow[Point, Sequence[float]]:
        """Return the margins of points for which nothing follows from the answers so far."""
        margins = yield from ask(points)
        for point, margin in zip(points, margins, strict=True):
            self._learn(point, margin >= 0)
        return margins

    def first_flipping(self, at: Callable[[int], Point], bracket: Bracket) -> Flow[Point, int]:
        """Return the first position in a bracket for which `at` is a point that flips.

        The points must be ascending. What follows from the answers so far is not queried.
        """
        while bracket.is_open:
            probes = [(t, at(t)) for t in bracket.guesses(self.batch)]
            settled = [self.settle(point) for _, point in probes]
            # Different positions may be the same point.
            unknown = list(
                dict.fromkeys(point for (_, point), flips in zip(probes, settled, strict=True) if flips is None)
            )
            asked = dict(zip(unknown, (yield from self.ask(unknown)), strict=True)) if unknown else {}
            for (t, point), flips in zip(probes, settled, strict=True):
                if bracket.low < t < bracket.high:
                    margin = asked.get(point)
                    bracket.learn(t, bool(flips) if margin is None else margin >= 0, margin)
        return bracket.high

    def least_along(
        self, axis: int, point: Point, low: int, high: int, margins: tuple[float | None, float | None] = (None, None)
    ) -> Flow[Point, int]:
        """Return the least position on one path, from `low` to `high`, that flips; the others stay as in `point`.

        The point at `high` is known to flip. The margins are those just before `low`, and at `high`.
        """
        before, after = point[:axis], point[axis + 1 :]
        # First narrow the range by what is known, without queries. What lies between does not follow from anything.
        first, last = (*before, 0, *after), (*before, self.lengths[axis], *after)
        bracket = Bracket(low - 1, high, *margins)
        for zero in self.zeros:
            if zero[axis] > bracket.low and is_below(first, zero):
                bracket.low, bracket.low_margin = zero[axis], None
        for one in self.ones:
            if one[axis] < bracket.high and is_below(one, last):
                bracket.high, bracket.high_margin = one[axis], None
        while bracket.is_open:
            probes = bracket.guesses(self.batch)
            for j, margin in zip(probes, (yield from self.ask([(*before, j, *after) for j in probes])), strict=True):
                # The probes are ascending: the first one that flips ends the range, and the last before it begins it.
                if bracket.low < j < bracket.high:
                    bracket.learn(j, margin >= 0, margin)
        # A point before `low` may be known to flip.
        return max(bracket.high, low)


# --- what follows for a point: frequent lengths are written out, which is several times faster ------------------------


def _settle(point: Point, zeros: Sequence[Point], ones: Sequence[Point]) -> bool | None:
    for zero in zeros:
        if is_below(point, zero):
            return False
    for one in ones:
        if is_below(one, point):
            return True
    return None


def _settle_two(point: Point, zeros: Sequence[Point], ones: Sequence[Point]) -> bool | None:
    i, j = point
    for a, b in zeros:
        if i <= a and j <= b:
            return False
    for a, b in ones:
        if a <= i and b <= j:
            return True
    return None


def _settle_three(point: Point, zeros: Sequence[Point], ones: Sequence[Point]) -> bool | None:
    i, j, k = point
    for a, b, c in zeros:
        if i <= a and j <= b and k <= c:
            return False
    for a, b, c in ones:
        if a <= i and b <= j and c <= k:
            return True
    return None


def _settle_four(point: Point, zeros: Sequence[Point], ones: Sequence[Point]) -> bool | None:
    h, i, j, k = point
    for a, b, c, d in zeros:
        if h <= a and i <= b and j <= c and k <= d:
            return False
    for a, b, c, d in ones:
        if a <= h and b <= i and c <= j and d <= k:
            return True
    return None


_SETTLE: dict[int, Callable[[Point, Sequence[Point], Sequence[Point]], bool | None]] = {
    2: _settle_two,
    3: _settle_three,
    4: _settle_four,
}


def between(low: int, high: int, most: int) -> list[int]:
    """Return up to `most` positions that divide the way from `low` to `high` evenly; `high` is not among them."""
    width = high - low
    parts = min(most, width)
    if parts == 1:  # the middle: binary search
        return [low + width // 2]
    return sorted({low + width * k // (parts + 1) for k in range(1, parts + 1)})


def is_below(lower: Point, upper: Point) -> bool:
    """Say whether every position of `lower` is at most that of `upper`."""
    if len(lower) == 2:  # the most frequent case, written out because it is faster
        return lower[0] <= upper[0] and lower[1] <= upper[1]
    return all(map(le, lower, upper))
