"""All sets that were asked about some rows of a table, with their scores and margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Words: TypeAlias = NDArray[np.uint64]


class AskedSets:
    """The answers about sets, in the order in which they arrived; `sort` puts those of each row together.

    `words`, `scores` and `margins` are one after the other; those of a row k are at `start[k]` to `start[k + 1]`.
    """

    def __init__(self, rows: int) -> None:
        self._count = rows
        self._parts: list[tuple[Ints, Words, Floats, Floats]] = []
        self.start = np.zeros(rows + 1, dtype=np.intp)
        self.words = np.zeros(0, dtype=np.uint64)
        self.scores = self.margins = np.zeros(0)

    def add(self, rows: Ints, words: Words, scores: Floats, margins: Floats) -> None:
        """Keep the answers to one call; those that are NaN did not arrive."""
        some = ~np.isnan(scores)
        self._parts.append((rows[some], words[some], scores[some], margins[some]))

    def sort(self) -> None:
        """Put the answers about each row together."""
        if not self._parts:
            return
        rows, words, scores, margins = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        order = np.argsort(rows, kind="stable")
        self.start = np.searchsorted(rows[order], np.arange(self._count + 1))
        self.words, self.scores, self.margins = words[order], scores[order], margins[order]

    def of(self, k: int) -> slice:
        """Return where the answers about a row are."""
        return slice(int(self.start[k]), int(self.start[k + 1]))

    def score_of(self, rows: Ints, words: Words) -> Floats:
        """Return the scores of sets that were asked about, each of a row."""
        return self.scores[self._places(rows, words)]

    def margin_of(self, rows: Ints, words: Words) -> Floats:
        """Return the margins of sets that were asked about, each of a row."""
        return self.margins[self._places(rows, words)]

    def _places(self, rows: Ints, words: Words) -> Ints:
        places = np.empty(len(rows), dtype=np.intp)
        for i, (k, word) in enumerate(zip(rows.tolist(), words, strict=True)):
            own = self.of(k)
            places[i] = own.start + int((self.words[own] == word).argmax())
        return places

    def contradiction(self, k: int) -> tuple[int, int] | None:
        """Return a set that flips and a superset that does not, if both were asked about a row."""
        words, flips = self.words[self.of(k)], self.margins[self.of(k)] >= 0
        ones, zeros = words[flips], words[~flips]
        bad = (ones[:, None] & ~zeros[None, :]) == 0
        if not bad.any():
            return None
        one, zero = np.argwhere(bad)[0]
        return int(ones[one]), int(zeros[zero])
