"""Parts that the explanations of a table have in common, kept once.

Most explanations of a table name the same few sets of features, with the same grids, the same proof and the same best
values. `Shared` returns one object for equal parts, so that an explanation takes memory for its own values alone.

Invariants:

- A part is replaced by another only if both have the same values of the same types: 1, 1.0 and True stay apart.
- At most `KEPT` parts are held here. So a table whose rows have nothing in common does not take more memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from flipset.space.moves import Moves, Unit
from flipset.space.unit_options import Option
from flipset.space.words import Words

if TYPE_CHECKING:
    from collections.abc import Hashable

    from flipset.proof import Proof

Names = TypeVar("Names", tuple[str, ...], tuple[tuple[str, ...], ...])

Part = TypeVar("Part")

Text = TypeVar("Text", bound=str)

KEPT = 4_096
"""How many parts are held at a time."""


@dataclass(slots=True)
class Shared:
    """Parts of explanations by their values."""

    _parts: dict[Hashable, Any] = field(default_factory=dict)

    def names(self, names: Names) -> Names:
        """Return a set of names, or several."""
        return self._same(names, names)

    def proof(self, proof: Proof) -> Proof:
        """Return a proof."""
        # 1 and 1.0 are equal as weights, but are written differently.
        key = proof if proof.weights is None else (proof, *map(type, proof.weights))
        return self._same(key, proof)

    def equal(self, part: Part) -> Part:
        """Return a part whose own equality tells all its values apart, such as a record of texts."""
        return self._same((type(part), part), part)

    def words(self, words: Words) -> Words:
        """Return the words of a space."""
        # Thresholds of 1 and 1.0, or of 0.0 and -0.0, are equal, but are written differently.
        key = Words, words.decision, repr(words.decision.threshold), *words.features.items()
        return self._same(key, words)

    def texts(self, texts: dict[str, Text]) -> dict[str, Text]:
        """Return texts by name. The result belongs to many explanations: it must not be changed."""
        key = dict, *texts.items()
        return self._same(key, texts)

    def moves(self, moves: Moves) -> Moves:
        """Return moves without their paths.

        A path begins at the row's own value and lists hundreds of others. Where it ends is the same for most rows, and
        an explanation needs no more.
        """
        key = Moves, moves.held_fixed, moves.held_because, *[unit.key for unit in moves.units]
        kept: Moves | None = self._parts.get(key)
        if kept is None:
            units = tuple(self._unit(unit) for unit in moves.units)
            kept = self._keep(key, Moves(units, self.names(moves.held_fixed), moves.held_because))
        return kept

    def _unit(self, unit: Unit) -> Unit:
        # Rows differ in which units can move, so a unit is part of more than one `Moves`.
        key = Unit, *unit.key
        options = tuple(Option(cells=option.end) for option in unit.options)
        return self._same(key, Unit(unit.name, unit.columns, options, unit.ordered, unit.weight))

    def _same(self, key: Hashable, part: Part) -> Part:
        kept: Part | None = self._parts.get(key)
        return self._keep(key, part) if kept is None else kept

    def _keep(self, key: Hashable, part: Part) -> Part:
        # All at once: the parts that are common come back with the next rows.
        if len(self._parts) >= KEPT:
            self._parts.clear()
        self._parts[key] = part
        return part
