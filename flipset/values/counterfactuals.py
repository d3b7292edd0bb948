"""From sets of features to values: the cheapest counterfactual of a flip set, and of all flip sets."""

from __future__ import annotations

from bisect import bisect_left
from contextlib import suppress
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise, product, zip_longest
from typing import TYPE_CHECKING, Any

from flipset.errors import BudgetExhausted, InputError, NotMonotone
from flipset.protocol import Steps, everything, features_of, relay
from flipset.space.moves import Option, in_order
from flipset.values.change import Change, Counterfactual
from flipset.values.cheapest import Contradiction, Grid, between, staircase
from flipset.values.costs import all_in_units, common_unit, cost_of_becoming, costs_in_units
from flipset.values.ties import Ties
from flipset.values.walks import Choice, Found, Hunt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flipset.answers.row_scores import RowScores
    from flipset.answers.witnesses import Blame
    from flipset.protocol import Flips, Flow
    from flipset.space import Space
    from flipset.space.feature import Value
    from flipset.space.moves import Cells, Moves, Unit
    from flipset.space.path import Path
    from flipset.values.change import How
    from flipset.values.cheapest import Cost, Point
    from flipset.values.costs import Measure


LOOKING = 100
"""Elementary steps that it takes to make a choice, or to go on with one."""

BOUND_STEPS = 6
"""Questions spent, under a budget, on a lower bound for the cheapest of all."""


class Advisor:
    """Finds values for one row. What was asked about it is in `scores`, and never asked again."""

    def __init__(
        self,
        scores: RowScores,
        moves: Moves,
        space: Space,
        row: Sequence[Value],
        cost: Measure | Mapping[str, Any] | None,
        batch: int,
        blame: Blame,
    ) -> None:
        self.scores = scores
        self.blame = blame
        self.space = space
        self.row = row
        self.moves = moves
        self.cost = cost
        self.batch = batch
        self._paths: dict[int, Path] = {}
        self._along: dict[int, Sequence[Cost]] = {}
        self._ranked: dict[int, Sequence[Cost]] = {}
        self._unit_of = {column: 1 << i for i, unit in enumerate(moves.units) for column in unit.columns}
        self._to_ends: dict[int, tuple[Cost, Cost]] = {}
        self._shown: dict[Cost, float] = {}
        self._changes: dict[tuple[int, type, Any], Change] = {}
        self._unit = common_unit(space) if cost is None else 1

    @cached_property
    def ties(self) -> Ties:
        """Which of several counterfactuals of one cost is taken."""
        lengths: dict[int, int] = {}
        for unit in self.moves.units:
            for option in unit.options:
                for column, path in option.paths:
                    lengths[column] = max(len(path.values), lengths.get(column, 0))
        seen, features = self.space.reference, self.space.features
        counted = self.cost is None and seen is not None and all(seen.scale(features[column]) for column in lengths)
        return Ties(lengths, len(features), whole=counted)

    # --- flip sets --------------------------------------------------------------------------------------------------

    def for_flipsets(self, flipsets: Sequence[Flips], most: int | None, *, minimal: bool) -> Flow[Cells, list[Found]]:
        """Return the cheapest counterfactual of each flip set, all searched side by side, `most` rows looked at each.

        In minimal flip sets all units move.
        """
        share = min(self.batch, max(2, self.batch // max(2, len(flipsets))))  # of each round
        if minimal and self.blame.strict and (paths := self._single_paths(flipsets)) is not None:
            return (yield from self._least_of_each(paths, share))
        hunts: list[Hunt] = []
        steps = Steps()
        with suppress(BudgetExhausted):  # what the hunts have is still right then, and so are their bounds
            for flips in flipsets:
                hunts.append(Hunt(self._choices(flips, minimal, share), self.ties, self.blame, most))
                if steps.due(LOOKING * len(hunts[-1].choices)):
                    yield from self.scores.pause()
            yield from self._go_hunting(hunts)
        pairs = zip_longest(flipsets, hunts)
        return self._each(partial(self._best_of, hunt, flips, minimal) for flips, hunt in pairs)

    def _single_paths(self, flipsets: Sequence[Flips]) -> list[tuple[int, Path]] | None:
        """Return the path of each flip set where each is one column that moves along one, and flips at its end."""
        paths: list[tuple[int, Path]] = []
        for flips in flipsets:
            options = self.moves.units[flips.bit_length() - 1].options
            if flips & (flips - 1) or len(options) > 1 or options[0].cells or len(options[0].paths) > 1:
                return None
            if not self.scores.is_known_to_flip(options[0].end):
                return None
            paths += options[0].paths
        return paths

    def _least_of_each(self, paths: Sequence[tuple[int, Path]], share: int) -> Flow[Cells, list[Found]]:
        """Return the first point of each path that flips: on one path that is the cheapest, whatever the cost."""
        low, high = [1] * len(paths), [len(path.values) for _, path in paths]
        with suppress(BudgetExhausted):
            while open_ := [i for i in range(len(paths)) if low[i] < high[i]]:
                probes = [(i, t) for i in open_ for t in between(low[i], high[i], share)]
                cells = [((paths[i][0], paths[i][1].values[t - 1]),) for i, t in probes]
                signs = yield from self.scores.signs(cells)
                for (i, t), sign in zip(probes, signs, strict=True):
                    if sign < 0 and t < high[i]:
                        low[i] = t + 1
                    elif sign >= 0:
                        high[i] = min(high[i], t)
                    else:
                        turned, stays = (((paths[i][0], paths[i][1].values[j - 1]),) for j in (high[i], t))
                        raise self.blame.of_values(turned, stays)
        found = []
        for (column, path), least, least_possible in zip(paths, high, low, strict=True):
            costs = self._costs(column, path)
            found.append(Found(((column, path.values[least - 1]),), costs[least], costs[least_possible]))
        return found

    def _go_hunting(self, hunts: Sequence[Hunt]) -> Flow[Cells, None]:
        """Let hunts go on side by side until all have ended."""
        waiting = [(hunt, hunt.begin()) for hunt in hunts]
        steps = Steps()
        while waiting:
            signs = yield from self.scores.signs([cells for _, rows in waiting for cells in rows])
            asked, waiting, start = waiting, [], 0
            for hunt, rows in asked:
                stop = start + len(rows)
                more = hunt.resume(signs[start:stop])
                # One that computes goes on before the others are answered: it misses no round.
                while more is not None and not more:
                    yield from self.scores.pause()
                    more = hunt.resume(())
                if more is not None:
                    waiting.append((hunt, more))
                start = stop
                if steps.due(LOOKING):
                    yield from self.scores.pause()

    def _best_of(self, hunt: Hunt | None, flips: Flips, minimal: bool) -> Found:
        found = None if hunt is None else hunt.found()
        return self._confirmed(found or self._at_the_ends(flips, minimal))

    def at_the_ends(self, flipsets: Sequence[Flips], *, minimal: bool) -> list[Found]:
        """Return for each flip set the cheapest counterfactual with all paths at their ends: that asks nothing."""
        return self._each(partial(self._at_the_ends, flips, minimal) for flips in flipsets)

    def _each(self, finds: Iterable[Callable[[], Found]]) -> list[Found]:
        """Return what each finds; where contradictions are forgiven, one that meets some is left out."""
        found: list[Found] = []
        for find in finds:
            try:
                found.append(find())
            except NotMonotone as error:
                self.blame.take(error)
        return found

    def _at_the_ends(self, flips: Flips, minimal: bool) -> Found:
        if self.moves.ends is not None:
            (cells,) = self.moves.rows(flips)
            if self.scores.is_known_to_flip(cells):
                costs = [self._cost_of_end(i) for i in features_of(flips)]
                return Found(cells, sum(end for _, end in costs), sum(first for first, _ in costs) if minimal else 0)
        choices = self._choices(flips, minimal, self.batch)
        ends = [(choice.cost(choice.grid.lengths), choice.row(choice.grid.lengths)) for choice in choices]
        known = [(cost, cells) for cost, cells in ends if self.scores.is_known_to_flip(cells)]
        if not known:
            names = ", ".join(self.moves.names(flips))
            raise NotMonotone(frozenset(), frozenset(), f"changing {names} flips, but not at the best values of all")
        cost, cells = min(known, key=lambda end: end[0])
        return Found(cells, cost, min(cost, *(choice.cost(choice.bottom) for choice in choices)))

    def _cost_of_end(self, i: int) -> tuple[Cost, Cost]:
        """Return what the first step of a unit costs that is one column with an order, and what its end does."""
        if i not in self._to_ends:
            ((column, path),) = self.moves.units[i].options[0].paths
            costs = self._costs(column, path)
            self._to_ends[i] = costs[1], costs[len(path.values)]
        return self._to_ends[i]

    def frontier(self, flips: Flips) -> Flow[Cells, tuple[Choice, list[Point]]]:
        """Return all minimal points of a flip set of two columns that move along paths."""
        options = [self.moves.units[i].options for i in features_of(flips)]
        choice = self._choice([unit[0] for unit in options], self.batch, stay=True)
        names = " and ".join(map(repr, self.moves.names(flips)))
        if any(len(unit) > 1 for unit in options) or len(choice.paths) != 2 or choice.cells:
            raise InputError(f"a frontier is for two columns that follow an order; this flip set is {names}")
        (end,) = yield from self.scores.margins([choice.row(choice.grid.lengths)])
        if end < 0:
            raise InputError(f"changing {names} does not change the decision on this row")

        def answer(points: Sequence[Point]) -> Flow[Cells, list[float]]:
            return self.scores.margins([choice.row(point) for point in points])

        try:
            return choice, (yield from relay(staircase(choice.grid, choice.bottom), answer))
        except Contradiction as found:
            raise choice.against(found, self.blame) from None

    def _confirmed(self, found: Found) -> Found:
        """Refuse a row that only follows from answers: under a monotone model, every result was asked itself."""
        if not self.scores.is_known_to_flip(found.cells):
            names = ", ".join(self.moves.names(self._moved(found.cells)))
            raise NotMonotone(frozenset(), frozenset(), f"answers about values of {names} contradict each other")
        return found

    def _choices(self, flips: Flips, minimal: bool, batch: int) -> list[Choice]:
        units = [self.moves.units[i] for i in features_of(flips)]
        ways = [unit.options if minimal else self._ways(unit) for unit in units]
        return [self._choice(options, batch, stay=not minimal) for options in product(*ways)]

    def _choice(self, options: Sequence[Option], batch: int, *, stay: bool) -> Choice:
        """Make the grid of some options; with `stay`, columns may be left where they are."""
        cells = in_order(*(option.cells for option in options))
        paths = tuple(path for option in options for path in option.paths)
        # A unit that must move has to move along its path, if it has just one and nothing else. And a value outside the
        # order is no place on a path: leaving it is a choice of its own.
        bottom = tuple(
            int((not stay and len(option.paths) == 1 and not option.cells) or not path.feature.is_ordinary(path.before))
            for option in options
            for _, path in option.paths
        )
        along = [self._costs(column, path, at_once=len(paths) > 1) for column, path in paths]
        base = sum(self._cost_of(column, value) for column, value in cells)

        def cost(point: Point) -> Cost:
            return base + sum(costs[j] for costs, j in zip(along, point, strict=True))

        ranks = [self._ranks(column, costs) for (column, _), costs in zip(paths, along, strict=True)]
        lengths = tuple(len(path.values) for _, path in paths)
        grid = Grid(lengths, ranks, batch, self.ties.least_rank(base, len(cells)))
        plain = not cells and 0 not in bottom and all(a[0] < b[0] for a, b in pairwise(paths))
        return Choice(cells, paths, bottom, grid, cost, plain)

    # --- all flip sets ----------------------------------------------------------------------------------------------

    def cheapest(self, most: int, found: Sequence[Found], *, is_limited: bool) -> Flow[Cells, Found]:
        """Return the cheapest counterfactual with at most `most` changes; `found` are some to begin with.

        Where a budget may end the search, a few queries are spent on a lower bound first.
        """
        best = min(found, key=lambda one: one.cost)
        lower = (yield from self._bound_below(best.cost)) if is_limited else 0
        likely = 0
        for one in found:
            likely |= self._moved(one.cells)
        rest = [*features_of(likely), *features_of(everything(len(self.moves.units)) & ~likely)]
        # Sets that hold all of the first and at most `most` of both; what flips for less is in one that is looked at.
        waiting: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), tuple(rest))]
        steps = Steps()
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
                choices: list[Choice] = []
                for options in product(*ways):
                    choices.append(self._choice(options, self.batch, stay=True))
                    if steps.due(LOOKING):
                        yield from self.scores.pause()
                hunt = Hunt(choices, self.ties, self.blame, below=best.cost)
                before = best
                try:
                    yield from self._go_hunting([hunt])
                finally:
                    best = hunt.found() or best
                try:
                    best = self._confirmed(best)
                except NotMonotone as error:
                    self.blame.take(error)
                    best = before
        except BudgetExhausted:
            return Found(best.cells, best.cost, min(lower, best.cost))  # a set not looked at may hold something cheaper
        return Found(best.cells, best.cost, best.cost)

    def _bound_below(self, cost: Cost) -> Flow[Cells, Cost]:
        """Prove that no counterfactual costs less than some amount, by a few questions, in case the budget ends soon.

        Where the decision stays with every unit as far as it gets for less than an amount, some unit must cost as much.
        """
        low, high = Fraction(0), Fraction(cost)
        units = range(len(self.moves.units))
        with suppress(BudgetExhausted):
            for _ in range(BOUND_STEPS):
                middle = (low + high) / 2
                if (yield from self._could_flip(units, middle)):
                    high = middle
                else:
                    low = middle
        return low

    def _could_flip(self, units: Sequence[int], bound: Cost) -> Flow[Cells, bool]:
        """Ask whether the decision flips with every unit as far as it gets for less than the bound."""
        if bound <= 0:
            return False
        ends: list[list[Cells]] = []
        for i in units:
            ways = []
            for option in self._ways(self.moves.units[i]):
                left = bound - sum(self._cost_of(column, value) for column, value in option.cells)
                if left > 0:
                    ways.append(in_order(option.cells, self._as_far_as(option, left)))
            ends.append(ways)
        return max((yield from self.scores.margins([in_order(*ways) for ways in product(*ends)]))) >= 0

    def _as_far_as(self, option: Option, spare: Cost) -> list[tuple[int, Any]]:
        reached = []
        for column, path in option.paths:
            j = bisect_left(self._costs(column, path), spare, 1) - 1
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
            key = column, type(value), value
            if key not in self._changes:  # many counterfactuals share most of their changes
                self._changes[key] = self._change(column, value)
            changes.append(self._changes[key])
            row[column] = value
        return Counterfactual(
            flipset=self.moves.names(self._moved(found.cells)),
            changes=tuple(changes),
            cost=self._in_units(found.cost),
            cost_at_least=0.0 if self.blame.errors else self._in_units(found.lower),
            score=self.scores.scores[found.cells],
            row=dict(zip(space.names, row, strict=True)),
        )

    def _in_units(self, cost: Cost) -> float:
        if cost not in self._shown:  # many counterfactuals cost the same
            self._shown[cost] = float(Fraction(cost) / self._unit)
        return self._shown[cost]

    def _change(self, column: int, value: Any) -> Change:
        feature = self.space.features[column]
        along = feature.ordered and feature.is_ordinary(value)
        rising = along and (feature.direction == 1) != self.scores.decision
        how: How = "becomes"
        if along:
            how = "at least" if rising else "at most"
        return Change(feature.name, self.row[column], value, how, is_flag=feature.kind == "binary")

    def grids(self, found: Sequence[Found]) -> dict[str, str]:
        """Say on which values each column that changes was considered."""
        changed = {column for one in found for column, _ in one.cells}
        names = self.space.names
        return {names[column]: path.grid for column, path in sorted(self._paths.items()) if column in changed}

    def _moved(self, cells: Cells) -> Flips:
        moved = 0
        for column, _ in cells:
            moved |= self._unit_of[column]
        return moved

    # --- costs ------------------------------------------------------------------------------------------------------

    def _costs(self, column: int, path: Path, *, at_once: bool = False) -> Sequence[Cost]:
        """Return the costs along a path; `at_once` where many of them will be wanted."""
        if column not in self._along:
            self._paths[column] = path
            given = self.space.reference, self._unit
            listed = all_in_units(path, *given) if at_once and self.cost is None else None
            self._along[column] = listed or costs_in_units(path, self.cost, *given)
        return self._along[column]

    def _ranks(self, column: int, costs: Sequence[Cost]) -> Sequence[Cost]:
        if column not in self._ranked:
            self._ranked[column] = self.ties.rank(column, costs, listed=isinstance(costs, list))
        return self._ranked[column]

    def _cost_of(self, column: int, value: Any) -> Cost:
        feature = self.space.features[column]
        amount = cost_of_becoming(feature, self.row[column], value, self.cost) * self._unit
        return amount.numerator if amount.denominator == 1 else amount
