"""Which of several cheapest points is reported: a rule, so that the answer does not depend on how it was found.

Among points of the same cost, the one with the fewest columns that leave their order wins, such as a column that takes
another category or code. Among those, the one that moves less far along the first column in which they differ wins.
Options that are still equal are taken in the order in which the space lists them.

The search for the cheapest point works with *ranks* instead of costs. Ranks add up as costs do, they order points by
cost first, and no two points of a grid have the same rank. A rank is `cost * scale + tie`. The tie is one number whose
digits are the positions on all paths, the first column's digit being the most significant; above these digits it
counts the columns that leave their order. Invariant: a tie is always less than `scale`, so it never outweighs a cost.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count, repeat
from operator import add, mul
from typing import TYPE_CHECKING

from flipset.values.costs import Positions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.values.grid import Cost

FINE = 64
"""Extra bits of the scale where costs are fractions, so that bounds read from ranks are off by less than 2^-64."""


class Ties:
    """Ranks for the paths of one row.

    Parameters
    ----------
    lengths
        For each ordered column, the most values that it can move to.
    columns
        The number of columns of the space.
    whole
        Whether all costs are whole numbers.
    """

    def __init__(self, lengths: Mapping[int, int], columns: int, *, whole: bool) -> None:
        # The value of one step in each column's digit. A column with n values has the digits 0 to n.
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
        """Return the ranks along a path of this column: as a list if `listed`, otherwise computed when needed."""
        scale, digit = self._scale, self._digit[column]
        if listed:
            # Long lists for every row: these loops run in C.
            return list(map(add, map(mul, costs, repeat(scale)), count(0, digit)))
        return Positions(lambda j: costs[j + 1] * scale + (j + 1) * digit, len(costs) - 1)

    def least_rank(self, cost: Cost, off_order: int = 0) -> Cost:
        """Return the least rank of a point of this cost in which `off_order` columns leave their order."""
        return cost * self._scale + off_order * self._off_order

    def least_cost(self, rank: Cost) -> Cost:
        """Return a lower bound on the cost of every point of this rank or a larger one."""
        if self._whole:
            return rank // self._scale
        # A cost may be any fraction, so the tie cannot be split off: subtract the largest possible one.
        return max(Fraction(0), (Fraction(rank) - self._most) / self._scale)
