"""The plain loop: ask candidates one by one, and find reasons by binary search. It makes no guesses.

The guided search usually asks fewer queries, but its guesses may all be wrong. So its guesses are limited by a credit
(`flipset.search.guided.bound`). When the credit is spent, this loop settles the current size within a proved bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import Steps, checkpoint, everything, features_of, flips_of
from flipset.sets.hitting import hitting_sets, listing
from flipset.sets.known import LOOKUP_STEPS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.protocol import Flips, Search

    Asks = Callable[[Flips], Search[bool]]


def settle_size(k: int, d: int, reasons: list[Flips], flips: Asks) -> Search[None]:
    """Ask until every set of at most `k` features is known to flip or not, or until sets of some size flip.

    New reasons are added to `reasons`; all of them are minimal. `flips` must ask only what does not follow from known
    answers.
    """
    steps = Steps()
    for size in range(k + 1):
        # A set that misses a reason does not flip, so only hitting sets need to be asked.
        candidates = yield from listing(hitting_sets(reasons, (), None, size))
        any_flips = False
        for candidate in candidates:
            if steps.due(LOOKUP_STEPS):
                yield from checkpoint()
            if (yield from flips(candidate)):
                any_flips = True
        if any_flips:
            return
        # No candidate flips. Each of them gets a reason that it misses, unless it misses a reason of another by now.
        for candidate in candidates:
            if steps.due(len(reasons)):
                yield from checkpoint()
            if all(candidate & reason for reason in reasons):
                reasons.append((yield from _grow(candidate, d, reasons, flips)))


def _grow(start: Flips, d: int, reasons: Sequence[Flips], flips: Asks) -> Search[Flips]:
    """Return a minimal reason that `start` misses. Features that are in no reason so far are tried first, together."""
    seen = 0
    for reason in reasons:
        seen |= reason
    zero = start
    for block in (everything(d) & ~seen, seen):
        rest = features_of(block & ~zero)
        while rest and (yield from flips(zero | flips_of_many(rest))):
            # Invariant: the zero does not flip with the first `low` features of rest, and flips with the first `high`.
            low, high = 0, len(rest)
            while high - low > 1:
                middle = (low + high) // 2
                if (yield from flips(zero | flips_of_many(rest[:middle]))):
                    high = middle
                else:
                    low = middle
            zero |= flips_of_many(rest[:low])
            rest = rest[high:]
        zero |= flips_of_many(rest)
    return everything(d) & ~zero


def flips_of_many(features: Sequence[int]) -> Flips:
    """Return the bitmask of ascending features in linear time, even for a million of them."""
    if len(features) < 64:
        return flips_of(features)
    cells = bytearray(features[-1] // 8 + 1)
    for feature in features:
        cells[feature >> 3] |= 1 << (feature & 7)
    return int.from_bytes(cells, "little")
