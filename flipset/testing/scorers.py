"""The contract of a scorer, the model function that an `Explainer` takes: one number per row, and monotone.

Pairs of rows are made from the rows given: where a column follows an order, one row of a pair has the better of two
values that were seen there and the other the worse, and in every other column the two are alike. So no value is made
up, and the model sees only what it may meet.
"""

from __future__ import annotations

from math import isfinite
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from flipset.testing.contract import Contract, check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


class OrderedColumn(Protocol):
    """What is read of a feature; `flipset.Feature` is one."""

    @property
    def name(self) -> str:
        """The column's name."""

    @property
    def direction(self) -> int | None:
        """+1 where the score rises with the column, -1 where it falls, None where there is no order."""

    @property
    def options(self) -> Sequence[Any]:
        """The levels of an ordinal column, ascending."""

    def is_ordinary(self, value: Any) -> bool:
        """Say whether a value is in the order: not missing, and no special code."""


class Columns(Protocol):
    """What is read of a space; `flipset.Space` is one."""

    @property
    def features(self) -> Sequence[OrderedColumn]:
        """The columns, in order."""


class ScorerContract(Contract):
    """What a model function must do. Define `score`, `space` and `rows`, and `tables` where it takes several kinds.

    Attributes
    ----------
    space
        The space that it is explained in, which says in which columns it is monotone.
    rows
        Some rows, as varied as possible.
    tolerance
        By how much a better row may score less: 0, unless sums are rounded differently from row to row.
    """

    space: Columns
    rows: Sequence[Sequence[Any]]
    tolerance: float = 0.0
    seeds = range(200)

    def score(self, table: Any) -> Any:
        """Return one score or label for each row of a table."""
        raise NotImplementedError

    def tables(self) -> Mapping[str, Callable[[Sequence[Sequence[Any]]], Any]]:
        """Return how to make a table of rows, by its kind: lists, unless told otherwise."""
        return {"list": lambda rows: [list(row) for row in rows]}

    def scores(self, rows: Sequence[Sequence[Any]]) -> list[float]:
        """Return the scores of rows in the first kind of table."""
        return _numbers(self.score(next(iter(self.tables().values()))(rows)))

    def test_each_row_has_one_finite_number(self) -> None:
        """As many scores as rows, none of them NaN or infinite, for one row as for all."""
        for rows in (self.rows, self.rows[:1]):
            scores = self.scores(rows)
            check(len(scores) == len(rows), f"{len(scores)} scores for {len(rows)} rows")
            for row, score in zip(rows, scores, strict=True):
                check(isfinite(score), f"the score of {row!r} is {score!r}")

    def test_a_row_has_the_same_score_in_any_batch(self) -> None:
        """Alone, in another order, twice in a batch, and when asked again."""
        expected = self.scores(self.rows)
        # Searches ask the same row in batches of any size, and must not get two answers.
        alone = [self.scores([row])[0] for row in self.rows]
        check(alone == expected, f"alone and together: {_first_difference(self.rows, alone, expected)}")
        turned = self.scores(self.rows[::-1])[::-1]
        check(turned == expected, f"in another order: {_first_difference(self.rows, turned, expected)}")
        twice = self.scores([row for row in self.rows for _ in range(2)])
        check(twice[::2] == twice[1::2] == expected, "rows that come twice in a batch have other scores")
        check(self.scores(self.rows) == expected, "asked again, the same rows have other scores")

    def test_a_better_row_never_scores_less(self) -> None:
        """On pairs of rows that the space can compare."""
        pairs = list(self.pairs())
        check(bool(pairs), "the rows give no pair to compare: no column with a direction has two values")
        scores = self.scores([row for pair in pairs for row in pair])
        for (worse, better), low, high in zip(pairs, scores[::2], scores[1::2], strict=True):
            check(
                low <= high + self.tolerance,
                f"{_difference(self.space, worse, better)}: the score goes from {low!r} down to {high!r}",
            )

    def test_every_kind_of_table_has_the_same_scores(self) -> None:
        """As declared by `tables`."""
        expected = self.scores(self.rows)
        for kind, make in self.tables().items():
            scores = _numbers(self.score(make(self.rows)))
            check(scores == expected, f"as {kind}: {_first_difference(self.rows, scores, expected)}")

    def pairs(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield pairs of rows, the worse first: half of them differ in one column."""
        features = self.space.features
        for seed in self.seeds:
            rng = Random(seed)
            one, other = rng.choice(self.rows), rng.choice(self.rows)
            worse, better = list(one), list(one)
            ordered = [
                i
                for i, feature in enumerate(features)
                if feature.direction is not None
                and one[i] != other[i]
                and feature.is_ordinary(one[i])
                and feature.is_ordinary(other[i])
            ]
            # Single columns find which direction is wrong. All at once finds contradictions that need several.
            for i in ordered if seed % 2 else rng.sample(ordered, min(1, len(ordered))):
                worse[i], better[i] = sorted((one[i], other[i]), key=_place_in(features[i]))
            if worse != better:
                yield worse, better


def _place_in(feature: OrderedColumn) -> Callable[[Any], float]:
    """Order the values of a column from worse to better."""
    sign, levels = feature.direction or 0, list(feature.options)
    return lambda value: sign * (levels.index(value) if value in levels else value)


def _numbers(scores: Any) -> list[float]:
    return [float(score) for score in scores]


def _first_difference(rows: Sequence[Sequence[Any]], scores: Sequence[float], expected: Sequence[float]) -> str:
    if len(scores) != len(expected):
        return f"{len(scores)} scores for {len(expected)} rows"
    differing = zip(rows, scores, expected, strict=True)
    return next((f"{row!r} scores {a!r}, or {b!r}" for row, a, b in differing if a != b), "no difference")


def _difference(space: Columns, worse: Sequence[Any], better: Sequence[Any]) -> str:
    names = [feature.name for feature in space.features]
    changes = [f"{name}: {a!r} → {b!r}" for name, a, b in zip(names, worse, better, strict=True) if a != b]
    return "; ".join(changes)
