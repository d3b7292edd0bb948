"""Many rows explained together: one call of the model a round, split where it would be too large."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flipset.drivers import lockstep
from flipset.errors import FlipsetError, OracleError
from flipset.explaining import explaining, may_scout
from flipset.layers import Tally
from flipset.scores import scores_in_parts
from flipset.scouting import scouting
from flipset.workers import in_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from flipset.explaining import Request
    from flipset.explanation import Explanation
    from flipset.moves import Cells
    from flipset.rows import Row
    from flipset.scouting import Scouted
    from flipset.space import Space
    from flipset.space.feature import Value

WIDTH = 256
"""Rows of a table that are under way at a time: enough for calls of a thousand rows; more only strain the caches."""

MAX_ROWS = 65_536
"""Rows that the model is given in one call."""

PATIENCE = 50_000
"""New objects between two looks for garbage: by far the most are dropped by themselves, and each look takes time."""

PIECES = 4
"""Pieces of a table for each worker: some take longer than others."""


class TableOracle:
    """Answers for all rows under way; counts what it asks."""

    def __init__(
        self, ask: Callable[[Sequence[tuple[Sequence[Value], Cells]]], list[float]], max_rows: int, tally: Tally
    ) -> None:
        self.ask = ask
        self.max_rows = max_rows
        self.tally = tally

    def __call__(
        self, waiting: Sequence[tuple[Sequence[Value], Sequence[Cells]]]
    ) -> list[Sequence[float] | FlipsetError]:
        """Ask the batches of all rows; where the model fails, find out on which rows."""
        try:
            scores = self._ask_all([(row, cells) for row, batch in waiting for cells in batch])
        except OracleError as error:
            if len(waiting) == 1:
                return [error]
            half = len(waiting) // 2
            return [*self(waiting[:half]), *self(waiting[half:])]
        parts: list[Sequence[float] | FlipsetError] = []
        start = 0
        for _, batch in waiting:
            parts.append(scores[start : start + len(batch)])
            start += len(batch)
        return parts

    def _ask_all(self, rows: Sequence[tuple[Sequence[Value], Cells]]) -> list[float]:
        scores: list[float] = []
        for start in range(0, len(rows), self.max_rows):
            scores += self.ask(rows[start : start + self.max_rows])
            self.tally.rounds += 1
        self.tally.queries += len(rows)
        return scores


@contextmanager
def _patient_collector() -> Iterator[None]:
    """Let Python look for cyclic garbage less often: a fifth of the time otherwise goes into finding none."""
    before = gc.get_threshold()
    gc.set_threshold(max(PATIENCE, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@dataclass(frozen=True, slots=True)
class Piecework:
    """How the rows of a table are explained, wherever that is done."""

    ask: Callable[[Sequence[tuple[Sequence[Value], Cells]]], list[float]]
    score: Callable[[Any], NDArray[np.float64]]
    space: Space
    threshold: float
    cost: Any
    request: Request
    width: int
    max_rows: int

    def all(self, rows: Sequence[Row], workers: int, tally: Tally) -> Iterator[tuple[Row, Explanation | FlipsetError]]:
        """Explain different rows, here or in other processes; yield each with its result as soon as that is there."""
        if workers == 1 or len(rows) < 2:
            yield from self.here(rows, tally)
            return
        size = max(1, min(self.width, len(rows) // (PIECES * workers)))
        pieces = [rows[start : start + size] for start in range(0, len(rows), size)]
        for i, (results, part) in in_processes(self.piece, pieces, workers):
            tally.queries += part.queries
            tally.rounds += part.rounds
            yield from zip(pieces[i], results, strict=True)

    def here(self, rows: Sequence[Row], tally: Tally) -> Iterator[tuple[Row, Explanation | FlipsetError]]:
        """Explain different rows in lock-step."""
        oracle = TableOracle(self.ask, self.max_rows, tally)
        given = self.threshold, self.cost, self.request
        flows = (
            (row, explaining(self.space, row, *given, alone=False, scouted=scouted))
            for row, scouted in self._scouted(rows, tally)
        )
        with _patient_collector():
            yield from lockstep(flows, oracle, width=self.width)

    def _scouted(self, rows: Sequence[Row], tally: Tally) -> Iterator[tuple[Row, Scouted | None]]:
        """Yield each row with what is found out about it among others."""
        if not may_scout(self.space, self.request):
            yield from ((row, None) for row in rows)
            return
        yield from self._scouting(rows, tally, alone=False)

    def scout_alone(self, row: Row) -> Scouted | None:
        """Find out about one row by itself what would be found out about it among others."""
        if not may_scout(self.space, self.request):
            return None
        ((_, scouted),) = self._scouting([row], Tally(), alone=True)
        return scouted

    def _scouting(self, rows: Sequence[Row], tally: Tally, *, alone: bool) -> Iterator[tuple[Row, Scouted | None]]:
        def ask(table: Any) -> NDArray[np.float64]:
            scores, calls = scores_in_parts(self.score, table, self.max_rows)
            tally.queries += len(table)
            tally.rounds += calls
            return scores

        given = self.space, rows, self.threshold, ask
        request = self.request
        return scouting(*given, places=self.width, batch=request.batch, reasons=request.reasons, alone=alone)

    def piece(self, rows: Sequence[Row]) -> tuple[list[Explanation | FlipsetError], Tally]:
        """Explain some rows and say what that took: what a worker does."""
        tally = Tally()
        results = dict(self.here(rows, tally))
        return [results[row] for row in rows], tally
