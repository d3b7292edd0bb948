"""What a proof rests on: why the model is taken to be monotone, and which model, space and table it is about.

A proof is complete given that the score follows the declared directions. That condition is the weakest link, so every
explanation names it, feature by feature.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from flipset.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flipset.space.moves import Moves

Basis: TypeAlias = Literal["proved", "declared", "audited", "assumed"]
"""Why the score is taken to follow the direction of a feature.

- "proved": shown from the model's own trees or coefficients, without sampling.
- "declared": the model was fitted with this constraint, and its library is trusted to have kept it.
- "audited": pairs of rows were compared, and none was in the wrong order.
- "assumed": taken on trust.
"""

BASES: tuple[Basis, ...] = get_args(Basis)
"""All of them, the strongest first."""


def weakest(bases: Iterable[Basis]) -> Basis | None:
    """Return the weakest basis of several; None if there are none.

    Examples
    --------
    >>> weakest(["proved", "audited", "declared"])
    'audited'
    """
    return max(bases, key=BASES.index, default=None)


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """What identifies the model, the space and the table that an explanation is about, and the version that made it.

    Attributes
    ----------
    model
        A hash of the model's file or of its content, or the name and version of an endpoint; None if nothing tells the
        model from others, as for a Python function.
    space
        A hash of the space, with the bounds and the features held fixed for the row.
    reference
        A hash of the reference table; None if there is none.
    flipset
        The version of flipset. There is no time of day: the same run writes the same file.
    """

    model: str | None = None
    space: str | None = None
    reference: str | None = None
    flipset: str | None = None


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the answers of an explainer rest on.

    Attributes
    ----------
    monotonicity
        The basis of each column that may move. One without a direction is "proved": all its options are tried, so
        nothing is taken for granted. One that is not listed is "assumed".
    audited_pairs
        How many pairs of rows an audit compared; None if there was none.
    contradicted
        The columns whose directions two rows contradict.
    fingerprints
        What identifies the model, the space and the table.
    """

    monotonicity: Mapping[str, Basis] = field(default_factory=dict)
    audited_pairs: int | None = None
    contradicted: frozenset[str] = frozenset()
    fingerprints: Fingerprints = field(default_factory=lambda: Fingerprints(flipset=__version__))

    def basis(self, moves: Moves, names: Sequence[str]) -> dict[str, Basis]:
        """Return the basis of each unit that could move; that of a group is the weakest of its columns."""
        # Nearly all units are one column, and this is done for every row: such a unit is looked up at once.
        known = self.monotonicity
        return {
            unit.name: known.get(names[unit.columns[0]], "assumed")
            if len(unit.columns) == 1
            else self._of_columns([names[i] for i in unit.columns])
            for unit in moves.units
        }

    def contradicted_units(self, moves: Moves, names: Sequence[str]) -> tuple[str, ...]:
        """Return the units that could move and whose directions the model is known not to follow."""
        if not self.contradicted:
            return ()
        return tuple(
            unit.name for unit in moves.units if not self.contradicted.isdisjoint(names[i] for i in unit.columns)
        )

    def _of_columns(self, columns: Sequence[str]) -> Basis:
        return weakest(self.monotonicity.get(column, "assumed") for column in columns) or "assumed"
