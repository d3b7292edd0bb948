"""Looking for answers in the wrong order, to see whether a model is monotone where the space says so.

Explanations are exact for a monotone model, and a frugal search meets few contradictions. An audit goes looking: along
single features from real rows, and along chains that move one feature after another to its better end. It cannot prove
that a model is monotone; what it finds are rows anybody can ask again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

from flipset.moves import in_order
from flipset.space.feature import level_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flipset.moves import Cells
    from flipset.rows import Row
    from flipset.space import Feature, Space
    from flipset.space.feature import Value

BUDGET = 100_000
"""Rows that an audit asks at most, unless told otherwise."""

POINTS = 6
"""Values of a feature that are compared from one row: its bounds, its own value, and some between."""

TOLERANCE = 1e-12
"""Scores that fall by less than this share of their size are the same: some models answer a row by its batch."""


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
        """The share of pairs in order."""
        return self.in_order / self.pairs if self.pairs else 1.0


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
    """

    features: tuple[Finding, ...]
    chains: Finding
    queries: int

    @property
    def passed(self) -> bool:
        """Whether nothing was found in the wrong order."""
        return all(finding.worst is None for finding in (*self.features, self.chains))

    def __str__(self) -> str:
        lines = [f"{self.queries:,} rows asked: " + ("no contradiction found" if self.passed else "NOT MONOTONE")]
        for finding in (*self.features, self.chains):
            lines.append(f"  {finding.name:<24} {finding.held:8.2%} of {finding.pairs:,} pairs in order")
            if finding.worst is not None:
                lines.append(f"    worst: {_told(finding.worst)}")
        return "\n".join(lines)


def audit_rows(
    space: Space, rows: Sequence[Row], ask: Callable[[Sequence[tuple[Row, Cells]]], list[float]], budget: int
) -> Audit:
    """Compare pairs of rows that differ in the better direction only, until the budget of rows to ask is spent."""
    features = {feature.name: Tally(feature.name) for feature in space.features if _is_audited(feature)}
    chains = Tally("several together")
    asked = 0
    for row, seed in _spread(rows):
        runs = [(tally, _along(space, row, name)) for name, tally in features.items()]
        runs.append((chains, _chain(space, row, seed)))
        questions = [(row, cells) for _, run in runs for cells in run]
        if asked + len(questions) > budget:
            break
        scores = iter(ask(questions))
        asked += len(questions)
        for tally, run in runs:
            tally.compare(space, row, run, [next(scores) for _ in run])
    return Audit(tuple(tally.finding() for tally in features.values()), chains.finding(), asked)


@dataclass(slots=True)
class Tally:
    """Pairs compared so far."""

    name: str
    pairs: int = 0
    in_order: int = 0
    worst: Witness | None = None

    def compare(self, space: Space, row: Row, run: Sequence[Cells], scores: Sequence[float]) -> None:
        """Compare each row of a run with the next, which should not score less."""
        for (worse, better), (score, better_score) in zip(pairwise(run), pairwise(scores), strict=True):
            self.pairs += 1
            fall = score - better_score
            if fall <= TOLERANCE * max(abs(score), abs(better_score)):
                self.in_order += 1
            elif self.worst is None or fall > self.worst.fall:
                self.worst = _witness(space, row, worse, better, score, better_score)

    def finding(self) -> Finding:
        """Return what was found."""
        return Finding(self.name, self.pairs, self.in_order, self.worst)


def _spread(rows: Sequence[Row]) -> Iterator[tuple[Row, int]]:
    """Go through the rows in an order that has seen all parts of the table early, the same each time."""
    order = list(range(len(rows)))
    Random(0).shuffle(order)
    for i in order:
        yield rows[i], i


def _along(space: Space, row: Row, name: str) -> list[Cells]:
    """Return rows that differ in one feature only, from its worst to its best value."""
    i = space.position(name)
    feature = space.features[i]
    values = _values(feature, row[i])
    if feature.direction == -1:
        values.reverse()
    return [((i, value),) for value in values]


def _chain(space: Space, row: Row, seed: int) -> list[Cells]:
    """Return rows that move one feature after the other to its better end, in a random order."""
    movable = [i for i, feature in enumerate(space.features) if _is_audited(feature) and feature.is_ordinary(row[i])]
    Random(seed).shuffle(movable)
    cells: list[tuple[int, Any]] = []
    run: list[Cells] = [()]
    for i in movable:
        feature = space.features[i]
        values = _values(feature, row[i])
        end = values[-1] if feature.direction == 1 else values[0]
        cells.append((i, end))
        run.append(in_order(cells))
    return run


def _is_audited(feature: Feature) -> bool:
    return feature.ordered and not feature.fixed


def _values(feature: Feature, value: Value) -> list[Value]:
    """Return some values of a feature, ascending: its bounds, the row's own, and a few between."""
    if feature.levels:
        least, most = level_range(feature)
        places = set(range(least, most + 1))
        if value in feature.levels:
            places.add(feature.levels.index(value))
        return [feature.levels[place] for place in sorted(places)]
    lower, upper = feature.lower, feature.upper
    between = [lower + (upper - lower) * k / (POINTS - 2) for k in range(1, POINTS - 2)]
    if feature.kind == "integer":
        between = [round(point) for point in between]
    own = [value] if feature.is_ordinary(value) else []
    return sorted({lower, upper, *between, *own})


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
