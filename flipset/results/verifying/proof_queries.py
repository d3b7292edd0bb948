"""The queries of a proof, asked again: every zero and every one, in calls of a limited size.

Verification compares the answers with the proof; a recheck against another model reports which of them changed. Both
ask through `ask_proof`, so there is one place that replays a proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from flipset.boundary.limits import CELLS_AT_ONCE, MOST_QUERIED, MOST_QUERIED_CELLS
from flipset.errors import NotDecided
from flipset.protocol import ask, features_of
from flipset.results.verification import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flipset.boundary.step_budget import StepBudget
    from flipset.protocol import Flips, Flow
    from flipset.results.data import ExplanationData
    from flipset.space.cells import Cells
    from flipset.space.moves import Moves

ROWS_AT_ONCE = 10_000
"""The most rows in one call of the model; fewer where rows are wide, so that a call has at most `CELLS_AT_ONCE`."""


class Asked:
    """Asks rows, each once, in calls of a limited size.

    A counterfactual may also be a row of the proof, and with options the rows of one query may be among those of
    another. So scores are kept, but no more than `CELLS_AT_ONCE` cells of rows: beyond that, a row may be asked again.

    Attributes
    ----------
    queries, rounds
        How many rows were asked, in how many calls.
    """

    def __init__(self, columns: int, budget: StepBudget) -> None:
        self.queries = self.rounds = 0
        self._rows_at_once = max(1, min(ROWS_AT_ONCE, CELLS_AT_ONCE // columns))
        self._budget = budget
        self._kept: dict[Cells, float] = {}
        self._room = int(CELLS_AT_ONCE)

    def scores(self, rows: Sequence[Cells]) -> Flow[Cells, dict[Cells, float]]:
        """Return the score of each row."""
        scores = {cells: self._kept[cells] for cells in rows if cells in self._kept}
        new = list(dict.fromkeys(cells for cells in rows if cells not in scores))
        for start in range(0, len(new), self._rows_at_once):
            part = new[start : start + self._rows_at_once]
            self._budget.spend(len(part))
            self._budget.look()  # a call of the model may take long
            answers = yield from ask(part)
            self.queries, self.rounds = self.queries + len(part), self.rounds + 1
            for cells, score in zip(part, answers, strict=True):
                scores[cells] = score
                self._room -= 1 + len(cells)
                if self._room > 0:
                    self._kept[cells] = score
        return scores


class Asks(Protocol):
    """Asks rows, as `Asked` does."""

    def scores(self, rows: Sequence[Cells]) -> Flow[Cells, dict[Cells, float]]:
        """Return the score of each row."""


def ask_proof(
    e: ExplanationData, moves: Moves, threshold: float, asked: Asks, report: Callable[[Answer], None]
) -> Flow[Cells, None]:
    """Query every zero and every one of the proof, in parts; pass each answer to `report`, zeros first.

    A set flips if some row of its query is on the other side of `threshold` than the decision of the explanation.
    """
    facts = [*((zero, False) for zero in e.proof.zeros), *((one, True) for one in e.proof.ones)]
    yield from ask_sets(facts, e, moves, threshold, asked, report)


def ask_sets(
    facts: Sequence[tuple[Flips, bool]],
    e: ExplanationData,
    moves: Moves,
    threshold: float,
    asked: Asks,
    report: Callable[[Answer], None],
) -> Flow[Cells, None]:
    """Query sets, each of which is expected to flip or not to, in parts; pass each answer to `report`."""
    sizes = [_size(moves, flips) for flips, _ in facts]
    cells = [rows * width for rows, width in sizes]
    if sum(rows for rows, _ in sizes) > MOST_QUERIED or sum(cells) > MOST_QUERIED_CELLS:
        limits = f"{MOST_QUERIED:,} rows or {MOST_QUERIED_CELLS:,} cells"
        raise NotDecided(f"its queries have more than {limits}")
    if max(cells, default=0) > CELLS_AT_ONCE:
        raise NotDecided(f"one of its queries has more than {CELLS_AT_ONCE:,} cells")
    for part in _parts(facts, cells):
        blocks = [moves.rows(flips) for flips, _ in part]
        scores = yield from asked.scores([cells for block in blocks for cells in block])
        for (flips, expected), block in zip(part, blocks, strict=True):
            block_scores = [scores[cells] for cells in block]
            flipping = next((score for score in block_scores if (score >= threshold) != e.decision), None)
            # Where constraints allow no row of a query, it cannot flip: what is left is the row itself.
            score = next(iter(block_scores), e.score) if flipping is None else flipping
            report(Answer(moves.names(flips), expected, flipping is not None, score))


def _size(moves: Moves, flips: Flips) -> tuple[int, int]:
    """Return the number of rows of a query, which `check_block` has bounded, and of the cells that change in each."""
    if moves.ends is not None:
        return 1, flips.bit_count()
    if moves.rules is not None:
        found = moves.rows(flips)
        return len(found), max(1, *map(len, found)) if found else 1
    rows, width = 1, 0
    for i in features_of(flips):
        rows *= moves.units[i].block
        width += len(moves.units[i].columns)
    return rows, max(1, width)


def _parts(facts: Sequence[tuple[Flips, bool]], cells: Sequence[int]) -> Iterator[list[tuple[Flips, bool]]]:
    """Split queries into parts of at most `CELLS_AT_ONCE` cells and `ROWS_AT_ONCE` queries."""
    part: list[tuple[Flips, bool]] = []
    total = 0
    for fact, size in zip(facts, cells, strict=True):
        if part and (total + size > CELLS_AT_ONCE or len(part) == ROWS_AT_ONCE):
            yield part
            part, total = [], 0
        part.append(fact)
        total += size
    if part:
        yield part
