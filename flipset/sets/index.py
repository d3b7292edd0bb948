"""Which of many sets are disjoint from a query, or contain it, without looking at them one by one.

Number the sets. For each feature keep an int whose bit j says that set j holds it: then both questions are one OR or
AND per feature, over all sets at once. Positions keep the order of arrival.
"""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

from flipset.protocol import features_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flipset.protocol import Flips


class Index:
    """Sets by the features they hold; answers are bitmasks of positions in `sets`."""

    def __init__(self, sets: Iterable[Flips]) -> None:
        self.sets: list[Flips] = []
        self.alive = 0
        self._holders: dict[int, int] = {}
        self._features = 0
        self._of_size: dict[int, int] = {}
        self._sizes: list[int] = []  # ascending
        for flips in sets:
            self.add(flips)

    def add(self, flips: Flips) -> None:
        """Put a set at the next position."""
        bit = 1 << len(self.sets)
        self.sets.append(flips)
        self.alive |= bit
        self._features |= flips
        size = flips.bit_count()
        if size not in self._of_size:
            insort(self._sizes, size)
        self._of_size[size] = self._of_size.get(size, 0) | bit
        holders = self._holders
        for i in features_of(flips):
            holders[i] = holders.get(i, 0) | bit

    def drop(self, positions: int) -> None:
        """Forget the sets at these positions; the others keep theirs."""
        self.alive &= ~positions

    def smallest(self, positions: int) -> int:
        """Return the first of these positions, not none, whose set is the smallest."""
        found = next(some for size in self._sizes if (some := positions & self._of_size[size]))
        return (found & -found).bit_length() - 1

    def disjoint(self, query: Flips) -> int:
        """Return where the sets are that share nothing with `query`."""
        met = 0
        for i in features_of(query & self._features):
            met |= self._holders[i]
        return self.alive & ~met

    def inside(self, query: Flips) -> int:
        """Return where the sets are that have nothing outside `query`."""
        return self.disjoint(self._features & ~query)

    def containing(self, query: Flips) -> int:
        """Return where the sets are that hold all of `query`."""
        if query & ~self._features:
            return 0
        found = self.alive
        for i in features_of(query):
            found &= self._holders[i]
            if not found:
                break
        return found
