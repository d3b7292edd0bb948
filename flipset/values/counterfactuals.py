"""From flip sets to values: the cheapest counterfactual of each flip set, and the cheapest of all.

A flip set says which features change; its counterfactual says how far. `ValueSearch` finds, for one row, the cheapest
values on the grid of the features' paths. It asks the model through `RowScores`, which never asks about a row twice.

Invariants:

- Every row that is returned was scored by the model itself and flips. A row that only follows from other answers is
  not reported.
- When a budget runs out, the search returns the cheapest rows so far, each with a proved lower bound on the cost.
- Which of several rows of the same cost is returned is settled by `Ties`, not by the order of the queries.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import pairwise, product, zip_longest
from typing import TYPE_CHECKING, Any

from flipset.errors import BudgetExhausted, InputError, NotMonotone
from flipset.models.scores import margins
from flipset.protocol import Steps, everything, features_of, relay
from flipset.space.unit_options import Option, in_order
from flipset.values.bracket import Bracket
from flipset.values.change import Change, Consequence, Counterfactual
from flipset.values.cheapest import staircase
from flipset.values.choices import CheapestRow, Choice, ChoiceSearch
from flipset.values.grid import Contradiction, Grid
from flipset.values.reach import Reach, options_or_stay
from flipset.values.row_costs import RowCosts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flipset.answers.monotonicity import MonotonicityCheck
    from flipset.answers.row_scores import RowScores
    from flipset.protocol import Flips, Flow
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.feature import Value
    from flipset.space.moves import Moves
    from flipset.space.path import Path
    from flipset.space.shared import Shared
    from flipset.values.change import How
    from flipset.values.grid import Cost, Point
    from flipset.values.space_costs import SpaceCosts


CHOICE_STEPS = 100
"""Elementary steps that it takes to make a choice, or to resume its search."""


class ValueSearch:
    """Finds the values of one row's counterfactuals. Answers that are already in `scores` are not asked for again."""

    def __init__(
        self,
        scores: RowScores,
        moves: Moves,
        space: Space,
        row: Sequence[Value],
        costs: SpaceCosts,
        batch: int,
        monotonicity: MonotonicityCheck,
    ) -> None:
        self.scores = scores
        self.monotonicity = monotonicity
        self.space = space
        self.row = row
        self.moves = moves
        self.batch = batch
        self.costs = RowCosts(costs, row, moves)
        self.reach = Reach(scores, moves, self.costs)
        self._unit_of = {column: 1 << i for i, unit in enumerate(moves.units) for column in unit.columns}
        self._changes: dict[tuple[int, type, Any], Change] = {}

    # --- flip sets --------------------------------------------------------------------------------------------------

    def for_flipsets(
        self, flipsets: Sequence[Flips], max_rows: int | None, *, minimal: bool
    ) -> Flow[Cells, list[CheapestRow]]:
        """Return the cheapest counterfactual of each flip set, all searched side by side.

        The search of each flip set looks at no more than `max_rows` rows. In `minimal` flip sets every unit must move.
        """
        # Each flip set gets its share of a call: at least 2 rows.
        share = min(self.batch, max(2, self.batch // max(2, len(flipsets))))
        if minimal and self.monotonicity.strict and (paths := self._single_paths(flipsets)) is not None:
            return (yield from self._least_of_each(paths))
        searches: list[ChoiceSearch] = []
        steps = Steps()
        with suppress(BudgetExhausted):  # the best rows so far, and their bounds, are still right then
            for flips in flipsets:
                choices = self._choices(flips, minimal, share)
                searches.append(ChoiceSearch(choices, self.costs.ties, self.monotonicity, max_rows))
                if steps.due(CHOICE_STEPS * len(searches[-1].choices)):
                    yield from self.scores.pause()
            yield from self._run_searches(searches)
        # The budget may have ended before every flip set had a search: those are reported at their best values.
        pairs = zip_longest(flipsets, searches)
        return self._unless_contradicted(partial(self._best_of, search, flips, minimal) for flips, search in pairs)

    def _single_paths(self, flipsets: Sequence[Flips]) -> list[tuple[int, Path]] | None:
        """Return the path of each flip set, if each is one column with one path, known to flip at its best value."""
        paths: list[tuple[int, Path]] = []
        for flips in flipsets:
            options = self.moves.units[flips.bit_length() - 1].options
            if flips & (flips - 1) or len(options) > 1 or options[0].cells or len(options[0].paths) > 1:
                return None
            if not self.scores.is_known_to_flip(options[0].end):
                return None
            paths += options[0].paths
        return paths

    def _least_of_each(self, paths: Sequence[tuple[int, Path]]) -> Flow[Cells, list[CheapestRow]]:
        """Return the first point of each path that flips: on a single path it is the cheapest, whatever the cost."""
        (before,) = margins([self.scores.score], self.scores.threshold, rise=not self.scores.decision)
        brackets = [Bracket(0, len(path.values), before) for _, path in paths]
        with suppress(BudgetExhausted):
            at_best = yield from self.scores.margins([((column, path.values[-1]),) for column, path in paths])
            for bracket, margin in zip(brackets, at_best, strict=True):
                bracket.high_margin = margin
            while open_ := [i for i, bracket in enumerate(brackets) if bracket.is_open]:
                probes = [(i, brackets[i].guess()) for i in open_]
                cells = [((paths[i][0], paths[i][1].values[t - 1]),) for i, t in probes]
                for (i, t), margin in zip(probes, (yield from self.scores.margins(cells)), strict=True):
                    brackets[i].learn(t, margin >= 0, margin)
        rows = []
        for (column, path), bracket in zip(paths, brackets, strict=True):
            costs = self.costs.along(column, path)
            row = CheapestRow(((column, path.values[bracket.high - 1]),), costs[bracket.high], costs[bracket.low + 1])
            rows.append(self._as_asked(row))
        return rows

    def _run_searches(self, searches: Sequence[ChoiceSearch]) -> Flow[Cells, None]:
        """Run searches side by side, one call for all of them, until all have ended."""
        waiting = [(search, search.begin()) for search in searches]
        steps = Steps()
        while waiting:
            answers = yield from self.scores.margins([cells for _, rows in waiting for cells in rows])
            answered, waiting, start = waiting, [], 0
            for search, rows in answered:
                stop = start + len(rows)
                more = search.resume(answers[start:stop])
                # A search that returns no rows is still computing. It goes on until it has some, so that it takes part
                # in the next call.
                while more is not None and not more:
                    yield from self.scores.pause()
                    more = search.resume(())
                if more is not None:
                    waiting.append((search, more))
                start = stop
                if steps.due(CHOICE_STEPS):
                    yield from self.scores.pause()

    def _best_of(self, search: ChoiceSearch | None, flips: Flips, minimal: bool) -> CheapestRow:
        """Return the best row of a search, or the flip set at its best values where the search has none."""
        best = None if search is None else search.best_row()
        return self._confirmed(best or self._at_best_values(flips, minimal))

    def at_best_values(self, flipsets: Sequence[Flips], *, minimal: bool) -> list[CheapestRow]:
        """Return for each flip set the cheapest counterfactual with all paths at their best values.

        This needs no query: the search for flip sets has asked about these rows.
        """
        return self._unless_contradicted(partial(self._at_best_values, flips, minimal) for flips in flipsets)

    def _unless_contradicted(self, finders: Iterable[Callable[[], CheapestRow]]) -> list[CheapestRow]:
        """Return the row that each function finds; leave out those that meet a contradiction, unless that is raised."""
        rows: list[CheapestRow] = []
        for find in finders:
            try:
                rows.append(find())
            except NotMonotone as error:
                self.monotonicity.raise_or_record(error)
        return rows

    def _at_best_values(self, flips: Flips, minimal: bool) -> CheapestRow:
        if self.moves.ends is not None:  # one row for each set, and its cost is a sum
            (cells,) = self.moves.rows(flips)
            if self.scores.is_known_to_flip(cells):  # without constraints, as here, it is what it becomes
                costs = [self.costs.to_best(i) for i in features_of(flips)]
                lower = sum(first for first, _ in costs) if minimal else 0
                return CheapestRow(cells, sum(best for _, best in costs), lower)
        choices = self._choices(flips, minimal, self.batch)
        at_best = [(choice.cost(choice.grid.lengths), choice.row(choice.grid.lengths)) for choice in choices]
        flipping = [(cost, cells) for cost, cells in at_best if self.scores.is_known_to_flip(cells)]
        if not flipping:
            names = ", ".join(self.moves.names(flips))
            raise NotMonotone(frozenset(), frozenset(), f"changing {names} flips, but not at the best values of all")
        cost, cells = min(flipping, key=lambda one: one[0])
        lower = min(cost, *(choice.cost(choice.bottom) for choice in choices))
        return self._as_asked(CheapestRow(cells, cost, lower))

    def at_positions(self, flips: Flips, positions: Iterable[int]) -> CheapestRow:
        """Return the row of a flip set that stands at these positions on the paths of its units; it is the cheapest.

        Every unit is one ordered column. There may be more positions than units.
        """
        cells: list[tuple[int, Any]] = []
        cost: Cost = 0
        for i, position in zip(features_of(flips), positions, strict=False):
            ((column, path),) = self.moves.units[i].options[0].paths
            cells.append((column, path.values[position - 1]))
            cost += self.costs.along(column, path)[position]
        return CheapestRow(tuple(cells), cost, cost)

    def frontier(self, flips: Flips) -> Flow[Cells, tuple[Choice, list[Point]]]:
        """Return all minimal points of a flip set of two columns that move along paths."""
        options = [self.moves.units[i].options for i in features_of(flips)]
        choice = self._choice([unit[0] for unit in options], self.batch, stay=True)
        names = " and ".join(map(repr, self.moves.names(flips)))
        if any(len(unit) > 1 for unit in options) or len(choice.paths) != 2 or choice.cells:
            raise InputError(f"a frontier is for two columns that follow an order; this flip set is {names}")
        (margin,) = yield from self.scores.margins([choice.row(choice.grid.lengths)])
        if margin < 0:
            raise InputError(f"changing {names} does not change the decision on this row")

        def answer(points: Sequence[Point]) -> Flow[Cells, list[float]]:
            return self.scores.margins([choice.row(point) for point in points])

        try:
            return choice, (yield from relay(staircase(choice.grid, choice.bottom), answer))
        except Contradiction as contradiction:
            raise choice.error_for(contradiction, self.monotonicity) from None

    def _confirmed(self, row: CheapestRow) -> CheapestRow:
        """Refuse a row that only follows from other answers."""
        # With a monotone model this never happens: the row that a search ends with was scored itself.
        if not self.scores.is_known_to_flip(row.cells):
            names = ", ".join(self.moves.names(self.moved(row.cells)))
            raise NotMonotone(frozenset(), frozenset(), f"answers about values of {names} contradict each other")
        return self._as_asked(row)

    def _as_asked(self, row: CheapestRow) -> CheapestRow:
        """Return a row as the model was asked about it: what it becomes under the constraints, and what that costs.

        A search that has ended ends with a row that is allowed: what another row becomes is on the grid too, flips as
        well, and costs less. One that was stopped may end with any row.
        """
        if self.scores.rules is None:
            return row
        found = self.scores.flipping(row.cells)
        if row.cells in found:
            return row
        if not found:  # a cheapest row is known to flip, or follows from answers that contradict each other
            return row
        cost, cells = min(((self._cost(cells), cells) for cells in found), key=lambda one: one[0])
        return CheapestRow(cells, cost, min(row.lower, cost))

    def _cost(self, cells: Cells) -> Cost:
        """Return the cost of some cells."""
        amounts: list[Cost] = []
        for column, value in cells:
            along = column in self.costs.paths and self.space.features[column].is_ordinary(value)
            amounts.append(self.costs.on_path(column, value) if along else self.costs.of_cell(column, value))
        return sum(amounts)

    def _choices(self, flips: Flips, minimal: bool, batch: int) -> list[Choice]:
        """Return every choice of options for the units of a flip set."""
        # In a minimal flip set no unit can stay: without it the rest does not flip.
        units = [self.moves.units[i] for i in features_of(flips)]
        options_of = [unit.options if minimal else options_or_stay(unit) for unit in units]
        return [self._choice(options, batch, stay=not minimal) for options in product(*options_of)]

    def _choice(self, options: Sequence[Option], batch: int, *, stay: bool) -> Choice:
        """Make the grid of some options; with `stay`, columns may keep their values."""
        cells = in_order(*(option.cells for option in options))
        paths = tuple(path for option in options for path in option.paths)
        # The bottom of a path is 1, so that its column must move, in two cases. A unit that must move and is one path
        # alone has to move along it. And a value outside the order is no point of a path: staying there would be
        # another choice.
        bottom = tuple(
            int((not stay and len(option.paths) == 1 and not option.cells) or not path.feature.is_ordinary(path.before))
            for option in options
            for _, path in option.paths
        )
        along = [self.costs.along(column, path, at_once=len(paths) > 1) for column, path in paths]
        base = sum(self.costs.of_cell(column, value) for column, value in cells)

        def cost(point: Point) -> Cost:
            return base + sum(costs[j] for costs, j in zip(along, point, strict=True))

        ranks = [self.costs.ranks(column, costs) for (column, _), costs in zip(paths, along, strict=True)]
        lengths = tuple(len(path.values) for _, path in paths)
        grid = Grid(lengths, ranks, batch, self.costs.ties.least_rank(base, len(cells)))
        plain = not cells and 0 not in bottom and all(a[0] < b[0] for a, b in pairwise(paths))
        return Choice(cells, paths, bottom, grid, cost, plain)

    # --- all flip sets ----------------------------------------------------------------------------------------------

    def cheapest_of_all(self, max_changes: int, rows: Sequence[CheapestRow], lower: Cost) -> Flow[Cells, CheapestRow]:
        """Return the cheapest counterfactual with at most `max_changes` changes; `rows` are some to begin with.

        No counterfactual costs less than `lower`: that is what is proved if a budget ends the search.
        """
        best = min(rows, key=lambda one: one.cost)
        likely = 0
        for one in rows:
            likely |= self.moved(one.cells)
        rest = [*features_of(likely), *features_of(everything(len(self.moves.units)) & ~likely)]
        # Branch and bound. An entry (chosen, others) stands for the sets that hold all of `chosen`, some of `others`,
        # and at most `max_changes` units. Together the entries cover every set that could still beat `best`.
        waiting: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), tuple(rest))]
        steps = Steps()
        try:
            while waiting:
                chosen, others = waiting.pop()
                if len(chosen) == max_changes:
                    others = ()
                if not (yield from self.reach.could_flip(chosen + others, best.cost)):
                    continue
                if len(chosen) + len(others) > max_changes:
                    waiting += [(chosen, others[1:]), ((*chosen, others[0]), others[1:])]
                    continue
                choices = yield from self._choices_among(chosen + others, steps)
                search = ChoiceSearch(choices, self.costs.ties, self.monotonicity, below=best.cost)
                before = best
                try:
                    yield from self._run_searches([search])
                finally:  # a better row counts even if the budget ends this search
                    best = search.best_row() or best
                try:
                    best = self._confirmed(best)
                except NotMonotone as error:
                    self.monotonicity.raise_or_record(error)
                    best = before
        except BudgetExhausted:
            # A set that was not searched may hold something cheaper: only the bound from the start is proved.
            return CheapestRow(best.cells, best.cost, min(lower, best.cost))
        return CheapestRow(best.cells, best.cost, best.cost)

    def _choices_among(self, units: Sequence[int], steps: Steps) -> Flow[Cells, list[Choice]]:
        """Return every choice of options for some units, each of which may stay; stop if the time is over."""
        options_of = [options_or_stay(self.moves.units[i]) for i in sorted(units)]
        choices: list[Choice] = []
        for options in product(*options_of):
            choices.append(self._choice(options, self.batch, stay=True))
            if steps.due(CHOICE_STEPS):
                yield from self.scores.pause()
        return choices

    # --- results ----------------------------------------------------------------------------------------------------

    def counterfactual(self, row: CheapestRow, shared: Shared) -> Counterfactual:
        """Return a row as it is reported, with its changes column by column."""
        space, values = self.space, list(self.row)
        changes = []
        for column, value in row.cells:
            key = column, type(value), value
            if key not in self._changes:  # many counterfactuals share most of their changes
                self._changes[key] = self._change(column, value)
            changes.append(self._changes[key])
            values[column] = value
        consequences = []
        if space.computed is not None:
            for column, value in space.computed.changed(self.row, row.cells):
                name = space.names[column]
                consequences.append(Consequence(name, self.row[column], value, space.words.features.get(name)))
                values[column] = value
        return Counterfactual(
            flipset=shared.names(self.moves.names(self.moved(row.cells))),
            changes=tuple(changes),
            cost=self.costs.as_number(row.cost),
            # Lower bounds follow from answers by the directions: where these do not hold, nothing is proved.
            cost_at_least=0.0 if self.monotonicity.errors else self.costs.as_number(row.lower),
            score=self.scores.scores[row.cells],
            row=dict(zip(space.names, values, strict=True)),
            consequences=tuple(sorted(consequences, key=lambda one: space.position(one.feature))),
        )

    def _change(self, column: int, value: Any) -> Change:
        feature = self.space.features[column]
        along = feature.ordered and feature.is_ordinary(value)
        rising = along and (feature.direction == 1) != self.scores.decision
        how: How = "becomes"
        if along:
            how = "at least" if rising else "at most"
        words = self.space.words.features.get(feature.name)
        cost = self.costs.on_path(column, value) if along else self.costs.of_cell(column, value)
        return Change(feature.name, self.row[column], value, how, words, self.costs.as_number(cost))

    def grids(self, rows: Sequence[CheapestRow]) -> dict[str, str]:
        """Say in words, for each column that changes, which values were considered."""
        changed = {column for one in rows for column, _ in one.cells}
        names = self.space.names
        return {names[column]: path.grid for column, path in sorted(self.costs.paths.items()) if column in changed}

    def moved(self, cells: Cells) -> Flips:
        """Return the units to which cells belong, as a flip set."""
        moved = 0
        for column, _ in cells:
            moved |= self._unit_of[column]
        return moved
