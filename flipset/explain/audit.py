"""The audit: a test whether a model is monotone in the directions that the space declares.

Explanations are exact for a monotone model. A search makes few queries and so meets few contradictions. An audit looks
for them: along single features, starting from real rows, and along chains that move one feature after another to its
best allowed value. It cannot prove that a model is monotone: features whose directions are proved from the model itself
are left out, and for the others it says how many pairs may still be in the wrong order. The contradictions it finds are
pairs of rows that anybody can score again.

The budget is spent in two parts. First every feature is compared once, between two values, so that a small budget
reaches all features. Then rows are compared at all points, one row after another, as long as whole rows fit into the
budget. No row is scored twice.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

from flipset.answers.order import is_in_order
from flipset.errors import InputError
from flipset.explain.audit_result import Audit, Finding, Witness
from flipset.space.feature import level_range
from flipset.space.unit_options import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flipset.space import Feature, Space
    from flipset.space.cells import Cells
    from flipset.space.feature import Value
    from flipset.space.rows import Row

BUDGET = 100_000
"""The default limit on the queries of an audit."""

POINTS = 6
"""The most values of a feature that are compared from one row: its bounds, its own value, and some between."""

CHAIN = 64
"""The most steps of a chain. If more features can move, several move in one step."""

MOST_CELLS = 1 << 22
"""The most cells of the rows of one call: 32 MB of numbers."""


def audit_rows(
    space: Space,
    rows: Sequence[Row],
    ask: Callable[[Sequence[tuple[Row, Cells]]], list[float]],
    budget: int,
    proved: Sequence[str] = (),
) -> Audit:
    """Compare pairs of rows that differ only in the better direction, until the budget of queries is spent.

    Features in `proved` are left out.
    """
    return _Auditor(space, rows, ask, budget, proved).audit()


@dataclass(slots=True)
class PairCount:
    """The pairs compared so far, along one feature or along chains."""

    name: str
    pairs: int = 0
    in_order: int = 0
    rising: int = 0
    worst: Witness | None = None

    def compare(self, space: Space, row: Row, run: Sequence[Cells], scores: Mapping[Cells, float]) -> None:
        """Compare each row of a run with the next one, which should not score less."""
        for worse, better in pairwise(run):
            score, better_score = scores[worse], scores[better]
            self.pairs += 1
            self.rising += better_score > score
            if is_in_order(score, better_score):
                self.in_order += 1
            elif self.worst is None or score - better_score > self.worst.fall:
                self.worst = _witness(space, row, worse, better, score, better_score)

    def finding(self) -> Finding:
        """Return what was found."""
        return Finding(self.name, self.pairs, self.in_order, self.worst, not self.rising and self.worst is not None)


@dataclass(slots=True)
class _Auditor:
    """An audit under way.

    A run is a list of rows, given by their changed cells, each of which should score no less than the one before. The
    scores of a row's changes are kept until the row has been compared at all points.
    """

    space: Space
    rows: Sequence[Row]
    ask: Callable[[Sequence[tuple[Row, Cells]]], list[float]]
    budget: int
    proved: Sequence[str] = ()
    asked: int = 0
    scores: dict[int, dict[Cells, float]] = field(default_factory=dict)

    def audit(self) -> Audit:
        directed = [i for i, feature in enumerate(self.space.features) if _is_audited(feature)]
        audited = [i for i in directed if self.space.features[i].name not in self.proved]
        proved = tuple(self.space.features[i].name for i in directed if i not in audited)
        counts = {i: PairCount(self.space.features[i].name) for i in audited}
        chains = PairCount("several together")
        order = list(range(len(self.rows)))
        Random(0).shuffle(order)  # so that all parts of the table are reached early; the same order each time
        # Part 1: one pair for each feature, and one pair with all features at once.
        first, alike = self._one_pair_each(order, audited)
        needed = {row: _distinct(run for _, run in runs) for row, runs in first.items()}
        least = sum(map(len, needed.values()))
        # A budget that is too small is still spent: some features compared are better than none.
        for row, cells in needed.items():
            self._answer(row, cells[: self.budget - self.asked])
        together = self._all_at_once(first, audited)
        for row, run in together.items():
            self._answer(row, [cells for cells in run if cells not in self.scores[row]][: self.budget - self.asked])
            first[row].append((None, run))
        # Part 2: whole rows. Their runs contain the pairs of part 1, which then must not count twice.
        whole = self._whole_rows(order, audited, counts, chains) if least <= self.budget else set()
        for row, runs in first.items():
            for i, run in runs:
                if row not in whole and all(cells in self.scores[row] for cells in run):
                    (chains if i is None else counts[i]).compare(self.space, self.rows[row], run, self.scores[row])
        findings = tuple(one.finding() for one in counts.values())
        one_value = tuple(self.space.features[i].name for i in alike)
        return Audit(findings, chains.finding(), self.asked, least, one_value, proved=proved)

    def _one_pair_each(
        self, order: Sequence[int], audited: Sequence[int]
    ) -> tuple[dict[int, list[tuple[int | None, list[Cells]]]], list[int]]:
        """Return runs of two rows that compare every feature once, by row, and the features that no row compares."""
        runs: dict[int, list[tuple[int | None, list[Cells]]]] = {}
        # Rows are taken in order, each for all features that it can compare: few rows, and so few queries, do.
        missing = list(audited)
        for row in order:
            pairs = [(i, self._computable(row, _pair(self.space.features[i], i, self.rows[row]))) for i in missing]
            pairs = [(i, run if len(run) == 2 else []) for i, run in pairs]
            if any(run for _, run in pairs):
                runs[row] = [(i, run) for i, run in pairs if run]
                missing = [i for i, run in pairs if not run]
            if not missing:
                break
        return runs, missing

    def _all_at_once(self, rows: Iterable[int], audited: Sequence[int]) -> dict[int, list[Cells]]:
        """Return, for one of the rows, the run from the row itself to all features at their best values."""
        for row in rows:
            best = _best_cells(self.space, self.rows[row], audited)
            if best and self._computable(row, [in_order(best)]):
                return {row: [(), in_order(best)]}
        return {}

    def _whole_rows(
        self, order: Sequence[int], audited: Sequence[int], counts: Mapping[int, PairCount], chains: PairCount
    ) -> set[int]:
        """Compare rows at all points of every feature, and along a chain, while the budget lasts; return which rows."""
        done = set()
        for place in order:
            row = self.rows[place]
            runs = [(counts[i], self._computable(place, _along(self.space.features[i], i, row))) for i in audited]
            runs.append((chains, self._computable(place, _chain(self.space, row, place, audited))))
            scored = self.scores.get(place, {})
            cells = [one for one in _distinct(run for _, run in runs if len(run) > 1) if one not in scored]
            # Rows are compared whole or not at all, so that every feature is tested equally often.
            if self.asked + len(cells) > self.budget:
                break
            self._answer(place, cells)
            for pairs, run in runs:
                if len(run) > 1:
                    pairs.compare(self.space, row, run, self.scores[place])
            done.add(place)
            del self.scores[place]  # a table may have a million rows
        return done

    def _computable(self, place: int, run: list[Cells]) -> list[Cells]:
        """Return the rows of a run whose computed columns have a value: a bound may be a divisor of 0."""
        computed = self.space.computed
        if computed is None:
            return run
        found = []
        for cells in run:
            with suppress(InputError):
                computed.complete(self.rows[place], cells)
                found.append(cells)
        return found

    def _answer(self, place: int, cells: Sequence[Cells]) -> None:
        """Score one row with these changes, in calls that are not too large."""
        scores = self.scores.setdefault(place, {})
        row = self.rows[place]
        most = max(1, MOST_CELLS // max(1, len(row)))
        for start in range(0, len(cells), most):
            part = cells[start : start + most]
            scores |= zip(part, self.ask([(row, one) for one in part]), strict=True)
            self.asked += len(part)


def _distinct(runs: Iterable[Sequence[Cells]]) -> list[Cells]:
    return list(dict.fromkeys(cells for run in runs for cells in run))


def _pair(feature: Feature, i: int, row: Row) -> list[Cells]:
    """Return two rows that differ in one feature only; an empty list if the feature has only one value."""
    if not _has_pair(feature, row[i]):
        return []
    # The row itself is one of the two, if its value is part of the order: it serves all features, for one query.
    run = _along(feature, i, row)
    return [run[0], ()] if run[-1] == () else [(), run[-1]] if () in run else [run[0], run[-1]]


def _along(feature: Feature, i: int, row: Row) -> list[Cells]:
    """Return rows that differ in one feature only, from its worst to its best value; `()` is the row itself."""
    values = _values(feature, row[i])
    if feature.direction == -1:
        values.reverse()
    own = _has_place(feature, row[i])
    return [() if own and value == row[i] else ((i, value),) for value in values]


def _chain(space: Space, row: Row, seed: int, audited: Sequence[int]) -> list[Cells]:
    """Return rows that move one feature after another to its best value, in a random order."""
    cells = _best_cells(space, row, audited)
    if not cells:
        return [()]
    # Another order for each row, the same each time: a fixed one would compare the same combinations again and again.
    Random(seed).shuffle(cells)
    steps = min(CHAIN, len(cells))
    # In equal parts, and cells in the order of columns: equal rows are recognised by equal cells.
    return [in_order(cells[: len(cells) * k // steps]) for k in range(steps + 1)]


def _best_cells(space: Space, row: Row, audited: Sequence[int]) -> list[tuple[int, Value]]:
    """Return the best cell of each feature whose value is part of the order and not already the best."""
    cells = []
    for i in audited:
        feature = space.features[i]
        if _has_place(feature, row[i]):
            values = _values(feature, row[i])
            best = values[-1] if feature.direction == 1 else values[0]
            if best != row[i]:
                cells.append((i, best))
    return cells


def _has_pair(feature: Feature, value: Value) -> bool:
    """Say whether a feature has two values to compare, without listing them."""
    least, most = level_range(feature) if feature.levels else (feature.lower, feature.upper)
    place = feature.levels.index(value) if feature.levels and value in feature.levels else value
    return bool(least < most) or (_has_place(feature, value) and place != least)


def _has_place(feature: Feature, value: Value) -> bool:
    """Say whether a value is part of the order: not missing, no special code, and one of the levels, if any."""
    return feature.is_ordinary(value) and (not feature.levels or value in feature.levels)


def _is_audited(feature: Feature) -> bool:
    return feature.ordered and not feature.fixed


def _values(feature: Feature, value: Value) -> list[Value]:
    """Return some values of a feature, ascending: its bounds, the row's own, and a few between."""
    if feature.levels:
        least, most = level_range(feature)
        places = set(range(least, most + 1))
        if _has_place(feature, value):
            places.add(feature.levels.index(value))
        return [feature.levels[place] for place in sorted(places)]
    # Fractions, because the difference of two large floats may overflow.
    lower, upper = Fraction(feature.lower), Fraction(feature.upper)
    between = [lower + (upper - lower) * k / (POINTS - 2) for k in range(1, POINTS - 2)]
    inner = [round(point) if feature.kind == "integer" else float(point) for point in between]
    own = [value] if _has_place(feature, value) else []
    return sorted({feature.lower, feature.upper, *inner, *own})


def _witness(space: Space, row: Row, worse: Cells, better: Cells, score: float, better_score: float) -> Witness:
    rows = []
    for cells in (worse, better):
        values = list(row)
        for i, value in cells if space.computed is None else space.computed.complete(row, cells):
            values[i] = value
        rows.append(dict(zip(space.names, values, strict=True)))
    # Read off the two rows, since the cells of a chain may repeat what both rows have in common.
    computed = () if space.computed is None else space.computed.names
    changed = tuple(name for name in space.names if rows[0][name] != rows[1][name] and name not in computed)
    return Witness(changed, rows[0], rows[1], score, better_score)
