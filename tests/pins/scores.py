"""Monotone models of rows of numbers, written by hand, and the spaces that they are monotone in.

A model sees each column as a place from 0, worst, to 1, best. It can be pickled, adds up column by column, and uses
nothing beyond the four operations: its scores are the same everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Self

import numpy as np

from flipset import Feature, Space

KINDS = ("additive", "least", "most", "noisy", "steps", "trees")


@dataclass(frozen=True)
class Score:
    """A model of ordered columns: `scales` are their worst and best values, `weights` and `terms` what counts."""

    kind: str
    scales: tuple[tuple[float, float], ...]
    weights: tuple[float, ...]
    terms: tuple[tuple[tuple[int, float], ...], ...] = ()
    threshold: float | None = None
    fails_at: float | None = None
    wavy: bool = False

    def __call__(self, rows: Any) -> Any:
        table = np.asarray(rows, dtype=float)
        scores = self.score(table)
        if self.fails_at is not None and (table[:, 0] == self.fails_at).any():
            raise RuntimeError("not this row")
        return scores if self.threshold is None else scores >= self.threshold

    def score(self, table: Any) -> Any:
        """Return the score of each row, from about 0 to about 1."""
        places = [(table[:, i] - worst) / (best - worst) for i, (worst, best) in enumerate(self.scales)]
        scores = getattr(self, f"_{self.kind}")(places)
        return scores - 0.2 * (np.floor(places[0] * 7) % 2) - 0.04 * np.floor(places[1] * 3) if self.wavy else scores

    def _sum(self, columns: Sequence[Any]) -> Any:
        total = np.zeros(len(columns[0]))
        for weight, column in zip(self.weights, columns, strict=True):
            total = total + weight * column
        return total

    def _additive(self, places: Sequence[Any]) -> Any:
        return self._sum(places)

    def _steps(self, places: Sequence[Any]) -> Any:
        return self._sum([np.floor(place * 4) / 4 for place in places])

    def _least(self, places: Sequence[Any]) -> Any:
        halves = [[place if i % 2 == half else 0 * place for i, place in enumerate(places)] for half in (0, 1)]
        return np.minimum(self._sum(halves[0]), self._sum(halves[1]))

    def _most(self, places: Sequence[Any]) -> Any:
        pairs = [np.minimum(one, other) for one, other in zip(places, [*places[1:], places[0]], strict=True)]
        best = pairs[0]
        for pair in pairs[1:]:
            best = np.maximum(best, pair)
        return best * 0.5 + self._sum(places) * 0.5

    def _noisy(self, places: Sequence[Any]) -> Any:
        left = np.ones(len(places[0]))
        for weight, place in zip(self.weights, places, strict=True):
            left = left * (1 - min(0.95, 2 * weight) * np.clip(place, 0, 1))
        return 1 - left

    def _trees(self, places: Sequence[Any]) -> Any:
        total = np.zeros(len(places[0]))
        for term in self.terms:
            reached = np.ones(len(places[0]), dtype=bool)
            for i, least in term:
                reached = reached & (places[i] >= least)
            total = total + reached / len(self.terms)
        return total


@dataclass(frozen=True)
class Setting:
    """A space, a model of it, and rows."""

    space: Space
    model: Score
    rows: list[list[float]]
    threshold: float

    def labels(self) -> Self:
        """Return the same with a model that gives labels only."""
        return replace(self, model=replace(self.model, threshold=self.threshold), threshold=0.5)

    def wavy(self) -> Self:
        """Return the same with a model that is not monotone in its first two columns."""
        return replace(self, model=replace(self.model, wavy=True))


def draw_setting(rng: Random, least: int, most: int, rows: int = 1, *, weighted: bool = False) -> Setting:
    """Draw a space of ordered columns, a model and rows, mostly on the side from which the decision can be turned."""
    d = rng.randint(least, most)
    features = [_draw_feature(rng, f"x{i}", weighted) for i in range(d)]
    scales = tuple(_scale(feature) for feature in features)
    terms = tuple(
        tuple((i, rng.choice((0.25, 0.5, 0.75))) for i in rng.sample(range(d), rng.randint(1, min(3, d))))
        for _ in range(12)
    )
    raw = [rng.choice((0.5, 1, 1, 2, 3)) for _ in range(d)]
    model = Score(rng.choice(KINDS), scales, tuple(weight / sum(raw) for weight in raw), terms)
    table = [[_draw_value(rng, feature, scale) for feature, scale in zip(features, scales, strict=True)]
             for _ in range(rows)]  # fmt: skip
    first, best = model.score(np.array([table[0], [scale[1] for scale in scales]], dtype=float)).tolist()
    threshold = first + rng.choice((-0.15, 0.1, 0.2, 0.3, 0.45, 0.6)) * (best - first)
    return Setting(Space(features), model, table, threshold)


def _draw_feature(rng: Random, name: str, weighted: bool) -> Feature:
    how: dict[str, Any] = {"direction": rng.choice((1, -1))}
    kind: Any = rng.choice(("integer", "integer", "numeric", "numeric", "step", "ordinal", "binary"))
    if kind == "ordinal":
        how["options"] = (1, 2, 4, 8)
    elif kind == "integer":
        how |= {"lower": rng.choice((0, 10)), "upper": rng.choice((15, 40, 200))}
    elif kind != "binary":
        how |= {"lower": -1.5, "upper": rng.choice((1.0, 12.25))}
        how["step"] = rng.choice((0.25, 0.5, 0.3)) if kind == "step" else None
    if kind not in ("ordinal", "binary") and rng.random() < 0.15:
        how[rng.choice(("may_rise", "may_fall"))] = False
    how["fixed"] = rng.random() < 0.07
    if weighted:
        how["weight"] = rng.choice((0.5, 1, 1, 2, 3))
    return Feature(name, "numeric" if kind == "step" else kind, **how)


def _scale(feature: Feature) -> tuple[float, float]:
    low, high = (0, 1) if feature.kind == "binary" else (1, 8) if feature.options else (feature.lower, feature.upper)
    return (float(low), float(high)) if feature.direction == 1 else (float(high), float(low))


def _draw_value(rng: Random, feature: Feature, scale: tuple[float, float]) -> float:
    place = rng.choice((0.0, 0.1, 0.2, 0.3, 0.5, 0.8))
    value = scale[0] + place * (scale[1] - scale[0])
    if feature.kind == "binary":
        return float(rng.random() < 0.3) if feature.direction == 1 else float(rng.random() < 0.7)
    if feature.kind == "ordinal":
        return float(min((1, 2, 4, 8), key=lambda level: abs(level - value)))
    return float(round(value)) if feature.kind == "integer" else round(value + rng.choice((0, 0, 0.125)), 3)
