"""What the changes of one row cost, each amount computed once and kept.

Amounts are exact. With the default cost they are whole multiples of a unit that all columns share (`common_unit`),
because whole numbers add up and compare much faster than fractions. `as_number` turns an amount into the number that
people see.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flipset.values.costs import all_in_units, common_unit, cost_of_becoming, costs_in_units
from flipset.values.ties import Ties

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.space import Space
    from flipset.space.feature import Value
    from flipset.space.moves import Moves
    from flipset.space.path import Path
    from flipset.values.costs import Measure
    from flipset.values.grid import Cost


class RowCosts:
    """The costs of changing one row.

    Attributes
    ----------
    paths
        The paths whose costs were needed so far, by column.
    """

    def __init__(
        self, space: Space, row: Sequence[Value], moves: Moves, cost: Measure | Mapping[str, Any] | None
    ) -> None:
        self.space, self.row, self.moves, self.cost = space, row, moves, cost
        self.paths: dict[int, Path] = {}
        self._along: dict[int, Sequence[Cost]] = {}
        self._ranks: dict[int, Sequence[Cost]] = {}
        self._to_best: dict[int, tuple[Cost, Cost]] = {}
        self._numbers: dict[Cost, float] = {}
        # Costs of the user's own may be any fractions: they share no unit.
        self._unit = common_unit(space) if cost is None else 1

    @cached_property
    def ties(self) -> Ties:
        """The rule that picks one of several counterfactuals of the same cost."""
        lengths: dict[int, int] = {}
        for unit in self.moves.units:
            for option in unit.options:
                for column, path in option.paths:
                    lengths[column] = max(len(path.values), lengths.get(column, 0))
        # With the default cost and a population for every column, all costs are whole multiples of the unit.
        seen, features = self.space.reference, self.space.features
        counted = self.cost is None and seen is not None and all(seen.scale(features[column]) for column in lengths)
        return Ties(lengths, len(features), whole=counted)

    def along(self, column: int, path: Path, *, at_once: bool = False) -> Sequence[Cost]:
        """Return the costs along a path, by position; `at_once` where many of them will be needed."""
        # A row has at most one path for each column, so the column identifies it.
        if column not in self._along:
            self.paths[column] = path
            given = self.space.reference, self._unit
            listed = all_in_units(path, *given) if at_once and self.cost is None else None
            self._along[column] = listed or costs_in_units(path, self.cost, *given)
        return self._along[column]

    def ranks(self, column: int, costs: Sequence[Cost]) -> Sequence[Cost]:
        """Return the ranks along the path of a column, from its costs."""
        if column not in self._ranks:
            self._ranks[column] = self.ties.rank(column, costs, listed=isinstance(costs, list))
        return self._ranks[column]

    def of_cell(self, column: int, value: Any) -> Cost:
        """Return the cost of setting a column to a value outside any order."""
        feature = self.space.features[column]
        amount = cost_of_becoming(feature, self.row[column], value, self.cost) * self._unit
        return amount.numerator if amount.denominator == 1 else amount

    def to_best(self, i: int) -> tuple[Cost, Cost]:
        """Return, for a unit that is one ordered column, the cost of its first step and that of its best value."""
        if i not in self._to_best:
            ((column, path),) = self.moves.units[i].options[0].paths
            costs = self.along(column, path)
            self._to_best[i] = costs[1], costs[len(path.values)]
        return self._to_best[i]

    def as_number(self, cost: Cost) -> float:
        """Return an amount as a number, where 1 is the whole population or range."""
        if cost not in self._numbers:  # many counterfactuals cost the same
            self._numbers[cost] = float(Fraction(cost) / self._unit)
        return self._numbers[cost]
