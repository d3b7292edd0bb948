"""From queries to calls of the model: tables of limited size, without repeated rows, and all of them counted.

A query is a row and the cells in which the row to be scored differs from it. How queries become tables, and scores
become answers, is written once, as a generator that yields tables. `RowScorer` runs it by calling the model or by
awaiting it.

Queries and calls are counted when they are answered. Where a call fails, rows are scored again in smaller tables to
find those on which the model fails. How often that happens depends on the other rows of the table, so what failed is
not part of the count.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.drivers.drive import adrive, drive
from flipset.layers import Tally
from flipset.models.tables import make_tables
from flipset.space.identity import different_rows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence

    from numpy.typing import NDArray

    from flipset.models.tables import RowQuery
    from flipset.space import Space
    from flipset.space.rows import Row

    Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RowScorer:
    """Scores rows of a space with a model.

    Attributes
    ----------
    call
        Calls the model with a table; returns one score for each row.
    space
        The space of the rows.
    acall
        `call` as a coroutine function; None if the model cannot be awaited.
    max_rows
        The most rows of a call.
    answered
        Scores that are already known, of rows as they are.
    tally
        The count of queries and calls that were answered.
    """

    call: Callable[[Any], Scores]
    space: Space
    acall: Callable[[Any], Awaitable[Scores]] | None = None
    max_rows: int = sys.maxsize
    answered: Mapping[Row, float] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    _lock: Lock = field(default_factory=Lock, init=False)  # several threads may count

    def ask(self, queries: Sequence[RowQuery]) -> list[float]:
        """Return one score for each query."""
        return drive(self._scoring(queries), self.call)

    async def aask(self, queries: Sequence[RowQuery]) -> list[float]:
        """Return one score for each query, as a coroutine."""
        assert self.acall is not None, "used only where the model can be awaited"
        return await adrive(self._scoring(queries), self.acall)

    def ask_table(self, table: Any) -> Scores:
        """Return one score for each row of a table."""
        return drive(self._scoring_table(table), self.call)

    def _scoring(self, queries: Sequence[RowQuery]) -> Generator[Any, Scores, list[float]]:
        scores: list[float] = []
        for start in range(0, len(queries), self.max_rows):
            scores += yield from self._scoring_part(queries[start : start + self.max_rows])
        return scores

    def _scoring_part(self, queries: Sequence[RowQuery]) -> Generator[Any, Scores, list[float]]:
        if not self.answered:
            return (yield from self._scoring_new(queries))
        # Only queries without changed cells can be answered from what is known. They count like all others.
        kept = [None if cells else self.answered.get(row) for row, cells in queries]  # type: ignore[call-overload]
        left = [query for query, score in zip(queries, kept, strict=True) if score is None]
        self._count(queries=len(queries) - len(left))
        new = iter((yield from self._scoring_new(left)) if left else ())
        return [next(new) if score is None else score for score in kept]

    def _scoring_new(self, queries: Sequence[RowQuery]) -> Generator[Any, Scores, list[float]]:
        scores = np.empty(len(queries))
        for places, table in make_tables(len(self.space.names), self.space.reference, queries):
            scores[places] = yield from self._scoring_table(table)
        listed: list[float] = scores.tolist()
        return listed

    def _scoring_table(self, table: Any) -> Generator[Any, Scores, Scores]:
        """Score a table, in parts of at most `max_rows` rows; equal rows are given to the model once."""
        different, which = different_rows(table)
        # Every query counts, also those that share a row with another: counts must not depend on the batch.
        parts = []
        for start in range(0, len(different), self.max_rows):
            whole = len(different) <= self.max_rows
            parts.append((yield different if whole else different[start : start + self.max_rows]))
            self._count(calls=1)
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        self._count(queries=len(table))
        return scores if which is None else scores[which]

    def _count(self, *, queries: int = 0, calls: int = 0) -> None:
        with self._lock:
            self.tally.queries += queries
            self.tally.rounds += calls
