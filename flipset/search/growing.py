"""Grow a zero to a maximal one: add features in a given order, and leave out each one that would make it flip.

The result is a function of the start and the order. The ways to find it differ in queries and rounds:

- `grow` looks for the next feature that flips. It needs no more than labels, and any number of features.
- `grow_by_forecast` guesses the result and confirms it. It takes the fewest rounds, and few queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import or_
from typing import TYPE_CHECKING

from flipset.protocol import ask, everything, features_of
from flipset.search.guided.chain import find_first_flip
from flipset.search.guided.plain import flips_of_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Flips, Search
    from flipset.search.forecast import Forecast

ORDERED_UP_TO = 63
"""The most features whose margins alone are asked for, to order them; the table search has the same limit."""

PARALLEL_FROM = 16
"""The batch size from which saving rounds matters more than saving queries."""

PROBES = 4
"""Points of a long chain that are asked together where rounds count."""

EXPECTED = 8
"""How many features are expected to flip in a run of which nothing is known."""


def grow(zero: Flips, order: Sequence[int], batch: int, likely: Flips | None = None) -> Search[Flips]:
    """Add features to a zero in this order, as long as it stays one; return the maximal zero.

    `likely` are features that may flip with it, as far as is known; by default all. The others are added at once, and
    it is checked afterwards that adding them in their turn makes no difference.
    """
    if likely is not None:
        some = set(features_of(likely))
        others = flips_of_many(sorted(i for i in order if i not in some))
        if others and not (yield from _flip([zero | others]))[0]:
            grown = yield from _grow_all(zero | others, [i for i in order if i in some], batch)
            if (yield from _is_grown_in(order, zero, grown)):
                return grown
    return (yield from _grow_all(zero, order, batch))


def _is_grown_in(order: Sequence[int], zero: Flips, grown: Flips) -> Search[bool]:
    """Say whether each feature that was left out flips with what comes before it in the order."""
    left_out: list[Flips] = []
    before = zero
    for run in _ascending(order):
        members = flips_of_many(run) & grown
        apart = set(features_of(flips_of_many(run) & ~grown))
        left_out += [before | (members & everything(i)) | 1 << i for i in run if i in apart]
        before |= members
    return all((yield from _flip(left_out)))


def _grow_all(zero: Flips, order: Sequence[int], batch: int) -> Search[Flips]:
    """Add features in this order, each of which may flip."""
    if batch < PARALLEL_FROM or len(order) > ORDERED_UP_TO:
        for run in _ascending(order):
            zero = yield from _grow_through(zero, run, batch)
        return zero
    rest = list(order)
    while rest:
        # A feature that flips with the zero by itself flips with every larger one: it is left out for good. Where all
        # fits into about one round, this is asked together with the chain.
        singles = [zero | 1 << i for i in rest]
        if len(rest) > batch:
            rest = [i for i, tips in zip(rest, (yield from _flip(singles)), strict=True) if not tips]
            singles = []
        chain = list(accumulate((1 << i for i in rest), or_, initial=zero))
        flips = yield from _flip([*chain[1:], *singles])
        # Invariant: chain[0] is a zero. The chain flips from some place on, and the feature there is left out.
        far = flips.index(True) if True in flips[: len(rest)] else len(rest)
        alone = {i for i, tips in zip(rest, flips[len(rest) :], strict=False) if tips}
        zero, rest = chain[far], [i for i in rest[far + 1 :] if i not in alone]
    return zero


def grow_by_forecast(zero: Flips, order: Sequence[int], forecast: Forecast) -> Search[Flips]:
    """Do the same as `grow`, in few rounds, where the forecast is good.

    The forecast gives a guess of the maximal zero. One round confirms it: the guess is a zero, and each feature that it
    leaves out flips with what comes before it. If not, all is settled up to the first feature where the guess is wrong.
    """
    gains, margin = forecast.gains, forecast.of(zero)
    rest = list(order)
    while rest:
        guess = _guess(zero, rest, gains, margin)
        added = [n for n, i in enumerate(rest) if guess.zero >> i & 1]
        left_out = [n for n, i in enumerate(rest) if not guess.zero >> i & 1]
        flips = yield from _flip([guess.zero, *(guess.with_next(n) for n in left_out)])
        missed = next((n for n, tips in zip(left_out, flips[1:], strict=True) if not tips), len(rest))
        wrong = len(rest)
        if flips[0]:
            # Along the features that were added, the sets flip from some place on.
            wrong = added[(yield from _flip([guess.with_next(n) for n in added])).index(True)]
        n = min(missed, wrong)
        if n == len(rest):
            return guess.zero
        zero, margin = guess.before[n]
        if n == missed:  # it raises the margin less than was thought: count it as nothing
            zero |= 1 << rest[n]
        else:  # it flips, so the margin was at least this high
            margin = -gains[rest[n]]
        rest = rest[n + 1 :]
    return zero


@dataclass(frozen=True, slots=True)
class _Guess:
    """The maximal zero that is expected; `before[n]` is the zero before feature n, and the margin expected of it."""

    zero: Flips
    rest: Sequence[int]
    before: Sequence[tuple[Flips, float]]

    def with_next(self, n: int) -> Flips:
        """Return the zero before feature n, with that feature."""
        return self.before[n][0] | 1 << self.rest[n]


def _guess(zero: Flips, rest: Sequence[int], gains: Sequence[float], margin: float) -> _Guess:
    before = []
    for i in rest:
        before.append((zero, margin))
        if margin + gains[i] < 0:
            margin += gains[i]
            zero |= 1 << i
    return _Guess(zero, rest, before)


def _ascending(order: Sequence[int]) -> list[Sequence[int]]:
    """Cut an order into runs of ascending features: where there are a million of them, there are one or two runs."""
    cuts = [n for n in range(1, len(order)) if order[n] < order[n - 1]]
    return [order[start:stop] for start, stop in pairwise([0, *cuts, len(order)]) if start < stop]


def _grow_through(zero: Flips, run: Sequence[int], batch: int) -> Search[Flips]:
    """Add ascending features to a zero, finding the next one that flips by few queries."""
    members = flips_of_many(run)
    start = tips = 0
    while start < len(run):
        # Features that flip are expected as often as so far; at first, as if there were a few in all.
        rate = (1 + tips) / (start + max(1.0, len(run) / EXPECTED))

        def at(n: int, zero: Flips = zero, start: int = start) -> Flips:
            if not n:
                return zero
            first, last = run[start], run[start + n - 1]
            return zero | (members & everything(last + 1) >> first << first)

        tip = yield from find_first_flip(len(run) - start, rate, at, _flip, 1 if batch < PARALLEL_FROM else PROBES)
        if tip is None:
            return at(len(run) - start)
        zero = at(tip - 1)
        start += tip
        tips += 1
    return zero


def _flip(queries: Sequence[Flips]) -> Search[list[bool]]:
    return [margin >= 0 for margin in (yield from ask(queries))]
