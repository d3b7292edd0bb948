"""An index that finds the sets that are disjoint from a query, or contain it, without looking at them one by one.

The sets are numbered in the order in which they are added. For each feature the index keeps an int in which bit j says
whether set j contains the feature. A lookup then takes one OR or AND per feature, for all sets at once.
"""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

from flipset.protocol import features_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flipset.protocol import Flips


MOST_DIGITS = 50_000_000
"""The most digits of the text by which many sets are added at once."""


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

    def add_all(self, sets: Sequence[Flips]) -> None:
        """Add many sets at the next positions; this is much faster than adding them one by one."""
        if len(sets) < 64 or len(sets) * max(map(int.bit_length, sets)) > MOST_DIGITS:
            for flips in sets:
                self.add(flips)
            return
        start, width = len(self.sets), max(map(int.bit_length, sets))
        # All sets as binary digits in one text, the last set first: every `width`-th digit is the column of a feature.
        digits = "".join([format(flips, f"0{width}b") for flips in reversed(sets)])
        for i in range(width):
            if column := int(digits[width - 1 - i :: width], 2):
                self._features |= 1 << i
                self._holders[i] = self._holders.get(i, 0) | column << start
        for size in dict.fromkeys(map(int.bit_count, sets)):
            if size not in self._of_size:
                insort(self._sizes, size)
            same = "".join(["1" if flips.bit_count() == size else "0" for flips in reversed(sets)])
            self._of_size[size] = self._of_size.get(size, 0) | int(same, 2) << start
        self.sets += sets
        self.alive |= ((1 << len(sets)) - 1) << start

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
