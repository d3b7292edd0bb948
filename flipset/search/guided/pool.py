"""A pool of candidates as bitsets, so that counting those inside a set takes one OR per feature.

The candidates are numbered. For each feature the pool keeps an int in which bit j says whether candidate j contains the
feature. The candidates inside a set are those that contain no feature outside it.
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
"""Shorter pools are not renumbered, because it would not pay."""


class Pool:
    """Candidates among `width` features, and which of them are open: they lie in no zero and contain no one."""

    # Invariant: bit j means the same candidate in `open` and in every entry of `holders`. Only `renumber` changes the
    # numbers, and it changes all of them together.

    def __init__(self, width: int, holders: Sequence[int], length: int, limit: int, *, complete: bool = True) -> None:
        self.everything = (1 << width) - 1  # the set of all features
        self.holders = holders  # for each feature, the candidates that contain it
        self.length = length  # the number of candidates, open or not
        self.limit = limit  # the weight of the candidates, or the most that they weigh
        self.complete = complete  # if none of these is open, no set of this weight is
        self.open = (1 << length) - 1
        self.unplanned = False  # its candidates are asked as they come, because planning did not pay
        self._counts: list[int] = []  # what `counts` returned last
        self._counted_at = 0  # the number of open candidates then

    def settle(self, known: Known) -> Search[None]:
        """Drop the candidates that known zeros and ones settle; this yields checkpoints and asks nothing."""
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
        """Return how many elementary steps it takes to go through the candidates of each of these features."""
        return 1 + features.bit_count() * (1 + self.length // 8_192) // 8

    def drop_inside(self, zero: Flips) -> None:
        """Drop the candidates inside a set that does not flip."""
        outside = 0
        for i in features_of(self.everything & ~zero):
            outside |= self.holders[i]
        self.open &= outside

    def drop_above(self, one: Flips) -> None:
        """Drop the candidates that contain a set that flips."""
        if self.open and one.bit_count() <= self.limit:
            above = self.open
            for i in features_of(one):
                above &= self.holders[i]
            self.open ^= above

    def renumber(self) -> None:
        """Number the open candidates anew when most others are gone, so that bitsets stay short."""
        left = self.open.bit_count()
        if self.length > RENUMBER_FROM and left < self.length >> 2:
            kept = _digits(self.open, self.length).translate(_AS_FLAGS)
            self.holders = [_pick(holder, kept) for holder in self.holders]
            self.length, self.open = left, (1 << left) - 1

    def counts(self) -> list[int]:
        """Return for each feature how many open candidates contain it."""
        # The counts only guide the choice of queries, so they may lag behind a little.
        left = self.open.bit_count()
        if not self._counted_at or left < 0.8 * self._counted_at:
            self._counts = [(self.open & holder).bit_count() for holder in self.holders]
            self._counted_at = left
        return self._counts

    def open_sets(self) -> list[Flips]:
        """Return all open candidates as sets."""
        sets = dict.fromkeys(features_of(self.open), 0)
        for i, holder in enumerate(self.holders):
            for j in features_of(holder & self.open):
                sets[j] |= 1 << i
        return list(sets.values())

    def take(self, most: int) -> list[Flips]:
        """Return the first open candidates, at most this many, and drop them: they are about to be asked."""
        first = self.open
        if first.bit_count() > most:
            # Cut the bitset where it has enough candidates: in front of the cut there are at most as many as places.
            low, high = most, self.length
            while low < high:
                middle = (low + high) // 2
                if (first & ((1 << middle) - 1)).bit_count() < most:
                    low = middle + 1
                else:
                    high = middle
            first &= (1 << low) - 1
        sets = dict.fromkeys(features_of(first), 0)
        for i, holder in enumerate(self.holders):
            for j in features_of(holder & first):
                sets[j] |= 1 << i
        self.open ^= first
        return list(sets.values())

    def heaviest(self, merits: Sequence[float]) -> Flips:
        """Return an open candidate with great merit, chosen greedily.

        It contains the best feature that is in any, then the best that is in any candidate with that one, and so on.
        """
        assert self.open, "there is no open candidate"
        left = self.open
        for i in sorted(range(len(self.holders)), key=merits.__getitem__, reverse=True):
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
    """Return the pool of all sets of `k` among `width` features."""
    return Pool(width, _holders(width, k), comb(width, k), k)


def pool_of(width: int, candidates: Sequence[Flips], limit: int, *, complete: bool) -> Pool:
    """Return the pool of these candidates; `complete` says that there are no others."""
    holders = [0] * width
    for j, candidate in enumerate(candidates):
        bit = 1 << j
        for i in features_of(candidate):
            holders[i] |= bit
    return Pool(width, holders, len(candidates), limit, complete=complete)


@lru_cache(maxsize=512)
def _holders(width: int, k: int) -> tuple[int, ...]:
    """Return for each feature the k-sets that contain it. The k-sets have some numbering, the same for all features."""
    if not 0 < k <= width:
        return (0,) * width
    if k == 1:
        return tuple(1 << i for i in range(width))
    if 2 * k > width:  # number a set like its complement
        every = (1 << comb(width, k)) - 1
        return tuple(every ^ holder for holder in _holders(width, width - k))
    # First number the k-sets without the last feature, then those with it. This takes shifts and no enumeration.
    without, with_last = _holders(width - 1, k), _holders(width - 1, k - 1)
    shift = comb(width - 1, k)
    last = ((1 << comb(width - 1, k - 1)) - 1) << shift
    return (*(a | b << shift for a, b in zip(without, with_last, strict=True)), last)


def _pick(holder: int, kept: bytes) -> int:
    """Return the bits of a holder that are kept, without the gaps between them."""
    return int(bytes(compress(_digits(holder, len(kept)), kept)) or b"0", 2)


# ASCII digits to bytes that `compress` reads as false and true.
_AS_FLAGS = bytes.maketrans(b"01", b"\x00\x01")


def _digits(bits: int, length: int) -> bytes:
    """Return bits as ASCII digits, the highest first."""
    return format(bits, f"0{length}b").encode()
