"""The margins of all sets that were asked about the rows of a table, to be looked up many at a time.

A table search may want a set again: one that was asked as a candidate may come up while a zero is grown. No row is
asked twice, so the memory answers.

The sets are kept in sorted parts. A new part is small; once the parts together are as large as the first one, they are
merged into it. So each answer is sorted a few times only, whatever the number of calls.
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

LEAST_MERGED = 8_192
"""Answers in small parts from which these are merged, even if the first part is smaller."""

_MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose bits look random."""


def as_words(flips: Bools) -> Words:
    """Return sets of features, one per line of an array of flags, as bitmasks."""
    words: Words = flips @ (np.uint64(1) << np.arange(flips.shape[-1], dtype=np.uint64))
    return words


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Answers in the order of their keys. Different sets may share a key; `rows` and `words` tell them apart."""

    keys: Words
    rows: Ints
    words: Words
    margins: Floats


class Memory:
    """The margins of sets, by the number of a row and the set as a bitmask. No set is added twice."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []

    def add(self, rows: Ints, words: Words, margins: Floats) -> None:
        """Keep the answers to some queries."""
        if not len(rows):
            return
        self._parts.append(_sorted(_keys(rows, words), rows, words, margins))
        small = sum(len(part.keys) for part in self._parts[1:])
        if len(self._parts) > 1 and small >= max(LEAST_MERGED, len(self._parts[0].keys)):
            joined = (
                np.concatenate([getattr(part, name) for part in self._parts])
                for name in ("keys", "rows", "words", "margins")
            )
            self._parts = [_sorted(*joined)]

    def recall(self, rows: Ints, words: Words) -> Floats:
        """Return the margins of sets that were asked before, and NaN for the others."""
        margins = np.full(len(rows), np.nan)
        keys = _keys(rows, words)
        for part in self._parts:
            at = np.searchsorted(part.keys, keys)
            # Sets that share a key follow each other. There is hardly ever a second one.
            open_ = np.flatnonzero(at < len(part.keys))
            while open_.size:
                place = at[open_]
                same_key = part.keys[place] == keys[open_]
                found = same_key & (part.rows[place] == rows[open_]) & (part.words[place] == words[open_])
                margins[open_[found]] = part.margins[place[found]]
                open_ = open_[same_key & ~found]
                at[open_] += 1
                open_ = open_[at[open_] < len(part.keys)]
        return margins


def _keys(rows: Ints, words: Words) -> Words:
    keys = (words ^ (rows.astype(np.uint64) << np.uint64(40))) * _MIX
    return keys ^ (keys >> np.uint64(31))


def _sorted(keys: Words, rows: Ints, words: Words, margins: Floats) -> _Part:
    order = np.argsort(keys)
    return _Part(keys[order], rows[order], words[order], margins[order])
