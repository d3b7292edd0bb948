"""The cheapest point found so far, in any of several grids, and what is proved about cheaper ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flipset.values.grid import is_below

if TYPE_CHECKING:
    from flipset.values.grid import Cost, Grid, Point


@dataclass(slots=True)
class Best:
    """The cheapest point known to flip, and a proved lower bound; shared by several grids.

    A `cost` without a point is a limit: only cheaper points are wanted. In the grid that is searched, no point
    that costs less than `lower` flips.
    """

    cost: Cost | None = None
    point: Point = ()
    grid: Grid | None = None
    lower: Cost = 0

    @property
    def price(self) -> Cost:
        """The cost that a point must be below; a point that flips, or a limit, is known."""
        assert self.cost is not None, "a point that flips was offered before"
        return self.cost

    def offer(self, grid: Grid, point: Point) -> None:
        """Take a point that flips, if it is cheaper than the best so far."""
        # Where flipping only follows from a lower point, that point costs no more, and it was queried itself.
        for one in grid.ones:
            if is_below(one, point):
                point = one
                break
        cost = grid.cost(point)
        if self.cost is None or cost < self.cost:
            self.cost, self.point, self.grid = cost, point, grid

    def raise_to(self, cost: Cost) -> None:
        """Note that no point of the grid costs less than this, unless it costs as much as the best point."""
        self.lower = max(self.lower, min(cost, self.price))
