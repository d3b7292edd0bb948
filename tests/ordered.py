"""Random spaces in which every feature has an order, rows of them, and models that are monotone there.

The score of a row is the same in any batch and in any process: sums are taken feature by feature, in order.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp
from random import Random
from typing import Any

from flipset import Feature, Space


@dataclass(frozen=True)
class OrderedModel:
    """A sum of features, of which some count together: by the worse of two, or by the better.

    `labels`: the model says only on which side of the threshold a row is. It can be sent to another process.
    """

    signs: tuple[int, ...]
    weights: tuple[float, ...]
    worse: tuple[tuple[int, int, float], ...]
    better: tuple[tuple[int, int, float], ...]
    threshold: float = 0.5
    labels: bool = False

    def raw(self, row: Any) -> float:
        helps = [sign * float(value) for sign, value in zip(self.signs, row, strict=True)]
        total = 0.0
        for weight, value in zip(self.weights, helps, strict=True):
            total += weight * value
        for i, j, weight in self.worse:
            total += weight * min(helps[i], helps[j])
        for i, j, weight in self.better:
            total += weight * max(helps[i], helps[j])
        return 1 / (1 + exp(-total / 10))

    def __call__(self, rows: Any) -> list[Any]:
        scores = [self.raw(row) for row in rows]
        return [score >= self.threshold for score in scores] if self.labels else scores


@dataclass(frozen=True)
class OrderedCase:
    """A space, rows of it, and a model."""

    space: Space
    rows: tuple[tuple[float, ...], ...]
    model: OrderedModel

    @cached_property
    def threshold(self) -> float:
        return 0.5 if self.model.labels else self.model.threshold


def draw_ordered(seed: int, rows: int) -> OrderedCase:
    """Draw 2 to 12 features, some fixed, and a threshold that the first row mostly reaches by 1 to 5 changes."""
    rng = Random(f"ordered/{seed}")
    d = rng.randint(2, 12)
    features = [_draw_feature(rng, f"x{i}") for i in range(d)]
    drawn = tuple(tuple(_draw_value(rng, feature) for feature in features) for _ in range(rows))
    signs = tuple(feature.direction or 0 for feature in features)
    whole = rng.random() < 0.5  # equal weights: many flip sets of one size, and of one cost
    weights = tuple(rng.choice((0, 1, 1, 2)) if whole else rng.choice((0.0, 1.0)) * rng.random() for _ in range(d))
    pairs = [(rng.randrange(d), rng.randrange(d), rng.choice((0.5, 1.0, 3.0))) for _ in range(4)]
    style = rng.randrange(3)
    model = OrderedModel(signs, weights, tuple(pairs if style == 1 else ()), tuple(pairs if style == 2 else ()))
    low = model.raw(drawn[0])
    high = model.raw([_best(feature, value) for feature, value in zip(features, drawn[0], strict=True)])
    threshold = low + (high - low) * rng.uniform(0.2, 1.05)
    labels = rng.random() < 0.3
    return OrderedCase(
        Space(features), drawn, OrderedModel(signs, weights, model.worse, model.better, threshold, labels)
    )


def _draw_feature(rng: Random, name: str) -> Feature:
    direction: Any = rng.choice((1, -1))
    kind = rng.choices(("integer", "binary", "numeric", "fixed"), (5, 2, 2, 1))[0]
    if kind == "integer":
        return Feature(name, "integer", direction=direction, lower=0, upper=rng.randint(1, 9))
    if kind == "binary":
        return Feature(name, "binary", direction=direction)
    if kind == "numeric":
        return Feature(name, direction=direction, lower=0, upper=4, step=0.5)
    return Feature(name, fixed=True)


def _draw_value(rng: Random, feature: Feature) -> float:
    if feature.fixed:
        return rng.randint(0, 4)
    if feature.kind == "numeric":
        return rng.randint(0, 8) / 2
    return rng.randint(0, 1 if feature.kind == "binary" else int(feature.upper))


def _best(feature: Feature, value: float) -> float:
    if feature.fixed:
        return value
    low, high = (0, 1) if feature.kind == "binary" else (feature.lower, feature.upper)
    return float(high if feature.direction == 1 else low)
