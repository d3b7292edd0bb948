"""Looking for answers in the wrong order, to see whether a model is monotone where the space says so.

Explanations are exact for a monotone model, and a frugal search meets few contradictions. An audit goes looking: along
single features from real rows, and along chains that move one feature after another to its better end. It cannot prove
that a model is monotone; what it finds are rows anybody can ask again.

The budget is spent in two parts. First every feature is compared once, between two values, so that a small budget is
spread over the features. Then rows are compared at all points, one row after the other, while whole rows fit.
No row is asked twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import isinf
from random import Random
from typing import TYPE_CHECKING

from flipset.plural import count
from flipset.space.feature import level_range
from flipset.space.moves import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from flipset.space import Feature, Space
    from flipset.space.feature import Value
    from flipset.space.moves import Cells
    from flipset.space.rows import Row

BUDGET = 100_000
"""Rows that an audit asks at most, unless told otherwise."""

POINTS = 6
"""Values of a feature that are compared from one row: its bounds, its own value, and some between."""

CHAIN = 64
"""Steps of a chain; where more features can move, several move in one step."""

MOST_CELLS = 1 << 22
"""Cells of the rows that are asked together: 32 MB of numbers."""

TOLERANCE = 1e-12
"""Scores that fall by less than this share of their size are the same: some models answer a row by its batch."""

SHOWN = 8
"""Names that a line of text lists at most."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Two rows in the wrong order: `better` differs from `row` in the better direction only, and scores less."""

    features: tuple[str, ...]
    row: Mapping[str, Value]
    better: Mapping[str, Value]
    score: float
    better_score: float

    @property
    def fall(self) -> float:
        """How much the score falls where it should not."""
        return self.score - self.better_score


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about one direction: pairs compared, how many were in order, and the worst that was not."""

    name: str
    pairs: int
    in_order: int
    worst: Witness | None

    @property
    def held(self) -> float:
        """The share of pairs in order; 0 where none was compared."""
        return self.in_order / self.pairs if self.pairs else 0.0


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found.

    Attributes
    ----------
    features
        For each feature with a direction what was found along it alone.
    chains
        What was found where several features move one after the other.
    queries
        How many rows the model was asked.
    least_budget
        The smallest budget with which every feature is compared at least once.
    one_value
        Features that no budget compares: they have the same value in all rows, and it is their only allowed one.
    left_out
        Why some rows of the table were not started from, for each of them.
    """

    features: tuple[Finding, ...]
    chains: Finding
    queries: int
    least_budget: int = 0
    one_value: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def not_compared(self) -> tuple[str, ...]:
        """Features of which nothing is known, because no pair was compared."""
        return tuple(finding.name for finding in self.features if not finding.pairs)

    @property
    def passed(self) -> bool:
        """Whether every feature was compared, and nothing was found in the wrong order."""
        in_order = all(finding.worst is None for finding in (*self.features, self.chains))
        return in_order and bool(self.features) and not self.not_compared

    def __str__(self) -> str:
        findings = (*self.features, self.chains)
        width = max(24, *(len(finding.name) for finding in findings))
        lines = [f"{count(self.queries, 'row')} asked: {self._verdict()}"]
        for finding in findings:
            held = f"{finding.held:8.2%} of {count(finding.pairs, 'pair')} in order"
            lines.append(f"  {finding.name:<{width}} {held if finding.pairs else ' nothing was compared'}")
            if finding.worst is not None:
                lines.append(f"    worst: {_told(finding.worst)}")
        return "\n".join([*lines, *self._advice()])

    def _verdict(self) -> str:
        if any(finding.worst is not None for finding in (*self.features, self.chains)):
            return "NOT MONOTONE"
        if not any(finding.pairs for finding in (*self.features, self.chains)):
            return "NOT AUDITED, nothing was compared"
        if missed := len(self.not_compared):
            were = "was" if missed == 1 else "were"
            total = count(len(self.features), "feature")
            return f"no contradiction found, but {missed:,} of {total} {were} not compared"
        return "no contradiction found"

    def _advice(self) -> Iterator[str]:
        """Say what would compare the features that were not compared."""
        if not self.features:
            yield "No feature has a direction and may move: there is nothing to audit."
        if missed := [name for name in self.not_compared if name not in self.one_value]:
            yield f"Not compared: {_some(missed)}. The budget must be at least {count(self.least_budget, 'row')}."
        if self.one_value:
            yield f"No budget compares {_some(self.one_value)}: one value in all rows, and no other allowed."
        if self.left_out:
            yield f"{count(len(self.left_out), 'row')} left out; the first: {self.left_out[0]}."


def audit_rows(
    space: Space, rows: Sequence[Row], ask: Callable[[Sequence[tuple[Row, Cells]]], list[float]], budget: int
) -> Audit:
    """Compare pairs of rows that differ in the better direction only, until the budget of rows to ask is spent."""
    return _Auditor(space, rows, ask, budget).audit()


@dataclass(slots=True)
class Tally:
    """Pairs compared so far."""

    name: str
    pairs: int = 0
    in_order: int = 0
    worst: Witness | None = None

    def compare(self, space: Space, row: Row, run: Sequence[Cells], scores: Mapping[Cells, float]) -> None:
        """Compare each row of a run with the next, which should not score less."""
        for worse, better in pairwise(run):
            score, better_score = scores[worse], scores[better]
            self.pairs += 1
            if is_in_order(score, better_score):
                self.in_order += 1
            elif self.worst is None or score - better_score > self.worst.fall:
                self.worst = _witness(space, row, worse, better, score, better_score)

    def finding(self) -> Finding:
        """Return what was found."""
        return Finding(self.name, self.pairs, self.in_order, self.worst)


def is_in_order(score: float, better_score: float) -> bool:
    """Say whether the score of the better row is no less, but for rounding; equal infinities are in order."""
    if score <= better_score:
        return True
    if isinf(score) or isinf(better_score):
        return False
    return score - better_score <= TOLERANCE * max(abs(score), abs(better_score))


@dataclass(slots=True)
class _Auditor:
    """An audit under way. Scores of rows that are not compared at all points yet are kept by row and changed cells."""

    space: Space
    rows: Sequence[Row]
    ask: Callable[[Sequence[tuple[Row, Cells]]], list[float]]
    budget: int
    asked: int = 0
    scores: dict[int, dict[Cells, float]] = field(default_factory=dict)

    def audit(self) -> Audit:
        audited = [i for i, feature in enumerate(self.space.features) if _is_audited(feature)]
        tallies = {i: Tally(self.space.features[i].name) for i in audited}
        chains = Tally("several together")
        order = list(range(len(self.rows)))
        Random(0).shuffle(order)  # all parts of the table are seen early, and it is the same each time
        first, alike = self._one_pair_each(order, audited)
        needed = {row: _distinct(run for _, run in runs) for row, runs in first.items()}
        least = sum(map(len, needed.values()))
        for row, cells in needed.items():
            self._answer(row, cells[: self.budget - self.asked])
        together = self._all_at_once(first, audited)
        for row, run in together.items():
            self._answer(row, [cells for cells in run if cells not in self.scores[row]][: self.budget - self.asked])
            first[row].append((None, run))
        whole = self._whole_rows(order, audited, tallies, chains) if least <= self.budget else set()
        for row, runs in first.items():
            for i, run in runs:
                if row not in whole and all(cells in self.scores[row] for cells in run):
                    (chains if i is None else tallies[i]).compare(self.space, self.rows[row], run, self.scores[row])
        found = tuple(tally.finding() for tally in tallies.values())
        return Audit(found, chains.finding(), self.asked, least, tuple(self.space.features[i].name for i in alike))

    def _one_pair_each(
        self, order: Sequence[int], audited: Sequence[int]
    ) -> tuple[dict[int, list[tuple[int | None, list[Cells]]]], list[int]]:
        """Return for some rows the runs of two by which every feature is compared once, and whom no row compares."""
        runs: dict[int, list[tuple[int | None, list[Cells]]]] = {}
        missing = list(audited)
        for row in order:
            pairs = [(i, _pair(self.space.features[i], i, self.rows[row])) for i in missing]
            if any(run for _, run in pairs):
                runs[row] = [(i, run) for i, run in pairs if run]
                missing = [i for i, run in pairs if not run]
            if not missing:
                break
        return runs, missing

    def _all_at_once(self, rows: Iterable[int], audited: Sequence[int]) -> dict[int, list[Cells]]:
        """Return for one of the rows the run of two from the row itself to all features at their better ends."""
        for row in rows:
            if ends := _ends(self.space, self.rows[row], audited):
                return {row: [(), in_order(ends)]}
        return {}

    def _whole_rows(
        self, order: Sequence[int], audited: Sequence[int], tallies: Mapping[int, Tally], chains: Tally
    ) -> set[int]:
        """Compare rows at all points of every feature, and along a chain, while whole rows fit; return which did."""
        done = set()
        for place in order:
            row = self.rows[place]
            runs = [(tallies[i], _along(self.space.features[i], i, row)) for i in audited]
            runs.append((chains, _chain(self.space, row, place, audited)))
            known = self.scores.get(place, {})
            cells = [one for one in _distinct(run for _, run in runs if len(run) > 1) if one not in known]
            if self.asked + len(cells) > self.budget:
                break
            self._answer(place, cells)
            for tally, run in runs:
                if len(run) > 1:
                    tally.compare(self.space, row, run, self.scores[place])
            done.add(place)
            del self.scores[place]
        return done

    def _answer(self, place: int, cells: Sequence[Cells]) -> None:
        """Ask for one row with these changes, some at a time."""
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
    """Return two rows, the row itself if it is in the order, that differ in one feature only; nothing if none do."""
    if not _has_pair(feature, row[i]):
        return []
    run = _along(feature, i, row)
    return [run[0], ()] if run[-1] == () else [(), run[-1]] if () in run else [run[0], run[-1]]


def _along(feature: Feature, i: int, row: Row) -> list[Cells]:
    """Return rows that differ in one feature only, from its worst to its best value; the row itself is ()."""
    values = _values(feature, row[i])
    if feature.direction == -1:
        values.reverse()
    own = _has_place(feature, row[i])
    return [() if own and value == row[i] else ((i, value),) for value in values]


def _chain(space: Space, row: Row, seed: int, audited: Sequence[int]) -> list[Cells]:
    """Return rows that move one feature after the other to its better end, in a random order."""
    ends = _ends(space, row, audited)
    if not ends:
        return [()]
    Random(seed).shuffle(ends)
    steps = min(CHAIN, len(ends))
    return [in_order(ends[: len(ends) * k // steps]) for k in range(steps + 1)]


def _ends(space: Space, row: Row, audited: Sequence[int]) -> list[tuple[int, Value]]:
    """Return the features that are in the order and not at their better end, with that end."""
    found = []
    for i in audited:
        feature = space.features[i]
        if _has_place(feature, row[i]):
            values = _values(feature, row[i])
            end = values[-1] if feature.direction == 1 else values[0]
            if end != row[i]:
                found.append((i, end))
    return found


def _has_pair(feature: Feature, value: Value) -> bool:
    """Say whether there are two values of a feature to compare, without listing them."""
    least, most = level_range(feature) if feature.levels else (feature.lower, feature.upper)
    place = feature.levels.index(value) if feature.levels and value in feature.levels else value
    return bool(least < most) or (_has_place(feature, value) and place != least)


def _has_place(feature: Feature, value: Value) -> bool:
    """Say whether a value is in the order: not missing, no special code, and one of the levels if there are any."""
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
    lower, upper = Fraction(feature.lower), Fraction(feature.upper)  # floats near the largest have no difference
    between = [lower + (upper - lower) * k / (POINTS - 2) for k in range(1, POINTS - 2)]
    inner = [round(point) if feature.kind == "integer" else float(point) for point in between]
    own = [value] if _has_place(feature, value) else []
    return sorted({feature.lower, feature.upper, *inner, *own})


def _witness(space: Space, row: Row, worse: Cells, better: Cells, score: float, better_score: float) -> Witness:
    rows = []
    for cells in (worse, better):
        values = list(row)
        for i, value in cells:
            values[i] = value
        rows.append(dict(zip(space.names, values, strict=True)))
    changed = tuple(name for name in space.names if rows[0][name] != rows[1][name])
    return Witness(changed, rows[0], rows[1], score, better_score)


def _told(witness: Witness) -> str:
    changes = ", ".join(f"{name} {witness.row[name]!r} → {witness.better[name]!r}" for name in witness.features)
    return f"{changes}: the score falls from {witness.score:.6g} to {witness.better_score:.6g}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
