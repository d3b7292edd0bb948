"""Sums of weighted inputs: linear and logistic models, and everything else whose score follows such a sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flipset.models.monotone.shown import NotRead

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.models.monotone.trees import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The weight of each input in the sum."""

    weights: Floats

    def __post_init__(self) -> None:
        if not np.isfinite(self.weights).all():
            raise NotRead("a coefficient is not a finite number")

    @property
    def width(self) -> int:
        """The number of inputs."""
        return len(self.weights)


def judge_weights(weights: Weights, wanted: Mapping[int, int]) -> dict[int, str]:
    """Return the inputs whose weights contradict the wanted directions, with the reason; a weight of 0 fits both."""
    return {
        one: f"its coefficient is {weights.weights[one]:.3g}"
        for one, sign in wanted.items()
        if not weights.weights[one] * sign >= 0  # NaN fits neither
    }
