"""All queries and answers about the rows of a table search.

A table search may want a query again: a set that was asked as a pair may come up while a zero is grown. The log answers
it from memory, and its entries are the evidence that a row takes along when its search ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Words: TypeAlias = NDArray[np.uint64]

FIRST_WIDTH = 64
"""Queries per row that the log has space for at first; it grows when a row needs more."""


def as_words(flips: Bools) -> NDArray[np.uint64]:
    """Return sets of features, one per line of an array of flags, as bitmasks."""
    words: NDArray[np.uint64] = flips @ (np.uint64(1) << np.arange(flips.shape[-1], dtype=np.uint64))
    return words


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The result of the search about one row.

    Attributes
    ----------
    ones
        Its smallest flip sets as bitmasks; empty if nothing flips. None if the row was given up.
    zeros
        Maximal zeros that prove the result. Empty if reasons were not wanted; the answers are then the proof.
    flips, scores, margins
        The sets of all queries, the model's scores, and these scores as margins.
    rounds
        The number of rounds that had queries about this row.
    """

    ones: tuple[int, ...] | None
    zeros: tuple[int, ...]
    flips: Words
    scores: Floats
    margins: Floats
    rounds: int

    def contradiction(self) -> tuple[int, int] | None:
        """Return a set that flips and a superset that does not, if both were asked."""
        ones, zeros = self.flips[self.margins >= 0], self.flips[self.margins < 0]
        bad = (ones[:, None] & ~zeros[None, :]) == 0
        if not bad.any():
            return None
        one, zero = np.argwhere(bad)[0]
        return int(ones[one]), int(zeros[zero])


class Log:
    """The queries about the row at each place, in the order in which they were asked.

    Invariant: in line `place` of `flips`, `scores` and `margins`, the first `count[place]` entries belong to the row
    that is at that place now. Entries after them are left over from earlier rows and have no meaning.
    """

    def __init__(self, places: int) -> None:
        self.count = np.zeros(places, dtype=np.intp)  # queries about the present row
        self.rounds = np.zeros(places, dtype=np.intp)  # rounds in which the present row had queries
        self.flips = np.zeros((places, FIRST_WIDTH), dtype=np.uint64)  # the set of each query, as a bitmask
        self.scores = np.zeros((places, FIRST_WIDTH))  # the score that the model gave
        self.margins = np.zeros((places, FIRST_WIDTH))  # that score as a margin: 0 or more flips

    def clear(self, places: Ints) -> None:
        """Forget the rows at these places."""
        self.count[places] = self.rounds[places] = 0

    def recall(self, places: Ints, words: Words) -> Floats:
        """Return the margins of queries that were asked before, and NaN for the others."""
        margins = np.full(len(places), np.nan)
        used = int(self.count.max(initial=0))
        which, at = np.nonzero(self.flips[places, :used] == words[:, None])
        own = at < self.count[places[which]]  # the others are left over from earlier rows
        which, at = which[own], at[own]
        margins[which] = self.margins[places[which], at]
        return margins

    def add(self, places: Ints, words: Words, scores: Floats, margins: Floats) -> None:
        """Add the answers to one round of queries; each query has a place and a set."""
        assert len(places) == len(words) == len(scores) == len(margins), "every query has one answer"
        # Sort the queries by place. A query then goes to the entry after those of its row: `count`, plus its distance
        # from the first query of the same place.
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
        """Return the sets, scores and margins of all queries about the row at a place, and its number of rounds."""
        asked = slice(self.count[place])
        rounds = int(self.rounds[place])
        # Copies: the next row at this place writes over these entries.
        return (
            self.flips[place, asked].copy(),
            self.scores[place, asked].copy(),
            self.margins[place, asked].copy(),
            rounds,
        )
