"""From queries to calls of the model: tables of limited size, without repeated rows, and all of them counted.

A query is a row and the cells in which the row to be scored differs from it. How queries become tables, and scores
become answers, is written once, as a generator that yields tables. `RowScorer` runs it by calling the model or by
awaiting it.

Queries and calls are counted when they are answered. Where a call fails, rows are scored again in smaller tables to
find those on which the model fails. How often that happens depends on the other rows of the table, so what failed is
not part of the count.

Invariant: a score that has arrived is not lost. If a later table of the same queries fails, the error carries the
scores of the earlier ones, and `apart` leaves these out when it asks again.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.drivers.drive import adrive, drive
from flipset.errors import FlipsetError
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
        return drive(self._keeping(len(table), lambda scores: self._scoring_table(table, scores)), self.call)

    def _scoring(self, queries: Sequence[RowQuery]) -> Generator[Any, Scores, list[float]]:
        scores = yield from self._keeping(len(queries), lambda scores: self._scoring_parts(queries, scores))
        listed: list[float] = scores.tolist()
        return listed

    # The generators below write scores into an array that they are given, as the scores arrive. It holds NaN until
    # then; no score is NaN (`read_scores`).

    def _keeping(
        self, size: int, scoring: Callable[[Scores], Generator[Any, Scores, None]]
    ) -> Generator[Any, Scores, Scores]:
        """Return the scores; where a table fails, give those that had arrived to the error."""
        scores = np.full(size, np.nan)
        try:
            yield from scoring(scores)
        except FlipsetError as error:
            error.answers = [None if score != score else score for score in scores.tolist()]
            raise
        return scores

    def _scoring_parts(self, queries: Sequence[RowQuery], scores: Scores) -> Generator[Any, Scores, None]:
        for start in range(0, len(queries), self.max_rows):
            part = slice(start, start + self.max_rows)
            yield from self._scoring_part(queries[part], scores[part])

    def _scoring_part(self, queries: Sequence[RowQuery], scores: Scores) -> Generator[Any, Scores, None]:
        if not self.answered:
            yield from self._scoring_new(queries, range(len(queries)), scores)
            return
        # Only queries without changed cells can be answered from what is known. They count like all others.
        left = []
        for i, (row, cells) in enumerate(queries):
            known = None if cells else self.answered.get(row)  # type: ignore[call-overload]
            if known is None:
                left.append(i)
            else:
                scores[i] = known
        self._count(queries=len(queries) - len(left))
        if left:
            yield from self._scoring_new([queries[i] for i in left], left, scores)

    def _scoring_new(
        self, queries: Sequence[RowQuery], places: Sequence[int], scores: Scores
    ) -> Generator[Any, Scores, None]:
        """Score queries with these places among the scores."""
        at = np.asarray(places)
        computed = self.space.computed
        if computed is not None:
            # Here, before every call, and nowhere else: the searches know only the columns that move by themselves.
            queries = [(row, computed.complete(row, cells)) for row, cells in queries]
        for some, table in make_tables(len(self.space.names), self.space.reference, queries):
            part = np.full(len(table), np.nan)
            try:
                yield from self._scoring_table(table, part)
            finally:
                scores[at[some]] = part

    def _scoring_table(self, table: Any, scores: Scores) -> Generator[Any, Scores, None]:
        """Score a table, in parts of at most `max_rows` rows; equal rows are given to the model once."""
        different, which = different_rows(table)
        given = np.full(len(different), np.nan)
        try:
            # In order, and each part counted as it arrives: if a later one fails, the earlier ones have been answered.
            for start in range(0, len(different), self.max_rows):
                part = slice(start, start + self.max_rows)
                given[part] = yield different if len(different) <= self.max_rows else different[part]
                self._count(calls=1)
        finally:
            scores[:] = given if which is None else given[which]
            # Every query counts, also those that share a row with another: counts must not depend on the batch.
            self._count(queries=len(table) - int(np.isnan(scores).sum()))

    def _count(self, *, queries: int = 0, calls: int = 0) -> None:
        with self._lock:
            self.tally.queries += queries
            self.tally.rounds += calls
