"""An explanation with its columns in another order, which programs that store JSON may have changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flipset.results.data import each_counterfactual
from flipset.space.moves import Moves, Unit
from flipset.space.unit_options import Option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.results.data import ExplanationData
    from flipset.space.feature import Value
    from flipset.values.change import Consequence, Counterfactual


def in_columns(e: ExplanationData, names: Sequence[str]) -> ExplanationData:
    """Return an explanation with its columns in this order, that of a space."""
    place = {name: i for i, name in enumerate(names)}
    moved = [place[name] for name in e.row]

    def ordered(row: Mapping[str, Value]) -> dict[str, Value]:
        return {name: row[name] for name in names} if row.keys() == place.keys() else dict(row)

    def cells(option: Option) -> Option:
        ends = sorted(((moved[i], value) for i, value in option.end), key=lambda cell: cell[0])
        return Option(cells=tuple(ends))

    def follow(one: Counterfactual) -> tuple[Consequence, ...]:
        return tuple(sorted(one.consequences, key=lambda each: place[each.feature]))

    units = tuple(
        Unit(
            unit.name, tuple(moved[i] for i in unit.columns), tuple(map(cells, unit.options)), unit.ordered, unit.weight
        )
        for unit in e.moves.units
    )
    return replace(
        e,
        row=ordered(e.row),
        **each_counterfactual(e, lambda one: replace(one, row=ordered(one.row), consequences=follow(one))),
        contradictions=tuple((ordered(a), ordered(b)) for a, b in e.contradictions),
        moves=Moves(units, e.moves.held_fixed, e.moves.held_because),
    )
