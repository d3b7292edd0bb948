"""The scores of one row, and of rows that differ from it in some cells.

A row is identified by the cells in which it differs from the row explained. The driver of the flow turns cells into
rows of the model's own kind. The layers around the flow keep to the budgets and score no row twice.

Searches ask about cells as they want them. Where constraints between columns do not allow these together, the model is
asked about the highest rows that are allowed, and the best of their scores is the answer. This is the only place where
that happens, so searches need not know about constraints.
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
    from flipset.space.cells import Cells
    from flipset.space.moves import Moves
    from flipset.space.row_rules import RowRules


class RowScores:
    """The scores of one row and of its changes, and what they mean for the decision.

    Attributes
    ----------
    scores
        The scores by cells. The `remember` layer keeps its answers here; some may be older than this flow.
    score, decision
        Those of the row itself, once `begin` or `take_over` has been called.
    was_cut
        Whether a budget ran out. There may be answers then that no search has looked at.
    rules
        The constraints between columns, once they are known; None where there are none.
    """

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.scores: dict[Cells, float] = {}
        self.score, self.decision = math.nan, False
        self.was_cut = False
        self.rules: RowRules | None = None
        self._before = 0  # earlier queries whose scores are not kept here

    @property
    def queries(self) -> int:
        """The number of queries, earlier ones included."""
        return self._before + len(self.scores)

    def take_over(self, scores: Mapping[Cells, float], queries: int) -> None:
        """Continue from an earlier search: the scores that are needed again, and how many queries it made in all."""
        self.scores.update(scores)
        self._before = queries - len(self.scores)
        self._read_decision()

    def begin(self) -> Flow[Cells, None]:
        """Query the row itself."""
        yield from self.ask([()])
        self._read_decision()

    def _read_decision(self) -> None:
        self.score = self.scores[()]
        self.decision = self.score >= self.threshold

    def ask(self, rows: Sequence[Cells]) -> Flow[Cells, Sequence[float]]:
        """Return the score of each row, or of what becomes of it. Without rows, this is a checkpoint."""
        if self.rules is None or not rows:
            return (yield from self._ask(rows))
        blocks = [self.rules.rows(cells) for cells in rows]
        asked = list(dict.fromkeys(cells for block in blocks for cells in block))
        try:
            scores = dict(zip(asked, (yield from self._ask(asked)), strict=True))
        except BudgetExhausted as stop:
            arrived = dict(zip(asked, stop.answers, strict=True)) if stop.answers else {}
            stop.answers = [self._best_arrived([arrived.get(cells) for cells in block]) for block in blocks]
            raise
        return [self._best([scores[cells] for cells in block]) for block in blocks]

    def _ask(self, rows: Sequence[Cells]) -> Flow[Cells, Sequence[float]]:
        try:
            return (yield from ask(rows))
        except BudgetExhausted:
            self.was_cut = True
            raise

    def _best(self, scores: Sequence[float]) -> float:
        """Return the best of some scores. Where no row is allowed, nothing flips: that is the score of the row."""
        return (min if self.decision else max)(scores, default=self.score)

    def _best_arrived(self, scores: Sequence[float | None]) -> float | None:
        """Return the best of the scores that arrived before a budget ended; None if it depends on the others."""
        arrived = [score for score in scores if score is not None]
        best = self._best(arrived)
        return best if len(arrived) == len(scores) or self.flips(best) else None

    def pause(self) -> Flow[Cells, None]:
        """Make no query, but stop here if the time is over."""
        yield from self.ask(())

    def margins(self, rows: Sequence[Cells]) -> Flow[Cells, list[float]]:
        """Return how far each row lies beyond the threshold, as seen from the row explained."""
        return margins((yield from self.ask(rows)), self.threshold, rise=not self.decision)

    def signs(self, rows: Sequence[Cells]) -> Flow[Cells, list[float]]:
        """Return 1 for each row that flips the decision, and -1 for the others."""
        scores = yield from self.ask(rows)
        return [1.0 if self.flips(score) else -1.0 for score in scores]

    def blocks(self, moves: Moves, batch: Sequence[Flips]) -> Flow[Cells, list[float]]:
        """Return the margin of each set of units: the best one among the rows of its block."""
        blocks = [moves.choices(flips) for flips in batch]
        try:
            beyond = yield from self.margins([cells for block in blocks for cells in block])
        except BudgetExhausted as stop:
            stop.answers = self._about_sets([len(block) for block in blocks], stop.answers)
            raise
        if len(beyond) == len(blocks):  # one row for each set, as always where all features have an order
            return beyond
        # A set flips if some row of its block does, so its margin is the best one.
        left = iter(beyond)
        return [max(next(left) for _ in block) for block in blocks]

    def _about_sets(self, sizes: Sequence[int], scores: Sequence[float | None]) -> list[float | None]:
        """Turn the scores of rows that arrived before a budget ended into answers about sets, None for the others.

        One row that flips is enough for a set to; that none of a block does is known when all its rows are answered.
        """
        if not scores:
            return []
        left = iter(scores)
        best = [self._best_arrived([next(left) for _ in range(size)]) for size in sizes]
        return [None if one is None else margins([one], self.threshold, rise=not self.decision)[0] for one in best]

    def becomes(self, cells: Cells) -> tuple[Cells, ...]:
        """Return what becomes of some cells under the constraints: one row, several, or none."""
        return (cells,) if self.rules is None else self.rules.rows(cells)

    def flipping(self, cells: Cells) -> list[Cells]:
        """Return which rows that some cells become are known to flip the decision."""
        return [one for one in self.becomes(cells) if one in self.scores and self.flips(self.scores[one])]

    def is_known_to_flip(self, cells: Cells) -> bool:
        """Say whether a row was scored and flips the decision."""
        return bool(self.flipping(cells))

    def flips(self, score: float) -> bool:
        """Say whether a score means the other decision."""
        return (score >= self.threshold) != self.decision
