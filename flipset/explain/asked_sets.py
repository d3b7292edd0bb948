"""All sets that were asked about some rows of a table, with their scores and margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Words: TypeAlias = NDArray[np.uint64]


PAIRS = 2_000_000
"""About as many pairs of sets are compared at a time."""


class AskedSets:
    """The answers about sets, in the order in which they arrived; `sort` puts those of each row together.

    `words`, `scores` and `margins` are one after the other; those of a row k are at `start[k]` to `start[k + 1]`.
    """

    def __init__(self, rows: int) -> None:
        self._count = rows
        self._parts: list[tuple[Ints, Words, Floats, Floats]] = []
        self._rows = np.zeros(0, dtype=np.intp)
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
        self._rows = rows[order]
        self.start = np.searchsorted(self._rows, np.arange(self._count + 1))
        self.words, self.scores, self.margins = words[order], scores[order], margins[order]

    def of(self, k: int) -> slice:
        """Return where the answers about a row are."""
        return slice(int(self.start[k]), int(self.start[k + 1]))

    def score_of(self, rows: Ints, words: Words, *, flips: bool = True) -> Floats:
        """Return the scores of sets that were asked about, each of a row; all of them flip, or none does."""
        return self.scores[self._places(rows, words, flips=flips)]

    def margin_of(self, rows: Ints, words: Words) -> Floats:
        """Return the margins of sets that were asked about and flip, each of a row."""
        return self.margins[self._places(rows, words, flips=True)]

    def _places(self, rows: Ints, words: Words, *, flips: bool) -> Ints:
        """Return where sets stand among the answers."""
        alike = np.flatnonzero((self.margins >= 0) == flips)
        # Rows and sets as one number each, in the same order.
        distinct, number = np.unique(np.concatenate([self.words[alike], words]), return_inverse=True)
        keys = np.concatenate([self._rows[alike], rows]) * len(distinct) + number
        own, sought = keys[: len(alike)], keys[len(alike) :]
        order = np.argsort(own, kind="stable")
        places: Ints = alike[order[np.searchsorted(own, sought, sorter=order)]]
        return places

    def contradictions(self) -> dict[int, tuple[int, int]]:
        """Return, for rows where there are such, a set that flips and a superset that does not."""
        pairs: dict[int, tuple[int, int]] = {}
        ones, zeros = np.flatnonzero(self.margins >= 0), np.flatnonzero(self.margins < 0)
        first_one, first_zero = (
            np.searchsorted(self._rows[some], np.arange(self._count + 1)) for some in (ones, zeros)
        )
        # As many rows at a time as have few pairs together.
        count = np.cumsum(np.diff(first_one) * np.diff(first_zero))
        start = 0
        while start < self._count:
            before = count[start - 1] if start else 0
            end = max(start + 1, int(np.searchsorted(count, before + PAIRS, "right")))
            some = np.arange(first_one[start], first_one[end])
            of_row = self._rows[ones[some]]
            many = first_zero[of_row + 1] - first_zero[of_row]
            one = ones[np.repeat(some, many)]
            at = np.arange(len(one)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(first_zero[of_row], many)
            zero = zeros[at]
            for i in np.flatnonzero((self.words[one] & ~self.words[zero]) == 0).tolist():
                pairs.setdefault(int(self._rows[one[i]]), (int(self.words[one[i]]), int(self.words[zero[i]])))
            start = end
        return pairs
