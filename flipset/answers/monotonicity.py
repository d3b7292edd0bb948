"""The check that the answers about one row agree with the declared directions.

Explanations are proved only for a model that follows the directions of the space. `MonotonicityCheck` builds a
`NotMonotone` error for each contradiction, always with the two rows that show it, so that anybody can score them again.
With `strict`, the first contradiction is raised. Otherwise it is recorded, and the explanation is marked "unproved".
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flipset.answers.contradictions import MOST, contradictions
from flipset.answers.order import NOISE, is_clearly_out_of_order
from flipset.errors import BudgetExhausted, NotMonotone
from flipset.protocol import Done, advance, checkpoint, compute, features_of, flips_of, is_checkpoint
from flipset.space.unit_options import in_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.answers.row_scores import RowScores
    from flipset.protocol import Flips, Flow
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.moves import Moves


@dataclass(slots=True)
class MonotonicityCheck:
    """What the answers about one row say against the directions.

    Attributes
    ----------
    scores
        The answers.
    moves, space, cells
        What may change in the row, the space, and the row's own cells.
    strict
        Whether the first contradiction is raised as an error.
    errors
        The contradictions recorded so far.
    """

    scores: RowScores
    moves: Moves
    space: Space
    cells: Sequence[Any]
    strict: bool
    errors: list[NotMonotone] = field(default_factory=list)

    @property
    def row(self) -> dict[str, Any]:
        """The row explained, by name."""
        return dict(zip(self.space.names, self.cells, strict=True))

    def check(self) -> Flow[Any, None]:
        """Compare all rows that were scored; raise or record every contradiction.

        This is a flow that asks nothing. A budget that is spent does not end it: without the check, a result might rest
        on answers that contradict each other.
        """
        comparison = self._pairs()
        step = advance(comparison)
        while is_checkpoint(step):
            with suppress(BudgetExhausted):
                yield from checkpoint()
            step = advance(comparison, ())
        assert isinstance(step, Done), "comparing rows asks nothing"
        for pair in step.result:
            self.raise_or_record(self.error_for_values(*pair))

    def error_for_sets(self, smaller: Flips, larger: Flips) -> NotMonotone:
        """Return the error that a smaller set of units flips and a larger one does not."""
        # The row that stays has the same cells as the one that flips, and the other ordered units at their best. A
        # unit without an order has no best value: it keeps its own, which is one of the rows of the larger set.
        further = [self.moves.units[i] for i in features_of(larger & ~smaller)]
        pairs = [
            (flipping, staying)
            for choice in self.moves.choices(smaller)
            for flipping in self.scores.flipping(choice)
            for staying in self.scores.becomes(
                in_order(choice, *(unit.options[0].end for unit in further if unit.ordered))
            )
        ]
        # Of several rows that stay, one is beyond the row that flips.
        flipping, staying = next((pair for pair in pairs if self._is_beyond(*pair)), pairs[0])
        names = [frozenset(self.moves.names(flips)) for flips in (smaller, larger)]
        return NotMonotone(names[0], names[1], None, self._rows(flipping, staying), self._noise(flipping, staying))

    def _is_beyond(self, cells: Cells, further: Cells) -> bool:
        """Say whether some cells are at least as far as others in every column."""
        features = self.space.features
        pair = compute(
            contradictions(features, self.cells, [cells], [further], raise_score=not self.scores.decision, most=1)
        )
        return bool(pair)

    def about_rows(self, error: NotMonotone) -> NotMonotone:
        """Return an error with rows for one that names units by number; one that has rows is returned as it is."""
        if error.rows is not None:
            return error
        smaller, larger = (flips_of(features) for features in (error.smaller, error.larger))
        return self.error_for_sets(smaller, larger)

    def error_for_values(self, flipping: Cells, staying: Cells) -> NotMonotone:
        """Return the error that one row flips, and one that is at least as far does not."""
        names = self.space.names

        def listed(cells: Cells) -> str:
            return ", ".join(f"{names[column]}={value!r}" for column, value in cells)

        what = f"with {listed(flipping)} the decision changes, with {listed(staying)} it does not"
        moved = [frozenset(names[column] for column, _ in cells) for cells in (flipping, staying)]
        return NotMonotone(moved[0], moved[1], what, self._rows(flipping, staying), self._noise(flipping, staying))

    def check_best_values(self, scored: Mapping[Cells, float]) -> None:
        """Raise or record that the score gets worse where ordered features move to their best allowed values.

        This is free: where nothing flips, the search has scored the row with all of them at their best, or, with a
        limit on the number of changes, each of them alone. A model with reversed directions shows itself here. Without
        this check it would look like one that no change can flip.
        """
        ends = {unit.name: unit.options[0].end for unit in self.moves.units if unit.ordered}
        candidates: dict[tuple[str, ...], Cells] = {tuple(ends): in_order(*ends.values())}
        candidates |= {(name,): end for name, end in ends.items()}
        for names, wanted in candidates.items():
            becomes = self.scores.becomes(wanted)
            if len(becomes) != 1 or becomes[0] not in scored:
                continue
            cells = becomes[0]
            pair = (scored[cells], self.scores.score) if self.scores.decision else (self.scores.score, scored[cells])
            if is_clearly_out_of_order(*pair, self.scores.threshold):
                self.raise_or_record(self._error_for_best(names, cells, scored[cells]))
                return

    def _error_for_best(self, names: Sequence[str], cells: Cells, score: float) -> NotMonotone:
        """Return the error that features at their best allowed values make the score worse."""
        moved = f"{names[0]!r} at its best allowed value"
        if len(names) > 1:
            some = "both" if len(names) == 2 else f"all {len(names):,}"
            moved = f"{some} features that may move at their best allowed values"
        wanted = "falls" if not self.scores.decision else "rises"
        what = f"with {moved}, the score {wanted} from {self.scores.score:.6g} to {score:.6g}"
        advice = "the directions look reversed, or the other class was meant"
        return NotMonotone(frozenset(), frozenset(names), what, self._rows((), cells), advice)

    def raise_or_record(self, error: NotMonotone) -> None:
        """Raise an error if the check is strict; record it otherwise."""
        # An error without rows is of no use to its reader: report a pair of rows instead, if one was scored.
        if error.rows is None:
            error = next((self.error_for_values(*pair) for pair in compute(self._pairs())), error)
        if self.strict:
            raise error
        if error.rows is None or error.rows not in [other.rows for other in self.errors]:
            self.errors.append(error)

    def _pairs(self) -> Flow[Any, list[tuple[Cells, Cells]]]:
        """Find pairs of scored rows that contradict the directions; one is enough where it is raised."""
        flipping: list[Cells] = []
        staying: list[Cells] = []
        for cells in self.scores.scores:
            (flipping if self.scores.is_known_to_flip(cells) else staying).append(cells)
        given = self.space.features, self.cells, flipping, staying
        most = 1 if self.strict else MOST
        return contradictions(*given, raise_score=not self.scores.decision, most=most)

    def _rows(self, flipping: Cells, staying: Cells) -> tuple[dict[str, Any], dict[str, Any]]:
        one, other = (self.row | self._told(cells) for cells in (flipping, staying))
        return one, other

    def _told(self, cells: Cells) -> dict[str, Any]:
        """Return cells by name, as the model sees them."""
        computed = self.space.computed
        whole = cells if computed is None else computed.complete(self.cells, cells)
        return {self.space.names[column]: value for column, value in whole}

    def _noise(self, flipping: Cells, staying: Cells) -> str | None:
        """Return a hint where two scores differ by so little that rounding may be the cause."""
        scores, threshold = self.scores.scores, self.scores.threshold
        if flipping not in scores or staying not in scores:
            return None
        apart = abs(scores[flipping] - scores[staying])
        if not 0 < apart <= NOISE * max(1.0, abs(threshold)):
            return None
        return (
            f"the two scores differ by only {apart:.2g} around the threshold {threshold:.6g}, which may be rounding: a "
            "model can score a row slightly differently in another batch; round its scores, or move the threshold"
        )
