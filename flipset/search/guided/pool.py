"""The candidates in hand, as bitsets: how many lie inside a set is a few ORs and a count, whatever their number.

Number the candidates. For each feature keep an int whose bit j says that candidate j holds the feature. The candidates
that lie inside a set are those that hold no feature outside it.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import compress
from math import comb
from typing import TYPE_CHECKING

from flipset.protocol import Steps, checkpoint, features_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Flips, Search
    from flipset.sets.known import Known

RENUMBER_FROM = 256
"""Pools shorter than this are not worth renumbering."""


class Pool:
    """Candidates that are open: in no zero, and above no set known to flip. Weights are whole numbers."""

    def __init__(self, width: int, holders: Sequence[int], length: int, limit: int, *, complete: bool = True) -> None:
        self.everything = (1 << width) - 1
        self.holders = holders
        self.length = length
        self.limit = limit
        self.complete = complete
        self.open = (1 << length) - 1
        self._counts: list[int] = []
        self._counted_at = 0

    def settle(self, known: Known) -> Search[None]:
        """Drop what is known already; that passes checkpoints, and asks nothing."""
        steps = Steps()
        for zero in known.zeros:
            if not self.open:
                return
            self.drop_inside(zero)
            if steps.due(self.work(self.everything & ~zero)):
                yield from checkpoint()
        for one in known.ones:
            if not self.open:
                return
            self.drop_above(one)
            if steps.due(self.work(one)):
                yield from checkpoint()
        self.renumber()

    def work(self, features: Flips) -> int:
        """Return how many elementary steps it takes to look at all candidates for each of these features."""
        return 1 + features.bit_count() * (1 + self.length // 8_192) // 8

    def drop_inside(self, zero: Flips) -> None:
        """Drop the candidates inside a set that does not flip."""
        outside = 0
        for i in features_of(self.everything & ~zero):
            outside |= self.holders[i]
        self.open &= outside

    def drop_above(self, one: Flips) -> None:
        """Drop the candidates that hold all of a set that flips."""
        if self.open and one.bit_count() <= self.limit:
            above = self.open
            for i in features_of(one):
                above &= self.holders[i]
            self.open ^= above

    def renumber(self) -> None:
        """Close the gaps when most candidates are gone, so that bitsets stay short."""
        left = self.open.bit_count()
        if self.length > RENUMBER_FROM and left < self.length >> 2:
            kept = _digits(self.open, self.length).translate(_AS_FLAGS)
            self.holders = [_pick(holder, kept) for holder in self.holders]
            self.length, self.open = left, (1 << left) - 1

    def counts(self) -> list[int]:
        """Return for each feature how many open candidates hold it; a little stale, for it is only a guide."""
        left = self.open.bit_count()
        if not self._counted_at or left < 0.8 * self._counted_at:
            self._counts = [(self.open & holder).bit_count() for holder in self.holders]
            self._counted_at = left
        return self._counts

    def listed(self) -> list[Flips]:
        """Return all open candidates."""
        found = dict.fromkeys(features_of(self.open), 0)
        for i, holder in enumerate(self.holders):
            for j in features_of(holder & self.open):
                found[j] |= 1 << i
        return list(found.values())

    def heaviest(self, merits: Sequence[float]) -> Flips:
        """Return an open candidate of great merit: one with the best feature of any, the best with that, and so on."""
        left = self.open
        for i in sorted(range(len(self.holders)), key=lambda i: -merits[i]):
            some = left & self.holders[i]
            if some:
                left = some
                if not left & (left - 1):
                    break
        bit = left & -left
        chosen = 0
        for i, holder in enumerate(self.holders):
            if holder & bit:
                chosen |= 1 << i
        return chosen


def sets_of_size(width: int, k: int) -> Pool:
    """All sets of k among `width` features."""
    return Pool(width, _holders(width, k), comb(width, k), k)


def listed(width: int, candidates: Sequence[Flips], limit: int, *, complete: bool) -> Pool:
    """Return the pool of these candidates; `complete` says that there are no others."""
    rows = [0] * width
    for j, candidate in enumerate(candidates):
        bit = 1 << j
        for i in features_of(candidate):
            rows[i] |= bit
    return Pool(width, rows, len(candidates), limit, complete=complete)


@lru_cache(maxsize=512)
def _holders(width: int, k: int) -> tuple[int, ...]:
    """For each feature the k-sets that hold it, numbered anyhow but alike for all features."""
    if not 0 < k <= width:
        return (0,) * width
    if k == 1:
        return tuple(1 << i for i in range(width))
    if 2 * k > width:  # a set is as good as what it lacks
        every = (1 << comb(width, k)) - 1
        return tuple(every ^ holder for holder in _holders(width, width - k))
    # The k-sets of a number of features are those without the last one, then those with it: shifts, no enumeration.
    without, with_last = _holders(width - 1, k), _holders(width - 1, k - 1)
    shift = comb(width - 1, k)
    last = ((1 << comb(width - 1, k - 1)) - 1) << shift
    return (*(a | b << shift for a, b in zip(without, with_last, strict=True)), last)


def _pick(holder: int, kept: bytes) -> int:
    """Return the bits of a holder that are kept, closed up."""
    return int(bytes(compress(_digits(holder, len(kept)), kept)) or b"0", 2)


_AS_FLAGS = bytes.maketrans(b"01", b"\x00\x01")


def _digits(bits: int, length: int) -> bytes:
    """Return bits as digits, the highest first."""
    return format(bits, f"0{length}b").encode()
