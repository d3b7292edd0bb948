"""What changes cost in a space: the part that is the same for all rows of a table, computed once.

Invariant: what is kept never changes an amount. Only the default cost is kept for other rows. A cost of the user's own
is a function that is checked along each row's path, so rows share nothing of it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from flipset.values.costs import all_in_units, common_unit, cost_in_units, costs_in_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flipset.space import Space
    from flipset.space.feature import Value
    from flipset.space.path import Path
    from flipset.values.costs import Measure
    from flipset.values.grid import Cost

KEPT = 1_024
"""How many paths are kept with their costs."""


class SpaceCosts:
    """The costs of changing rows of a space.

    Attributes
    ----------
    space
        The space.
    cost
        The cost that the user chose; None for the default.
    unit
        Amounts are multiples of 1 / `unit`.
    """

    def __init__(self, space: Space, cost: Measure | Mapping[str, Any] | None) -> None:
        self.space, self.cost = space, cost
        # Costs of the user's own may be any fractions: they share no unit.
        self.unit = common_unit(space) if cost is None else 1
        self._along: dict[tuple[int, bool], tuple[Path, Sequence[Cost]]] = {}
        self._to: dict[tuple[int, Value], tuple[Path, Cost]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return SpaceCosts, (self.space, self.cost)

    def are_whole(self, columns: Iterable[int]) -> bool:
        """Say whether every change of a row that moves these columns along paths costs whole multiples of the unit."""
        return self.cost is None and self.space.reference is not None and self._counted.issuperset(columns)

    @cached_property
    def _counted(self) -> frozenset[int]:
        """The columns for which the reference has a population."""
        seen = self.space.reference
        return frozenset(i for i, feature in enumerate(self.space.features) if seen is not None and seen.scale(feature))

    def along(self, path: Path, *, at_once: bool) -> Sequence[Cost]:
        """Return the costs along a path, by position; `at_once` where many of them will be needed."""
        if self.cost is not None:
            return self._computed(path, at_once=at_once)
        # Rows with the same value in a column share its path (`MoveFinder`). A path that is kept here is not deleted,
        # so its number stays its own.
        key = id(path), at_once
        if key not in self._along:
            if len(self._along) >= KEPT:
                self._along.clear()
            self._along[key] = path, self._computed(path, at_once=at_once)
        return self._along[key][1]

    def to(self, path: Path, value: Value) -> Cost:
        """Return the cost of moving along a path to a value; with exact values, it need not be on the grid."""
        given = self.cost, self.space.reference, self.unit
        if self.cost is not None:
            return cost_in_units(path, value, *given)
        key = id(path), value
        if key not in self._to:
            if len(self._to) >= KEPT:
                self._to.clear()
            # The path is kept for the same reason as in `along`.
            self._to[key] = path, cost_in_units(path, value, *given)
        return self._to[key][1]

    def _computed(self, path: Path, *, at_once: bool) -> Sequence[Cost]:
        given = self.space.reference, self.unit
        listed = all_in_units(path, *given) if at_once and self.cost is None else None
        return listed or costs_in_units(path, self.cost, *given)
