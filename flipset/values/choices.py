"""The search for the cheapest row among some ways to change it, step by step: what to ask is handed out, not asked.

So many such searches go on side by side without a flow for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flipset.protocol import Done, advance
from flipset.space.moves import in_order
from flipset.values.cheapest import Best, Contradiction, Grid, find_cheapest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.answers.monotonicity import Blame
    from flipset.errors import NotMonotone
    from flipset.protocol import Flow
    from flipset.space.moves import Cells
    from flipset.space.path import Path
    from flipset.values.cheapest import Cost, Point
    from flipset.values.ties import Ties


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One option for each unit that moves: cells that are settled, and a grid of the paths that are open."""

    cells: Cells
    paths: tuple[tuple[int, Path], ...]
    bottom: Point
    grid: Grid  # its costs are `ties.rank`ed: no two points cost the same
    cost: Callable[[Point], Cost]  # what a point really costs
    plain: bool  # paths alone, which must be followed, in the order of the columns

    def row(self, point: Point) -> Cells:
        """Return the cells of a point."""
        if self.plain:
            return tuple([(column, path.values[j - 1]) for (column, path), j in zip(self.paths, point, strict=True)])
        moved = [(column, path.values[j - 1]) for (column, path), j in zip(self.paths, point, strict=True) if j]
        return in_order(self.cells, moved)

    def against(self, found: Contradiction, blame: Blame) -> NotMonotone:
        """Return the error about a contradiction between two points."""
        return blame.of_values(self.row(found.lower), self.row(found.upper))


@dataclass(frozen=True, slots=True)
class Found:
    """A counterfactual, and what is proved about cheaper ones."""

    cells: Cells
    cost: Cost
    lower: Cost


class Hunt:
    """The search for the cheapest row among some choices; it can be stopped at any time.

    `begin` and `resume` return the rows to ask about. With `most` it ends by itself before it has looked at more rows
    than that, the ends of all choices apart. With `below`, only what costs less is of interest.
    """

    def __init__(
        self, choices: Sequence[Choice], ties: Ties, blame: Blame, most: int | None = None, below: Cost | None = None
    ) -> None:
        best = Best(None if below is None else ties.least_rank(below))
        self.ties = ties
        self.choices = sorted(choices, key=lambda choice: choice.grid.cost(choice.bottom))
        self.best = best
        self.blame = blame
        self._left = most
        self._starts = [choice.grid.cost(choice.bottom) for choice in self.choices]
        self._at = 0
        self._ends: Sequence[float] | None = None
        self._flow: Flow[Point, None] | None = None
        best.lower = self._starts[0]

    def begin(self) -> list[Cells]:
        """Look at the ends of all choices first."""
        return [choice.row(choice.grid.lengths) for choice in self.choices]

    def resume(self, margins: Sequence[float]) -> list[Cells] | None:
        """Go on through the choices, cheapest start first; return what to ask next, or None when it has ended.

        No rows are a checkpoint: it goes on with no margins.
        """
        if self._ends is None:
            self._ends, margins = margins, ()
        while self._at < len(self.choices):
            points = self._look_through(self.choices[self._at], margins)
            if points is not None:
                if self._left is not None:
                    if self._left < len(points):
                        return None
                    self._left -= len(points)
                return [self.choices[self._at].row(point) for point in points]
            self._at += 1
            self._flow, margins = None, ()
        return None

    def _look_through(self, choice: Choice, margins: Sequence[float]) -> Sequence[Point] | None:
        """Return the next points of a choice; None when it is done with."""
        assert self._ends is not None
        answers: Sequence[float] | None = margins
        if self._flow is None:
            if self._ends[self._at] < 0:
                return None
            self._flow, answers = find_cheapest(choice.grid, choice.bottom, self.best), None
        try:
            step = advance(self._flow, answers)
        except Contradiction as found:
            self.blame.take(choice.against(found, self.blame))
            return None
        return None if isinstance(step, Done) else step

    def found(self) -> Found | None:
        """Return the best row so far, if any, and what is proved by now."""
        choice = next((choice for choice in self.choices if choice.grid is self.best.grid), None)
        if choice is None:
            return None
        cost = choice.cost(self.best.point)
        lower = cost
        if self._at < len(self.choices):  # the choice in hand, with its own bound, and those that were not begun
            lower = min(cost, self.ties.least_cost(min([self.best.lower, *self._starts[self._at + 1 :]])))
        return Found(choice.row(self.best.point), cost, lower)
