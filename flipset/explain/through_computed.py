"""What computed columns mean for directions: a column that moves also moves those that are computed from it.

A model is asked about the row with all computed columns as they then are. So the score follows the direction of a
column only if it also follows that of every column computed from it. For a sum of columns this is a question about the
model: is it monotone in the computed column as well? For other formulas, such as a ratio, it is not answered here: the
direction is audited, or taken on trust.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flipset.space.computed_columns import linear_sums
from flipset.space.expressions.syntax import Column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.results.basis import Basis
    from flipset.space.computed_columns import ComputedColumns

TRUST: Basis = "assumed"


@dataclass(frozen=True, slots=True)
class Through:
    """The computed columns through which columns act on the score.

    Attributes
    ----------
    directions
        The computed columns that are sums, with the directions in which all columns that move them move them.
    moved
        For each column that moves, the computed columns that it moves.
    """

    directions: Mapping[str, int] = field(default_factory=dict)
    moved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def limits(self, known: Mapping[str, Basis]) -> dict[str, tuple[Basis, str]]:
        """Return the strongest basis that a column can have, and why it is no stronger.

        `known` has what is known about the columns and about those in `directions`.
        """
        found: dict[str, tuple[Basis, str]] = {}
        for name, columns in self.moved.items():
            for column in columns:
                basis = known[column] if column in self.directions else TRUST
                if basis != "proved" and (name not in found or basis == TRUST):
                    found[name] = basis, f"it acts through the computed column {column}, for which this is {basis}"
        return found


def through_computed(directions: Mapping[str, int], computed: ComputedColumns | None) -> Through:
    """Return through which computed columns some columns with directions act."""
    if computed is None:
        return Through()
    moved: dict[str, tuple[str, ...]] = {}
    reached: dict[str, set[str]] = {}  # by computed column: the columns that it is computed from, in the end
    for one in computed.columns:
        sources = {source for name in one.inputs for source in reached.get(name, {name})}
        reached[one.name] = sources
        for name in sources & directions.keys():
            moved[name] = (*moved.get(name, ()), one.name)
    found: dict[str, int] = {}
    for name, total in linear_sums(computed).items():
        signs = {
            directions[key.name] * (1 if factor > 0 else -1)
            for key, factor in total.factors.items()
            if isinstance(key, Column) and factor and key.name in directions
        }
        if len(signs) == 1:
            found[name] = signs.pop()
    return Through(found, moved)
