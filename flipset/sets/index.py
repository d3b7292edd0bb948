"""An index that finds the sets that are disjoint from a query, or contain it, without looking at them one by one.

The sets are numbered in the order in which they are added. For each feature the index keeps an int in which bit j says
whether set j contains the feature. A lookup then takes one OR or AND per feature, for all sets at once.
"""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

from flipset.protocol import features_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flipset.protocol import Flips


class Index:
    """Sets, indexed by the features they contain. Lookups return bitmasks of positions in `sets`."""

    def __init__(self, sets: Iterable[Flips]) -> None:
        self.sets: list[Flips] = []  # positions never change; a dropped set keeps its entry
        self.alive = 0  # the positions that were not dropped
        self._holders: dict[int, int] = {}  # for each feature, the positions of the sets that contain it
        self._features = 0  # the union of all sets
        self._of_size: dict[int, int] = {}  # for each size, the positions of the sets of that size
        self._sizes: list[int] = []  # the keys of `_of_size`, ascending
        for flips in sets:
            self.add(flips)

    def add(self, flips: Flips) -> None:
        """Add a set at the next position."""
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
        """Remove the sets at these positions; all others keep their positions."""
        self.alive &= ~positions

    def smallest(self, positions: int) -> int:
        """Return the position of the smallest set among these positions, of several the first; there must be one."""
        assert positions, "there is no smallest of no sets"
        smallest = next(some for size in self._sizes if (some := positions & self._of_size[size]))
        return (smallest & -smallest).bit_length() - 1

    def disjoint(self, query: Flips) -> int:
        """Return the positions of the sets that share no feature with `query`."""
        met = 0
        for i in features_of(query & self._features):
            met |= self._holders[i]
        return self.alive & ~met

    def inside(self, query: Flips) -> int:
        """Return the positions of the subsets of `query`."""
        return self.disjoint(self._features & ~query)

    def containing(self, query: Flips) -> int:
        """Return the positions of the supersets of `query`."""
        if query & ~self._features:
            return 0
        supersets = self.alive
        for i in features_of(query):
            supersets &= self._holders[i]
            if not supersets:
                break
        return supersets
