"""What the changes of one row cost, each amount computed once and kept.

Amounts are exact. With the default cost they are whole multiples of a unit that all columns share (`common_unit`),
because whole numbers add up and compare much faster than fractions. `as_number` turns an amount into the number that
people see.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from flipset.values.costs import cost_of_becoming
from flipset.values.ties import Ties

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.space.feature import Value
    from flipset.space.moves import Moves
    from flipset.space.path import Path
    from flipset.values.grid import Cost
    from flipset.values.space_costs import SpaceCosts


class RowCosts:
    """The costs of changing one row.

    Attributes
    ----------
    paths
        The paths whose costs were needed so far, by column.
    """

    def __init__(self, costs: SpaceCosts, row: Sequence[Value], moves: Moves) -> None:
        self.costs, self.row, self.moves = costs, row, moves
        self.paths: dict[int, Path] = {}
        self._along: dict[int, Sequence[Cost]] = {}
        self._ranks: dict[int, Sequence[Cost]] = {}
        self._to_best: dict[int, tuple[Cost, Cost]] = {}
        self._numbers: dict[Cost, float] = {}

    @cached_property
    def ties(self) -> Ties:
        """The rule that picks one of several counterfactuals of the same cost."""
        lengths: dict[int, int] = {}
        for unit in self.moves.units:
            for option in unit.options:
                for column, path in option.paths:
                    lengths[column] = max(len(path.values), lengths.get(column, 0))
        return Ties(lengths, len(self.costs.space.features), whole=self.costs.are_whole(lengths))

    def along(self, column: int, path: Path, *, at_once: bool = False) -> Sequence[Cost]:
        """Return the costs along a path, by position; `at_once` where many of them will be needed."""
        # A row has at most one path for each column, so the column identifies it.
        if column not in self._along:
            self.paths[column] = path
            self._along[column] = self.costs.along(path, at_once=at_once)
        return self._along[column]

    def ranks(self, column: int, costs: Sequence[Cost]) -> Sequence[Cost]:
        """Return the ranks along the path of a column, from its costs."""
        if column not in self._ranks:
            self._ranks[column] = self.ties.rank(column, costs, listed=isinstance(costs, list))
        return self._ranks[column]

    def of_cell(self, column: int, value: Any) -> Cost:
        """Return the cost of setting a column to a value outside any order."""
        feature = self.costs.space.features[column]
        amount = cost_of_becoming(feature, self.row[column], value, self.costs.cost) * self.costs.unit
        return amount.numerator if amount.denominator == 1 else amount

    def on_path(self, column: int, value: Any) -> Cost:
        """Return the cost of moving a column along its path to a value; the cost of the path was needed before."""
        return self.costs.to(self.paths[column], value)

    def to_best(self, i: int) -> tuple[Cost, Cost]:
        """Return, for a unit that is one ordered column, the cost of its first step and that of its best value."""
        if i not in self._to_best:
            ((column, path),) = self.moves.units[i].options[0].paths
            costs = self.along(column, path)
            self._to_best[i] = costs[1], costs[len(path.values)]
        return self._to_best[i]

    def as_number(self, cost: Cost) -> float:
        """Return an amount as a number, where 1 is the whole population or range; equal amounts are one object."""
        if cost not in self._numbers:
            # The quotient of whole numbers is the nearest float, as that of fractions is, and is found much faster.
            number = cost / self.costs.unit if isinstance(cost, int) else float(cost / self.costs.unit)
            self._numbers[cost] = number
        return self._numbers[cost]
