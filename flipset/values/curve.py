"""The cost of fewer changes: the cheapest counterfactual with at most k changes, for one k after another.

The curve begins at the size of the smallest flip sets. Its costs never rise, because a counterfactual with at most k
changes also is one with at most k + 1. It ends where more changes are proved not to be cheaper, or at a largest number
of changes.

The proof that more changes are not cheaper takes one query. Let c be the best cost so far, and s the sum of the k - 1
smallest costs of moving a unit at all. In a counterfactual with at least k changes that costs less than c, each unit
costs less than c - s. So move every unit as far as it gets for less than that: if this does not flip, there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.errors import BudgetExhausted
from flipset.values.choices import CheapestRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Flow
    from flipset.space.cells import Cells
    from flipset.values.change import CurveEnd
    from flipset.values.counterfactuals import ValueSearch
    from flipset.values.grid import Cost

FURTHER = 2
"""How many changes beyond the smallest number a curve considers unless `max_changes` says so. Every further change
multiplies the sets to search."""

Points = list[tuple[int, CheapestRow]]


def find_curve(
    values: ValueSearch, rows: Sequence[CheapestRow], size: int, max_changes: int | None, *, is_limited: bool
) -> Flow[Cells, tuple[Points, CurveEnd]]:
    """Return the points of the curve, and why it ends; `rows` are the cheapest of all flip sets of the least size.

    When a budget ends, the last point is the best one so far, with a proved lower bound.
    """
    units = len(values.moves.units)
    most = min(units, size + FURTHER if max_changes is None else max_changes)
    best = min(rows, key=lambda one: one.cost)
    # Whatever changes so few units is of one of these flip sets, so that the least of their bounds is one for all.
    points: Points = [(size, CheapestRow(best.cells, best.cost, min(one.lower for one in rows)))]
    try:
        floor = (yield from values.reach.bound_below(best.cost)) if is_limited else 0
        for changes in range(size + 1, most + 1):
            if not (yield from _could_be_cheaper(values, changes, best.cost)):
                return points, "proved"
            best = yield from values.cheapest_of_all(changes, [best, *rows], floor)
            points.append((changes, best))
            if values.scores.was_cut:
                return points, "stopped"
        if most < units and (yield from _could_be_cheaper(values, most + 1, best.cost)):
            return points, "max_changes"
    except BudgetExhausted:
        return points, "stopped"
    return points, "proved"


def _could_be_cheaper(values: ValueSearch, changes: int, cost: Cost) -> Flow[Cells, bool]:
    """Say whether this many changes or more could cost less; if not, that is proved."""
    units = range(len(values.moves.units))
    others = sorted(values.reach.least_cost(i) for i in units)[: changes - 1]
    return (yield from values.reach.could_flip(units, cost - sum(others)))
