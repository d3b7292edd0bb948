"""The questions of many rows, asked together: one call of the model a round, split where it would be too large."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.errors import FlipsetError, OracleError
from flipset.flipsets import read_count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.moves import Cells
    from flipset.space.feature import Value

WIDTH = 256
"""Rows of a table that are under way at a time: enough for calls of a thousand rows; more only strain the caches."""

MAX_ROWS = 65_536
"""Rows that the model is given in one call."""


class TableOracle:
    """Answers for all rows under way; counts what it asks."""

    def __init__(self, ask: Callable[[Sequence[tuple[Sequence[Value], Cells]]], list[float]], max_rows: int) -> None:
        self.ask = ask
        self.max_rows = read_count("max_rows", max_rows)
        self.queries = 0
        self.rounds = 0

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
            self.rounds += 1
        self.queries += len(rows)
        return scores
