"""From sets of features to values: the cheapest counterfactual of a flip set, and of all flip sets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from flipset.errors import BudgetExhausted, InputError
from flipset.explanation import Change, Counterfactual
from flipset.moves import Option, in_order
from flipset.protocol import everything, features_of, relay
from flipset.values.cheapest import Best, Grid, find_cheapest, last_below, staircase
from flipset.values.costs import cost_along, cost_of_becoming

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flipset.asking import Asking
    from flipset.moves import Cells, Moves, Unit
    from flipset.protocol import Flips, Flow
    from flipset.space import Space
    from flipset.space.feature import Value
    from flipset.values.cheapest import Point
    from flipset.values.costs import Along, Measure
    from flipset.values.path import Path


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One option for each unit that moves: cells that are settled, and a grid of the paths that are open."""

    cells: Cells
    paths: tuple[tuple[int, Path], ...]
    bottom: Point
    grid: Grid

    def row(self, point: Point) -> Cells:
        """Return the cells of a point."""
        moved = [(column, path.values[j - 1]) for (column, path), j in zip(self.paths, point, strict=True) if j]
        return in_order(self.cells, moved)


@dataclass(frozen=True, slots=True)
class Found:
    """A counterfactual, and what is proved about cheaper ones."""

    cells: Cells
    cost: Fraction
    lower: Fraction


class Advisor:
    """Finds values for one row. What was asked about it is known to the `Asking`, and never asked again."""

    def __init__(
        self,
        asking: Asking,
        moves: Moves,
        space: Space,
        row: Sequence[Value],
        cost: Measure | Mapping[str, Any] | None,
        batch: int,
    ) -> None:
        self.asking = asking
        self.space = space
        self.row = row
        self.moves = moves
        self.cost = cost
        self.batch = batch
        self._paths: dict[int, Path] = {}
        self._along: dict[int, Along] = {}

    # --- one flip set -----------------------------------------------------------------------------------------------

    def for_flipset(self, flips: Flips, *, minimal: bool) -> Flow[Cells, Found]:
        """Return the cheapest counterfactual of a flip set; if it is minimal, all of its units move."""
        choices = self._choices(flips, minimal)
        best = Best()
        bound = yield from self._hunt(choices, best)
        if best.grid is None:  # stopped at once
            return self.at_the_ends(flips, minimal=minimal)
        return self._found(choices, best, bound)

    def at_the_ends(self, flips: Flips, *, minimal: bool) -> Found:
        """Return the cheapest counterfactual of a flip set with all paths at their ends: that asks nothing."""
        choices = self._choices(flips, minimal)
        best = Best()
        for choice in choices:
            if self.asking.is_known_to_flip(choice.row(choice.grid.lengths)):
                best.offer(choice.grid, choice.grid.lengths)
        return self._found(choices, best, min(choice.grid.cost(choice.bottom) for choice in choices))

    def frontier(self, flips: Flips) -> Flow[Cells, tuple[Choice, list[Point]]]:
        """Return all minimal points of a flip set of two columns that move along paths."""
        options = [self.moves.units[i].options for i in features_of(flips)]
        choice = self._choice([unit[0] for unit in options], stay=False)
        if any(len(unit) > 1 for unit in options) or len(choice.paths) != 2 or choice.cells:
            names = ", ".join(self.moves.names(flips))
            raise InputError(f"a frontier is for flip sets of two features that follow an order; this one is {names}")
        return choice, (yield from relay(staircase(choice.grid), self._answer(choice)))

    def _choices(self, flips: Flips, minimal: bool) -> list[Choice]:
        units = [self.moves.units[i] for i in features_of(flips)]
        ways = [unit.options if minimal else self._ways(unit) for unit in units]
        return [self._choice(options, stay=not minimal) for options in product(*ways)]

    def _choice(self, options: Sequence[Option], *, stay: bool) -> Choice:
        """Make the grid of some options; with `stay`, every path may be left where it is."""
        cells = in_order(*(option.cells for option in options))
        paths = tuple(path for option in options for path in option.paths)
        # A unit that must move has to move along its path, if it has just one and nothing else.
        bottom = tuple(
            int(not stay and len(option.paths) == 1 and not option.cells) for option in options for _ in option.paths
        )
        grid = Grid(
            tuple(len(path.values) for _, path in paths),
            [self._cost_along(column, path) for column, path in paths],
            self.batch,
            sum((self._cost_of(column, value) for column, value in cells), Fraction(0)),
        )
        return Choice(cells, paths, bottom, grid)

    def _hunt(self, choices: Sequence[Choice], best: Best) -> Flow[Cells, Fraction | None]:
        """Look through all choices, cheapest start first; if that is stopped, return what every one costs at least."""
        waiting = sorted(choices, key=lambda choice: choice.grid.cost(choice.bottom))
        starts = [choice.grid.cost(choice.bottom) for choice in waiting]
        best.lower = starts[0]
        done = 0
        try:
            ends = yield from self.asking.margins([choice.row(choice.grid.lengths) for choice in waiting])
            for choice, end in zip(waiting, ends, strict=True):
                if end >= 0:
                    yield from relay(find_cheapest(choice.grid, choice.bottom, best), self._answer(choice))
                done += 1
        except BudgetExhausted:
            return min([best.lower, *starts[done + 1 :]])
        return None

    def _found(self, choices: Sequence[Choice], best: Best, bound: Fraction | None) -> Found:
        choice = next(choice for choice in choices if choice.grid is best.grid)
        cost = choice.grid.cost(best.point)
        return Found(choice.row(best.point), cost, cost if bound is None else min(bound, cost))

    def _answer(self, choice: Choice) -> Callable[[Sequence[Point]], Flow[Cells, list[float]]]:
        return lambda points: self.asking.margins([choice.row(point) for point in points])

    # --- all flip sets ----------------------------------------------------------------------------------------------

    def cheapest(self, most: int, found: Sequence[Found]) -> Flow[Cells, Found]:
        """Return the cheapest counterfactual with at most `most` changes; `found` are some to begin with."""
        best = min(found, key=lambda one: one.cost)
        likely = 0
        for one in found:
            likely |= self._moved(one.cells)
        rest = [*features_of(likely), *features_of(everything(len(self.moves.units)) & ~likely)]
        # Sets that hold all of the first and at most `most` of both; what flips for less is in one that is looked at.
        waiting: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), tuple(rest))]
        try:
            while waiting:
                chosen, others = waiting.pop()
                if len(chosen) == most:
                    others = ()
                if not (yield from self._could_flip(chosen + others, best.cost)):
                    continue
                if len(chosen) + len(others) > most:
                    waiting += [(chosen, others[1:]), ((*chosen, others[0]), others[1:])]
                    continue
                ways = [self._ways(self.moves.units[i]) for i in sorted(chosen + others)]
                choices = [self._choice(options, stay=True) for options in product(*ways)]
                better = Best(best.cost)
                stopped = (yield from self._hunt(choices, better)) is not None
                if better.grid is not None:
                    best = self._found(choices, better, None)
                if stopped:
                    return Found(best.cells, best.cost, Fraction(0))
        except BudgetExhausted:
            return Found(best.cells, best.cost, Fraction(0))
        return Found(best.cells, best.cost, best.cost)

    def _could_flip(self, units: Sequence[int], bound: Fraction) -> Flow[Cells, bool]:
        """Ask whether the decision flips with every unit as far as it gets for less than the bound."""
        if bound <= 0:
            return False
        ends: list[list[Cells]] = []
        for i in units:
            ways = []
            for option in self._ways(self.moves.units[i]):
                left = bound - sum((self._cost_of(column, value) for column, value in option.cells), Fraction(0))
                if left > 0:
                    ways.append(in_order(option.cells, self._as_far_as(option, left)))
            ends.append(ways)
        return max((yield from self.asking.margins([in_order(*ways) for ways in product(*ends)]))) >= 0

    def _as_far_as(self, option: Option, spare: Fraction) -> list[tuple[int, Any]]:
        reached = []
        for column, path in option.paths:
            j = last_below(self._cost_along(column, path), len(path.values), spare)
            if j:
                reached.append((column, path.values[j - 1]))
        return reached

    @staticmethod
    def _ways(unit: Unit) -> tuple[Option, ...]:
        return unit.options if unit.ordered else (Option(), *unit.options)

    # --- words ------------------------------------------------------------------------------------------------------

    def tell(self, found: Found) -> Counterfactual:
        """Say what changes, column by column."""
        space, row = self.space, list(self.row)
        changes = []
        for column, value in found.cells:
            feature = space.features[column]
            along = feature.ordered and feature.is_ordinary(value)
            rising = along and (feature.direction == 1) != self.asking.decision
            how = ("at least" if rising else "at most") if along else "becomes"
            changes.append(Change(feature.name, row[column], value, how))  # type: ignore[arg-type]
            row[column] = value
        return Counterfactual(
            flipset=self.moves.names(self._moved(found.cells)),
            changes=tuple(changes),
            cost=float(found.cost),
            cost_at_least=float(found.lower),
            score=self.asking.scores[found.cells],
            row=dict(zip(space.names, row, strict=True)),
        )

    def grids(self, found: Sequence[Found]) -> dict[str, str]:
        """Say on which values each column that changes was considered."""
        changed = {column for one in found for column, _ in one.cells}
        names = self.space.names
        return {names[column]: path.grid for column, path in sorted(self._paths.items()) if column in changed}

    def _moved(self, cells: Cells) -> Flips:
        changed = {column for column, _ in cells}
        moved = 0
        for i, unit in enumerate(self.moves.units):
            if not changed.isdisjoint(unit.columns):
                moved |= 1 << i
        return moved

    # --- costs ------------------------------------------------------------------------------------------------------

    def _cost_along(self, column: int, path: Path) -> Along:
        if column not in self._along:
            self._paths[column] = path
            self._along[column] = cost_along(path, self.cost, self.space.reference)
        return self._along[column]

    def _cost_of(self, column: int, value: Any) -> Fraction:
        feature = self.space.features[column]
        return cost_of_becoming(feature, self.row[column], value, self.cost)
