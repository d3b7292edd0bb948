"""Every query and answer about the rows of a table search."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Words: TypeAlias = NDArray[np.uint64]


def as_words(flips: Bools) -> NDArray[np.uint64]:
    """Return sets of features as bitmasks."""
    words: NDArray[np.uint64] = flips @ (np.uint64(1) << np.arange(flips.shape[-1], dtype=np.uint64))
    return words


class Log:
    """What was asked about the row at each place, in the order of the queries.

    Invariant: the first `count[place]` entries of a line are the queries about the row that is there now.
    """

    def __init__(self, places: int) -> None:
        self.count = np.zeros(places, dtype=np.intp)
        self.rounds = np.zeros(places, dtype=np.intp)
        self.flips = np.zeros((places, 64), dtype=np.uint64)
        self.scores = np.zeros((places, 64))
        self.margins = np.zeros((places, 64))

    def clear(self, places: Ints) -> None:
        """Forget what was at these places."""
        self.count[places] = self.rounds[places] = 0

    def recall(self, places: Ints, words: Words) -> Floats:
        """Return the margins of queries that were asked before, NaN for the others."""
        found = np.full(len(places), np.nan)
        used = int(self.count.max(initial=0))
        same = (self.flips[places, :used] == words[:, None]) & (np.arange(used) < self.count[places][:, None])
        which, at = np.nonzero(same)
        found[which] = self.margins[places[which], at]
        return found

    def add(self, places: Ints, words: Words, scores: Floats, margins: Floats) -> None:
        """Note the answers to one round of queries: the place of each, and the set it flips."""
        order = np.argsort(places, kind="stable")
        places = places[order]
        at = self.count[places] + np.arange(len(places)) - np.searchsorted(places, places)
        most = int(at.max(initial=-1)) + 1
        if most > self.flips.shape[1]:
            wider = ((0, 0), (0, most))
            self.flips, self.scores = np.pad(self.flips, wider), np.pad(self.scores, wider)
            self.margins = np.pad(self.margins, wider)
        self.flips[places, at] = words[order]
        self.scores[places, at] = scores[order]
        self.margins[places, at] = margins[order]
        self.count += np.bincount(places, minlength=len(self.count))
        self.rounds[np.unique(places)] += 1

    def of(self, place: int) -> tuple[Words, Floats, Floats, int]:
        """Return what was asked about the row at a place, what was answered, and in how many rounds."""
        told = slice(self.count[place])
        rounds = int(self.rounds[place])
        return self.flips[place, told].copy(), self.scores[place, told].copy(), self.margins[place, told].copy(), rounds
