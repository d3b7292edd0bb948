"""What the margin of a set may be, if margins add up. This guides queries and starts; nothing is concluded from it.

A forecast depends only on margins of single features, or on zeros that follow from the function. So the starts that it
chooses follow from the function, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flipset.protocol import features_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Flips


@dataclass(frozen=True, slots=True)
class Forecast:
    """The margin of nothing, and how much each feature raises it."""

    base: float
    gains: Sequence[float]

    def of(self, flips: Flips) -> float:
        """Return the margin that a set is expected to have."""
        return self.base + sum(self.gains[i] for i in features_of(flips))

    def zero_from(self, start: Flips, order: Sequence[int]) -> Flips:
        """Return the zero that is expected to grow from `start` when features are added in this order."""
        zero, margin = start, self.of(start)
        for i in order:
            if margin + self.gains[i] < 0:
                margin += self.gains[i]
                zero |= 1 << i
        return zero


def forecast_by_margins(alone: Sequence[float]) -> Forecast:
    """Forecast from the margin of each feature alone."""
    # The margin of nothing is not among the answers. The least margin of a feature alone is close to it.
    base = min(alone)
    return Forecast(base, [margin - base for margin in alone])


def forecast_by_zeros(zeros: Sequence[Flips], d: int) -> Forecast:
    """Forecast from zeros that were grown: a feature that they often leave out is expected to count for much."""
    gains = [float(sum(not zero >> i & 1 for zero in zeros)) for i in range(d)]
    # The heaviest zero is expected to stay just below the threshold.
    heaviest = max(sum(gains[i] for i in features_of(zero)) for zero in zeros)
    return Forecast(-heaviest - 0.5, gains)
