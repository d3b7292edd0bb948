"""Answers that contradict the directions: turned into an error with the two rows, or noted by those who go on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flipset.answers.contradictions import contradictions
from flipset.errors import NotMonotone
from flipset.protocol import features_of, flips_of
from flipset.space.moves import in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flipset.answers.row_scores import RowScores
    from flipset.protocol import Flips
    from flipset.space import Space
    from flipset.space.moves import Cells, Moves

NOISE = 5e-5
"""Scores that differ by less, for a threshold of about 1, may differ because floats are added up in another order."""


@dataclass(slots=True)
class Blame:
    """What one row's answers said against the directions; `strict` makes the first such thing an error."""

    scores: RowScores
    moves: Moves
    space: Space
    cells: Sequence[Any]  # of the row explained
    strict: bool
    errors: list[NotMonotone] = field(default_factory=list)

    @property
    def row(self) -> dict[str, Any]:
        """The row explained, by name."""
        return dict(zip(self.space.names, self.cells, strict=True))

    def check(self) -> None:
        """Compare all rows that were asked about; what contradicts the directions is an error, or noted."""
        for error in self._all():
            self.take(error)

    def of_sets(self, smaller: Flips, larger: Flips) -> NotMonotone:
        """Return the error: the smaller set of units flips and the larger one does not."""
        turned = next(cells for cells in self.moves.rows(smaller) if self.scores.is_known_to_flip(cells))
        # As far as the row that is turned, with the further units at their best; those without a best stay.
        further = [self.moves.units[i] for i in features_of(larger & ~smaller)]
        stays = in_order(turned, *(unit.options[0].end for unit in further if unit.ordered))
        names = [frozenset(self.moves.names(flips)) for flips in (smaller, larger)]
        return NotMonotone(names[0], names[1], None, self._rows(turned, stays), self._noise(turned, stays))

    def of_sets_or_rows(self, error: NotMonotone) -> NotMonotone:
        """Return an error about rows for one about numbers of units; one that is about rows stays as it is."""
        if error.rows is not None:
            return error
        smaller, larger = (flips_of(features) for features in (error.smaller, error.larger))
        return self.of_sets(smaller, larger)

    def of_values(self, turned: Cells, stays: Cells) -> NotMonotone:
        """Return the error: with the first cells the decision changes, with the second, further ones, it does not."""
        names = self.space.names

        def told(cells: Cells) -> str:
            return ", ".join(f"{names[column]}={value!r}" for column, value in cells)

        what = f"with {told(turned)} the decision changes, with {told(stays)} it does not"
        moved = [frozenset(names[column] for column, _ in cells) for cells in (turned, stays)]
        return NotMonotone(moved[0], moved[1], what, self._rows(turned, stays), self._noise(turned, stays))

    def take(self, error: NotMonotone) -> None:
        """Raise the error, or note it where that is wanted; one without rows is replaced by one that has them."""
        if error.rows is None:
            error = next(self._all(), error)
        if self.strict:
            raise error
        if error.rows is None or error.rows not in [other.rows for other in self.errors]:
            self.errors.append(error)

    def _all(self) -> Iterator[NotMonotone]:
        """Yield an error for each pair of rows asked about that contradicts the directions."""
        turned: list[Cells] = []
        stays: list[Cells] = []
        for cells in self.scores.scores:
            (turned if self.scores.is_known_to_flip(cells) else stays).append(cells)
        given = self.space.features, self.cells, turned, stays
        for pair in contradictions(*given, raise_score=not self.scores.decision):
            yield self.of_values(*pair)

    def _rows(self, turned: Cells, stays: Cells) -> tuple[dict[str, Any], dict[str, Any]]:
        names = self.space.names
        one, other = (self.row | {names[column]: value for column, value in cells} for cells in (turned, stays))
        return one, other

    def _noise(self, turned: Cells, stays: Cells) -> str | None:
        """Say what may be wrong where two scores differ by so little that rounding may have done it."""
        scores, threshold = self.scores.scores, self.scores.threshold
        if turned not in scores or stays not in scores:
            return None
        apart = abs(scores[turned] - scores[stays])
        if not 0 < apart <= NOISE * max(1.0, abs(threshold)):
            return None
        return (
            f"the two scores differ by only {apart:.2g} around the threshold {threshold:.6g}, which may be rounding: a "
            "model can score a row slightly differently in another batch; round its scores, or move the threshold"
        )
