"""The plain loop: candidates one by one, certificates by binary search. It has the proved bound and takes no risks.

The guided search asks better questions as a rule, but nothing keeps it from guessing wrong for ever. So it guesses on
credit, and where that runs out this loop settles the size in hand at a cost that is known beforehand.
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


def settle_size(k: int, d: int, certificates: list[Flips], flips: Asks) -> Search[None]:
    """Ask until every set of at most `k` features is known to flip or not, or some set of that size flips.

    `certificates` are minimal and grow; `flips` asks only what does not follow from what is known.
    """
    steps = Steps()
    for size in range(k + 1):
        candidates = yield from listing(hitting_sets(certificates, (), None, size))
        found = False
        for candidate in candidates:
            if steps.due(LOOKUP_STEPS):
                yield from checkpoint()
            if (yield from flips(candidate)):
                found = True
        if found:
            return
        for candidate in candidates:
            if steps.due(len(certificates)):
                yield from checkpoint()
            if all(candidate & certificate for certificate in certificates):
                certificates.append((yield from _grow(candidate, d, certificates, flips)))


def _grow(start: Flips, d: int, certificates: Sequence[Flips], flips: Asks) -> Search[Flips]:
    """Return a minimal certificate that `start` misses; features never seen in one are passed over as a block."""
    seen = 0
    for certificate in certificates:
        seen |= certificate
    zero = start
    for block in (everything(d) & ~seen, seen):
        rest = features_of(block & ~zero)
        while rest and (yield from flips(zero | flips_of_many(rest))):
            # Invariant: with the first `low` of rest it does not flip, with the first `high` it does.
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
    """Return the bitmask of ascending features in linear time, also for a million of them."""
    if len(features) < 64:
        return flips_of(features)
    cells = bytearray(features[-1] // 8 + 1)
    for feature in features:
        cells[feature >> 3] |= 1 << (feature & 7)
    return int.from_bytes(cells, "little")
