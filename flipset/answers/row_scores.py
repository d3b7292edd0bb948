"""The scores of one row and of rows that differ from it in some cells.

Rows are named by the cells in which they differ from the row explained. Whoever drives the flow turns cells into rows
of the model's own kind. The layers around it see to it that no row is asked twice and that budgets are kept.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flipset.errors import BudgetExhausted
from flipset.models.scores import margins
from flipset.protocol import ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.protocol import Flips, Flow
    from flipset.space.moves import Cells, Moves


class RowScores:
    """What the model said to rows around one row, and what that means for the decision.

    Attributes
    ----------
    scores
        By cells; the memory of the layer that remembers. Answers that came before this flow began may be among them.
    score, decision
        Of the row itself, once `begin` or `take_over` has been called.
    was_cut
        Whether a budget ran out, maybe with answers that nobody has looked at.
    """

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.scores: dict[Cells, float] = {}
        self.score, self.decision = math.nan, False
        self.was_cut = False
        self._before = 0  # queries asked before that are not among the scores

    @property
    def queries(self) -> int:
        """How many rows were asked."""
        return self._before + len(self.scores)

    def take_over(self, scores: Mapping[Cells, float], queries: int) -> None:
        """Go on from the scores that are needed again, of so many rows that were asked in all."""
        self.scores.update(scores)
        self._before = queries - len(scores)
        self._read_decision()

    def begin(self) -> Flow[Cells, None]:
        """Ask about the row itself."""
        yield from self.ask([()])
        self._read_decision()

    def _read_decision(self) -> None:
        self.score = self.scores[()]
        self.decision = self.score >= self.threshold

    def ask(self, rows: Sequence[Cells]) -> Flow[Cells, Sequence[float]]:
        """Return the score of each row. Where there are none, this is a checkpoint."""
        try:
            return (yield from ask(rows))
        except BudgetExhausted:
            self.was_cut = True
            raise

    def pause(self) -> Flow[Cells, None]:
        """Ask nothing, but stop here if the time is over."""
        yield from self.ask(())

    def margins(self, rows: Sequence[Cells]) -> Flow[Cells, list[float]]:
        """Return how far each row is beyond the threshold, on the other side than the row explained."""
        return margins((yield from self.ask(rows)), self.threshold, rise=not self.decision)

    def signs(self, rows: Sequence[Cells]) -> Flow[Cells, list[float]]:
        """Return 1 for each row on the other side of the threshold than the row explained, -1 for the others."""
        scores = yield from self.ask(rows)
        return [1.0 if (score >= self.threshold) != self.decision else -1.0 for score in scores]

    def blocks(self, moves: Moves, batch: Sequence[Flips]) -> Flow[Cells, list[float]]:
        """Answer questions about sets: the best margin among the rows of each block."""
        blocks = [moves.rows(flips) for flips in batch]
        try:
            beyond = yield from self.margins([cells for block in blocks for cells in block])
        except BudgetExhausted as stop:
            stop.answers = self._about_sets([len(block) for block in blocks], stop.answers)
            raise
        if len(beyond) == len(blocks):  # one row each, as where all features have an order
            return beyond
        left = iter(beyond)
        return [max(next(left) for _ in block) for block in blocks]

    def _about_sets(self, sizes: Sequence[int], scores: Sequence[float | None]) -> list[float | None]:
        """Turn the scores of rows that arrived before a budget ended into answers about sets, None for the others.

        One row that flips is enough for a set to; that none of a block does is known when all its rows are answered.
        """
        if not scores:
            return []
        found: list[float | None] = []
        left = iter(scores)
        for size in sizes:
            block = [next(left) for _ in range(size)]
            arrived = [score for score in block if score is not None]
            beyond = max(margins(arrived, self.threshold, rise=not self.decision), default=-1.0)
            found.append(beyond if beyond >= 0 or len(arrived) == size else None)
        return found

    def is_known_to_flip(self, cells: Cells) -> bool:
        """Say whether a row was asked and has the other decision."""
        return cells in self.scores and (self.scores[cells] >= self.threshold) != self.decision
