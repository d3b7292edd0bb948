"""How far the units of a row get for less than some amount, and whether that flips.

Move every unit as far as it gets for less than an amount. If that does not flip, any counterfactual has a unit that
goes further, and so costs at least the amount. One query thus settles all counterfactuals that cost less.
"""

from __future__ import annotations

from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from flipset.errors import BudgetExhausted
from flipset.space.unit_options import Option, in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.answers.row_scores import RowScores
    from flipset.protocol import Flow
    from flipset.space.cells import Cells
    from flipset.space.moves import Moves, Unit
    from flipset.values.grid import Cost
    from flipset.values.row_costs import RowCosts

BOUND_STEPS = 6
"""Halvings spent, under a budget, on a lower bound for the cheapest counterfactual of all."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the units of one row get for an amount."""

    scores: RowScores
    moves: Moves
    costs: RowCosts

    def bound_below(self, cost: Cost) -> Flow[Cells, Cost]:
        """Prove with a few queries that no counterfactual costs less than some amount, in case the budget ends soon."""
        low, high = Fraction(0), Fraction(cost)
        units = range(len(self.moves.units))
        with suppress(BudgetExhausted):
            for _ in range(BOUND_STEPS):
                middle = (low + high) / 2
                if (yield from self.could_flip(units, middle)):
                    high = middle
                else:
                    low = middle
        return low

    def could_flip(self, units: Sequence[int], bound: Cost) -> Flow[Cells, bool]:
        """Ask whether the decision flips with every unit as far as it gets for less than the bound."""
        if bound <= 0:
            return False
        reachable: list[list[Cells]] = []
        for i in units:
            of_unit = []
            for option in options_or_stay(self.moves.units[i]):
                spare = bound - sum(self.costs.of_cell(column, value) for column, value in option.cells)
                if spare > 0:
                    of_unit.append(in_order(option.cells, self._reached(option, spare)))
            reachable.append(of_unit)
        return max((yield from self.scores.margins([in_order(*cells) for cells in product(*reachable)]))) >= 0

    def _reached(self, option: Option, spare: Cost) -> list[tuple[int, Any]]:
        """Return the furthest cells of an option's paths that each cost less than `spare`."""
        reached = []
        for column, path in option.paths:
            j = bisect_left(self.costs.along(column, path), spare, 1) - 1
            if j:
                reached.append((column, path.values[j - 1]))
        return reached

    def least_cost(self, i: int) -> Cost:
        """Return a lower bound on the cost of moving a unit at all."""
        amounts: list[Cost] = []
        for option in self.moves.units[i].options:
            if option.cells:
                amounts.append(sum(self.costs.of_cell(column, value) for column, value in option.cells))
            else:
                amounts += [self.costs.along(column, path)[1] for column, path in option.paths]
        return min(amounts)


def options_or_stay(unit: Unit) -> tuple[Option, ...]:
    """Return the options of a unit that need not move."""
    # The path of an ordered unit has its own "stay"; any other unit needs an option that changes nothing.
    return unit.options if unit.ordered else (Option(), *unit.options)
