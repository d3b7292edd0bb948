"""What was asked about one row, and how much may still be asked: rows once each, as flows.

Rows are named by the cells in which they differ from the row explained; answers are scores. Whoever drives the flow
turns cells into rows of the model's own kind.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from flipset.errors import BudgetExhausted, Interrupted
from flipset.models.scores import margins
from flipset.plural import count
from flipset.protocol import ask, checkpoint
from flipset.sets.known import Known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.protocol import Flips, Flow
    from flipset.space.moves import Cells, Moves


class Asking:
    """The scores of rows around one row."""

    def __init__(self, threshold: float, *, max_queries: int | None = None, max_seconds: float | None = None) -> None:
        self.threshold = threshold
        self.scores: dict[Cells, float] = {}
        self.rounds = 0
        self._before = 0  # questions asked before that are not among the scores
        self.score, self.decision = math.nan, False  # of the row itself, once `begin` has asked
        self._most = max_queries
        self._seconds = max_seconds
        self._until: float | None = None
        self._interrupted = False
        self.was_cut = False  # a budget ran out, maybe with answers that nobody has looked at

    @property
    def is_limited(self) -> bool:
        """Whether a budget may end the search."""
        return self._most is not None or self._seconds is not None

    @property
    def queries(self) -> int:
        """How many rows were asked."""
        return self._before + len(self.scores)

    def take_over(self, scores: Mapping[Cells, float], queries: int, rounds: int, *, interrupted: bool) -> None:
        """Go on from what others asked: how much that was, and the scores that may be wanted again."""
        self.scores.update(scores)
        self.score = self.scores[()]
        self.decision = self.score >= self.threshold
        self._before = queries - len(scores)
        self.rounds = rounds
        self._interrupted = interrupted

    def begin(self) -> Flow[Cells, None]:
        """Ask about the row itself."""
        (self.score,) = yield from self.ask([()])
        self.decision = self.score >= self.threshold

    def ask(self, rows: Sequence[Cells]) -> Flow[Cells, list[float]]:
        """Return the score of each row; those not asked before are asked together, as far as the budget goes.

        Where there are none, this is a checkpoint: time may run out here too.
        """
        new = [cells for cells in dict.fromkeys(rows) if cells not in self.scores]
        try:
            self._check_time()
            if new:
                yield from self._put_affordable(new)
            else:
                yield from checkpoint()
        except BudgetExhausted:
            self.was_cut = True
            raise
        return [self.scores[cells] for cells in rows]

    def _put_affordable(self, rows: Sequence[Cells]) -> Flow[Cells, None]:
        left = len(rows) if self._most is None else self._most - len(self.scores)
        if affordable := rows[:left]:
            yield from self._put(affordable)
        if left < len(rows):
            raise BudgetExhausted(count(self._most or 0, "query"), Known())

    def _put(self, rows: Sequence[Cells]) -> Flow[Cells, None]:
        try:
            scores = yield from ask(rows)
        except KeyboardInterrupt:
            self._interrupted = True
            if not self.scores:
                raise  # nothing at all is known
            raise Interrupted(Known()) from None
        except BudgetExhausted as stop:
            told = zip(rows, stop.answers, strict=False)
            self.scores.update((cells, score) for cells, score in told if score is not None)
            raise
        self.scores.update(zip(rows, scores, strict=True))
        self.rounds += 1

    def pause(self) -> Flow[Cells, None]:
        """Ask nothing, but stop here if the time is over."""
        yield from self.ask(())

    def margins(self, rows: Sequence[Cells]) -> Flow[Cells, list[float]]:
        """Return how far each row is beyond the threshold, on the other side than the row explained."""
        return self.read((yield from self.ask(rows)))

    def signs(self, rows: Sequence[Cells]) -> Flow[Cells, list[float]]:
        """Return 1 for each row on the other side of the threshold than the row explained, -1 for the others."""
        scores = yield from self.ask(rows)
        return [1.0 if (score >= self.threshold) != self.decision else -1.0 for score in scores]

    def read(self, scores: Sequence[float]) -> list[float]:
        """Return how far scores are beyond the threshold, on the other side than the row explained."""
        return margins(scores, self.threshold, rise=not self.decision)

    def blocks(self, moves: Moves, batch: Sequence[Flips]) -> Flow[Cells, list[float]]:
        """Answer questions about sets: the best margin among the rows of each block."""
        blocks = [moves.rows(flips) for flips in batch]
        beyond = yield from self.margins([cells for block in blocks for cells in block])
        if len(beyond) == len(blocks):  # one row each, as where all features have an order
            return beyond
        left = iter(beyond)
        return [max(next(left) for _ in block) for block in blocks]

    def is_known_to_flip(self, cells: Cells) -> bool:
        """Say whether a row was asked and has the other decision."""
        return cells in self.scores and (self.scores[cells] >= self.threshold) != self.decision

    def _check_time(self) -> None:
        if self._interrupted:
            raise Interrupted(Known())
        if self._seconds is None:
            return
        now = time.monotonic()
        self._until = now + self._seconds if self._until is None else self._until
        if self.scores and now >= self._until:
            raise BudgetExhausted(f"{self._seconds:g} seconds", Known())
