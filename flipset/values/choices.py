"""The search for the cheapest row that flips, among several choices of options.

A choice takes one option for each unit that moves: some cells get a set value, and the columns that move along paths
span a grid. The cheapest row is the cheapest point over the grids of all choices. `ChoiceSearch` returns the rows to
query next instead of asking for them, so that many searches share each call without a flow for each of them.

Invariants:

- The grids hold ranks (see `flipset.values.ties`), so no two points of a grid cost the same, and the result does not
  depend on the order of the queries.
- At any time `best_row` is the cheapest row known to flip, with a proved lower bound on the cost of any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flipset.protocol import Done, advance
from flipset.space.unit_options import in_order
from flipset.values.best import Best
from flipset.values.cheapest import find_cheapest
from flipset.values.grid import Contradiction, Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.answers.monotonicity import MonotonicityCheck
    from flipset.errors import NotMonotone
    from flipset.protocol import Flow
    from flipset.space.cells import Cells
    from flipset.space.path import Path
    from flipset.values.grid import Cost, Point
    from flipset.values.ties import Ties


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One option for each unit that moves.

    Attributes
    ----------
    cells
        The cells that the options set to one value.
    paths
        The columns that move along paths, each with its path.
    bottom
        The first position to consider on each path: 0 where the column may stay, 1 where it must move.
    grid
        The product of the paths, with ranks as costs: no two points have the same.
    cost
        The actual cost of a point.
    plain
        Whether there are only paths, all of which must be followed, in the order of the columns.
    """

    cells: Cells
    paths: tuple[tuple[int, Path], ...]
    bottom: Point
    grid: Grid
    cost: Callable[[Point], Cost]
    plain: bool

    def row(self, point: Point) -> Cells:
        """Return the cells of a point."""
        # Position 0 of a path is "stay", so position j is the value at index j - 1.
        if self.plain:
            return tuple([(column, path.values[j - 1]) for (column, path), j in zip(self.paths, point, strict=True)])
        moved = [(column, path.values[j - 1]) for (column, path), j in zip(self.paths, point, strict=True) if j]
        return in_order(self.cells, moved)

    def error_for(self, contradiction: Contradiction, monotonicity: MonotonicityCheck) -> NotMonotone:
        """Return the error for two points of the grid that contradict each other."""
        return monotonicity.error_for_values(self.row(contradiction.lower), self.row(contradiction.upper))


@dataclass(frozen=True, slots=True)
class CheapestRow:
    """The cells of a row that flips, what it costs, and the cost below which no row of this search flips."""

    cells: Cells
    cost: Cost
    lower: Cost


class ChoiceSearch:
    """The search for the cheapest row among some choices; it may be stopped at any time.

    `begin` and `resume` return the rows to query. With `max_rows`, the search stops before it has looked at more rows
    than that, not counting the first one of each choice. With `below`, only rows that cost less are wanted.
    """

    def __init__(
        self,
        choices: Sequence[Choice],
        ties: Ties,
        monotonicity: MonotonicityCheck,
        max_rows: int | None = None,
        below: Cost | None = None,
    ) -> None:
        best = Best(None if below is None else ties.least_rank(below))
        self.ties = ties
        self.choices = sorted(choices, key=lambda choice: choice.grid.cost(choice.bottom))
        self.best = best
        self.monotonicity = monotonicity
        self._rows_left = max_rows
        self._start_ranks = [choice.grid.cost(choice.bottom) for choice in self.choices]
        self._current = 0
        self._margins_at_best: Sequence[float] | None = None
        self._flow: Flow[Point, None] | None = None
        best.lower = self._start_ranks[0]

    def begin(self) -> list[Cells]:
        """Return the first rows to query: each choice with every path at its best allowed value."""
        # A choice that does not flip there cannot flip anywhere: its grid is never searched.
        return [choice.row(choice.grid.lengths) for choice in self.choices]

    def resume(self, margins: Sequence[float]) -> list[Cells] | None:
        """Go through the choices, the cheapest start first; return the rows to query next, or None at the end.

        An empty list is a checkpoint: call `resume` again, with no margins.
        """
        if self._margins_at_best is None:
            self._margins_at_best, margins = margins, ()
        while self._current < len(self.choices):
            points = self._next_points(self.choices[self._current], margins)
            if points is not None:
                if self._rows_left is not None:
                    # The current choice stays open here, so that `best_row` counts it in its lower bound.
                    if self._rows_left < len(points):
                        return None
                    self._rows_left -= len(points)
                return [self.choices[self._current].row(point) for point in points]
            self._current += 1
            self._flow, margins = None, ()
        return None

    def _next_points(self, choice: Choice, margins: Sequence[float]) -> Sequence[Point] | None:
        """Return the next points of a choice; None when the choice is settled."""
        assert self._margins_at_best is not None
        answers: Sequence[float] | None = margins
        if self._flow is None:
            if self._margins_at_best[self._current] < 0:
                return None
            choice.grid.top_margin = self._margins_at_best[self._current]
            # All choices share `best`: what one of them found, the next must beat.
            self._flow, answers = find_cheapest(choice.grid, choice.bottom, self.best), None
        try:
            step = advance(self._flow, answers)
        except Contradiction as contradiction:
            self.monotonicity.raise_or_record(choice.error_for(contradiction, self.monotonicity))
            return None
        return None if isinstance(step, Done) else step

    def best_row(self) -> CheapestRow | None:
        """Return the cheapest row so far, with what is proved by now; None if no row is known to flip."""
        choice = next((choice for choice in self.choices if choice.grid is self.best.grid), None)
        if choice is None:
            return None
        cost = choice.cost(self.best.point)
        lower = cost
        if self._current < len(self.choices):
            # Cheaper rows may lie in the current choice, above its own bound, or in a choice that was not begun.
            open_ranks = [self.best.lower, *self._start_ranks[self._current + 1 :]]
            lower = min(cost, self.ties.least_cost(min(open_ranks)))
        return CheapestRow(choice.row(self.best.point), cost, lower)
