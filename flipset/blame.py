"""Answers that contradict the directions: turned into an error with the two rows, or noted by those who go on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flipset.errors import NotMonotone
from flipset.moves import in_order
from flipset.protocol import features_of

if TYPE_CHECKING:
    from flipset.asking import Asking
    from flipset.moves import Cells, Moves
    from flipset.protocol import Flips


@dataclass(slots=True)
class Blame:
    """What one row's answers said against the directions; `strict` makes the first such thing an error."""

    asking: Asking
    moves: Moves
    row: dict[str, Any]
    strict: bool
    errors: list[NotMonotone] = field(default_factory=list)

    def of_sets(self, smaller: Flips, larger: Flips) -> NotMonotone:
        """Return the error: the smaller set of units flips and the larger one does not."""
        turned = next(cells for cells in self.moves.rows(smaller) if self.asking.is_known_to_flip(cells))
        # As far as the row that is turned, with the further units at their best; those without a best stay.
        further = [self.moves.units[i] for i in features_of(larger & ~smaller)]
        stays = in_order(turned, *(unit.options[0].end for unit in further if unit.ordered))
        names = [frozenset(self.moves.names(flips)) for flips in (smaller, larger)]
        return NotMonotone(names[0], names[1], rows=(self._row(turned), self._row(stays)))

    def of_values(self, columns: dict[int, str], turned: Cells, stays: Cells) -> NotMonotone:
        """Return the error: with the first cells the decision changes, with the second, further ones, it does not."""

        def told(cells: Cells) -> str:
            return ", ".join(f"{columns[column]}={value!r}" for column, value in cells if column in columns)

        what = f"with {told(turned)} the decision changes, with {told(stays)} it does not"
        names = [frozenset(columns[column] for column, _ in cells if column in columns) for cells in (turned, stays)]
        return NotMonotone(names[0], names[1], what, (self._row(turned), self._row(stays)))

    def take(self, error: NotMonotone) -> None:
        """Raise the error, or note it where that is wanted."""
        if self.strict:
            raise error
        if str(error) not in map(str, self.errors):
            self.errors.append(error)

    def _row(self, cells: Cells) -> dict[str, Any]:
        names = list(self.row)
        return self.row | {names[column]: value for column, value in cells}
