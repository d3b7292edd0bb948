"""The model of one explanation: what it was asked, what it said, and how much may still be asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import BudgetExhausted, InputError
from flipset.known import Known
from flipset.rows import make_table
from flipset.scores import margins, read_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.moves import Cells, Moves
    from flipset.protocol import Flips
    from flipset.space import Space
    from flipset.space.feature import Value


class Asking:
    """Rows around one row, asked once each. Rows are named by the cells in which they differ from it."""

    def __init__(
        self,
        predict: Callable[[Any], Any],
        space: Space,
        row: Sequence[Value],
        threshold: float,
        *,
        max_queries: int | None = None,
        max_seconds: float | None = None,
    ) -> None:
        if max_queries == 0:
            raise InputError("max_queries must be at least 1: the first question is about the row itself")
        self.predict = predict
        self.space = space
        self.row = row
        self.threshold = threshold
        self.scores: dict[Cells, float] = {}
        self.rounds = 0
        self._most = max_queries
        self._seconds = max_seconds
        self._until = None if max_seconds is None else time.monotonic() + max_seconds
        self.score = self.ask([()])[0]
        self.decision = self.score >= threshold

    def ask(self, rows: Sequence[Cells]) -> list[float]:
        """Return the score of each row; those not asked before are asked together, as far as the budget goes."""
        new = [cells for cells in dict.fromkeys(rows) if cells not in self.scores]
        if new:
            self._check_time()
            left = len(new) if self._most is None else self._most - len(self.scores)
            if affordable := new[:left]:
                scores = read_scores(self.predict, make_table(self.space, self.row, affordable))
                self.scores.update(zip(affordable, scores.tolist(), strict=True))
                self.rounds += 1
            if left < len(new):
                raise BudgetExhausted(f"{self._most:,} queries", Known())
        return [self.scores[cells] for cells in rows]

    def margins(self, rows: Sequence[Cells]) -> list[float]:
        """Return how far each row is beyond the threshold, on the other side than the row explained."""
        return margins(np.array(self.ask(rows)), self.threshold, rise=not self.decision)

    def blocks(self, moves: Moves, batch: Sequence[Flips]) -> list[float]:
        """Answer questions about sets: the best margin among the rows of each block."""
        blocks = [moves.rows(flips) for flips in batch]
        beyond = iter(self.margins([cells for block in blocks for cells in block]))
        return [max(next(beyond) for _ in block) for block in blocks]

    def is_known_to_flip(self, cells: Cells) -> bool:
        """Say whether a row was asked and has the other decision."""
        return cells in self.scores and (self.scores[cells] >= self.threshold) != self.decision

    def _check_time(self) -> None:
        if self._until is not None and self.scores and time.monotonic() >= self._until:
            raise BudgetExhausted(f"{self._seconds:g} seconds", Known())
