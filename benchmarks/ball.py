"""Ball search in arrays: every set of 1, 2, 3, ... features of every row, in calls of many rows.

It is the rival where a model is cheap and few features change, written as fast as NumPy allows: candidates are arrays,
rows are built by two indexing operations, and each call of the model has as many rows as fit into `AT_A_TIME`.

Invariants: only features that can move belong to a candidate; a row is left out once a set of its has flipped it; and
all sets of that size are asked first, so the sets found are all smallest flip sets. It has no proof, no reasons and no
values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ints = NDArray[np.intp]

AT_A_TIME = 65_536
"""The most rows of a call: some ten megabytes, which fit a cache better than more would."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a ball search found.

    Attributes
    ----------
    sizes
        The number of changes of each row; 0 where no set up to the limit flips.
    hits
        For each size: rows, and beside each the columns of a flip set of that row.
    queries
        How many rows the model was given.
    """

    sizes: Ints
    hits: tuple[tuple[Ints, Ints], ...]
    queries: int

    def sets(self) -> list[set[frozenset[int]]]:
        """Return the flip sets of each row."""
        found: list[set[frozenset[int]]] = [set() for _ in self.sizes]
        for rows, columns in self.hits:
            for row, flipset in zip(rows.tolist(), columns.tolist(), strict=True):
                found[row].add(frozenset(flipset))
        return found


@dataclass(slots=True)
class _Counted:
    flips: Callable[[Any], NDArray[np.bool_]]
    queries: int = field(default=0)

    def __call__(self, rows: Any) -> NDArray[np.bool_]:
        self.queries += len(rows)
        return self.flips(rows)


def ball_search(flips: Callable[[Any], NDArray[np.bool_]], rows: Any, best: Any, most: int = 4) -> Found:
    """Return all smallest flip sets of every row, of at most `most` features.

    `flips` says which rows of a matrix have the wanted decision. `best` has each row with everything at its best.
    """
    ask = _Counted(flips)
    movable = rows != best
    sizes = np.zeros(len(rows), dtype=np.intp)
    todo = np.flatnonzero(ask(best))  # one query decides whether anything flips a row
    hits = []
    for size in range(1, min(most, rows.shape[1]) + 1):
        candidates = np.array(list(combinations(range(rows.shape[1]), size)), dtype=np.intp)
        at_a_time = max(1, AT_A_TIME // len(candidates))
        for start in range(0, len(todo), at_a_time):
            some = todo[start : start + at_a_time]
            which, of = np.nonzero(movable[some][:, candidates].all(axis=2))
            of_row, columns = some[which], candidates[of]
            asked = rows[of_row]
            asked[np.arange(len(asked))[:, None], columns] = best[of_row[:, None], columns]
            hit = ask(asked)
            sizes[of_row[hit]] = size
            hits.append((of_row[hit], columns[hit]))
        todo = todo[sizes[todo] == 0]
        if not len(todo):
            break
    return Found(sizes, tuple(hits), ask.queries)
