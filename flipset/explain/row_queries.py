"""Queries about many rows of a table in one batch, in arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from flipset.protocol import flips_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flipset.errors import BudgetExhausted
    from flipset.protocol import Flips

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Bools: TypeAlias = NDArray[np.bool_]

Query: TypeAlias = "tuple[int, Flips]"
"""The number of a row, and the columns of it that are changed, as a bitmask."""


@dataclass(frozen=True, slots=True, eq=False)
class RowQueries(Sequence[Query]):
    """A batch of queries.

    Attributes
    ----------
    rows
        For each query the number of its row.
    changed
        For each query the columns that it changes.
    rows_for
        Turns some of these queries, given by their places, into rows for the model.
    """

    rows: Ints
    changed: Bools
    rows_for: Callable[[Ints], Any]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> Query: ...
    @overload
    def __getitem__(self, at: slice) -> RowQueries: ...
    def __getitem__(self, at: int | slice) -> Query | RowQueries:
        """Return one query, or some as a batch of their own."""
        if isinstance(at, slice):
            places = np.arange(len(self))[at]
            return RowQueries(self.rows[at], self.changed[at], lambda part: self.rows_for(places[part]))
        return int(self.rows[at]), flips_of(np.flatnonzero(self.changed[at]).tolist())

    def read_answers(self, given: Any) -> Floats:
        """Return scores as an array. Drivers let the batch read its own answers."""
        return np.asarray(given, dtype=np.float64)


def arrived(stop: BudgetExhausted, count: int) -> Floats:
    """Return the answers to a batch that arrived before a budget ended, NaN for the others."""
    scores = np.full(count, np.nan)
    for i, answer in enumerate(stop.answers):
        scores[i] = np.nan if answer is None else answer
    return scores
