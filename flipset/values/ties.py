"""Which of several cheapest points is reported: a rule, so that the answer does not depend on how it was found.

Of points that cost the same, the one is taken with the fewest columns that become something outside their order, such
as another category or code; and of these, the one that goes less far along the first column in which they differ.
Options that still are alike come in the order in which the space has them.

The search for the cheapest point is given *ranks* instead of costs: numbers that add up as costs do, order points by
cost first, and differ wherever two points of one grid do. A rank is `cost * scale + tie`. The tie reads the positions
on all paths as digits of one number, the first column's the most significant; above these digits it counts the columns
off their order. It is always below `scale`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from flipset.values.costs import Positions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.values.cheapest import Cost

FINE = 64
"""Bits by which the scale is larger where costs are fractions: bounds read from ranks are off by less than 2^-64."""


class Ties:
    """Ranks for the paths of one row.

    Parameters
    ----------
    lengths
        How many values each column with an order has at most beside its own, by column.
    columns
        How many columns there are.
    whole
        Whether all costs are whole numbers.
    """

    def __init__(self, lengths: Mapping[int, int], columns: int, *, whole: bool) -> None:
        self._digit: dict[int, int] = {}
        digit = 1
        for column in sorted(lengths, reverse=True):
            self._digit[column] = digit
            digit *= lengths[column] + 1
        self._off_order = digit
        self._most = digit * (columns + 1)
        self._whole = whole
        self._scale = self._most if whole else self._most << FINE

    def rank(self, column: int, costs: Sequence[Cost], *, listed: bool) -> Sequence[Cost]:
        """Return the ranks along a path of this column; as a list where all are wanted anyway."""
        scale, digit = self._scale, self._digit[column]
        if listed:
            return [cost * scale + j * digit for j, cost in enumerate(costs)]
        return Positions(lambda j: costs[j + 1] * scale + (j + 1) * digit, len(costs) - 1)

    def least_rank(self, cost: Cost, off_order: int = 0) -> Cost:
        """Return the least rank of points of this cost, with so many columns off their order."""
        return cost * self._scale + off_order * self._off_order

    def least_cost(self, rank: Cost) -> Cost:
        """Return a cost that no point of this rank, or of a larger one, goes below."""
        if self._whole:
            return rank // self._scale
        return max(Fraction(0), (Fraction(rank) - self._most) / self._scale)
