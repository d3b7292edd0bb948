"""Grow a maximal zero by guessing it: few queries, where margins tell how much each feature counts.

The result is that of `flipset.search.growing.grow` from nothing: features are added in a given order, and each one that
would make the zero flip is left out. A guess goes through the order with the answers that are known, and with estimates
for the others: features have gains, and a set is expected to flip if its gains add up to a limit. What the guess rests
on is then asked, unless it is known: that the guess is a zero, and that each feature that was left out flips with what
came before it. The margins of the answers move the limit, so the next guess is better. When nothing is left to ask, the
guess is the result. Every query asks something that is not known, so this ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

from flipset.protocol import Steps, ask, checkpoint
from flipset.sets.known import LOOKUP_STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Flips, Search
    from flipset.sets.known import Known

LEAST_GAIN = 1e-3
"""The least gain of a feature, as a share of the greatest: larger sets have larger gains, so limits tell them apart."""

TRUSTED = 2
"""After so many guesses in a row that flip, the limit is halved: margins do not say where it is."""


@dataclass(frozen=True, slots=True)
class Gains:
    """How much each feature is expected to raise the margin, and the sum from which a set is expected to flip."""

    of: Sequence[float]
    limit: float


def gains_of(alone: Sequence[float]) -> Gains:
    """Return the gains of features with these margins alone: they are expected to add up."""
    # The margin of nothing is not among the answers. The least margin of a feature alone is close to it.
    base = min(filter(isfinite, alone), default=0.0)
    gains = [margin - base if isfinite(margin) else 0.0 for margin in alone]
    least = LEAST_GAIN * max(gains, default=0.0) or 1.0
    return Gains([max(gain, least) for gain in gains], max(0.0, -base))


def grow_by_guesses(order: Sequence[int], gains: Gains, known: Known, batch: int) -> Search[Flips]:
    """Return the maximal zero that grows from nothing in this order; answers are added to `known`.

    With a batch of 1, one query is asked after another; otherwise all that a guess rests on is asked together.
    """
    limit = _Limit(gains.limit, gains.limit, (0.0, -gains.limit))
    steps = Steps()
    while True:
        if steps.due(LOOKUP_STEPS * len(order)):
            yield from checkpoint()
        zero, queries = _guess(order, gains.of, limit.at, known)
        if not queries:
            return zero
        for start in range(0, 1 if batch == 1 else len(queries), batch):
            # The answer to a later part may follow from the parts before.
            part = [one for one in queries[start : start + batch] if known.settle(one[1]) is None]
            if not part:
                continue
            margins = yield from ask([query for _, query in part])
            for (own, query), margin in zip(part, margins, strict=True):
                known.learn(query, margin >= 0)
                limit.learn(own, margin, is_guess=query == zero)


def _guess(
    order: Sequence[int], gains: Sequence[float], limit: float, known: Known
) -> tuple[Flips, list[tuple[float, Flips]]]:
    """Return the zero that is expected, and what it rests on that is not known, with the gains of each set.

    That is the zero itself, and sets that are expected to flip, those with the least gains first.
    """
    zero, total = 0, 0.0
    flipping = []
    for i in order:
        query, own = zero | 1 << i, total + gains[i]
        flips = known.settle(query)
        if flips is None and own >= limit:
            flipping.append((own, query))
        elif not flips:
            zero, total = query, own
    flipping.sort()
    return zero, flipping if known.settle(zero) is False else [(total, zero), *flipping]


@dataclass(slots=True)
class _Limit:
    """The gains from which a set is expected to flip, after the answers so far."""

    at: float
    first: float  # where it was at first
    below: tuple[float, float]  # the gains and the margin of a set that did not flip
    above: tuple[float, float] | None = None  # the same of one that did; its gains are larger
    flips: int = 0  # how many guesses flipped, one after the other

    def learn(self, gains: float, margin: float, *, is_guess: bool) -> None:
        """Move the limit to where the margin should be 0, if it follows a straight line."""
        if is_guess:
            self.flips = self.flips + 1 if margin >= 0 else 0
        elif self._is_further(gains, flips=margin >= 0):
            return
        if margin < 0:
            self.below = gains, margin
            if self.above is not None and self.above[0] <= gains:  # gains do not quite add up: forget the older set
                self.above = None
        else:
            self.above = gains, margin
            if self.below[0] >= gains:
                self.below = 0.0, -self.first
        low, lacking = self.below[0], -self.below[1]
        if self.above is None:
            # From the margin of nothing to this one, and on; but not far beyond what was ever seen.
            rise = self.first - lacking
            self.at = min(low + lacking * low / rise if rise > 0 else inf, max(self.first, 2 * low))
            return
        high, more = self.above
        is_line = self.flips < TRUSTED and 0 < lacking + more < inf
        self.at = low + (high - low) * (lacking / (lacking + more) if is_line else 0.5)

    def _is_further(self, gains: float, *, flips: bool) -> bool:
        """Say whether a set is further from the limit than one that is known already."""
        if flips:
            return self.above is not None and gains >= self.above[0]
        return gains <= self.below[0]
