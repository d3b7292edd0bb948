"""The open candidates of one weight: sets that lie in no zero and contain no one.

With unit weights, and if there are not too many sets of one size, the pool holds all of them. Otherwise candidates are
listed a few thousand at a time. An empty list means that nothing is open; after any other list there may be more.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from flipset.search.guided.pool import Pool, pool_of, sets_of_size
from flipset.sets.hitting import hitting_sets, listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flipset.protocol import Flips, Search
    from flipset.search.guided.facts import Facts

POOL_MOST = 60_000
"""The most sets of one size that a pool holds all at once; beyond that, candidates are listed ..."""

SIZE_MOST = 2_000_000
"""Where only the size is left to prove, a pool may hold this many: every zero has to be found once, in any order."""

LISTED_MOST = 4_096
"""... this many at a time."""


class Candidates:
    """The pool of candidates that the search works on, for one weight at a time."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.pool = Pool(facts.width, (0,) * facts.width, 0, -1)  # empty, and of no weight
        # Sets that have the weight of the answer and do not flip without the block. They are not zeros, because they
        # may flip with the block. But they are settled, and larger sets weigh too much.
        self.failed: list[Flips] = []

    @property
    def are_of_one_size(self) -> bool:
        """Whether the pool holds all open sets of one size, and only these."""
        return self.facts.counts_sizes and self.pool.complete

    def of_weight(self, limit: int) -> Search[Pool]:
        """Return the pool for this weight; it is made anew if the last one was for another weight."""
        if self.pool.limit != limit:
            yield from self.refill(limit)
        return self.pool

    def refill(self, limit: int) -> Search[None]:
        """Make a new pool for this weight."""
        facts = self.facts
        if facts.counts_sizes and self._fits(limit):
            pool = sets_of_size(facts.width, limit)
            yield from pool.settle(facts.known)
        else:
            some = yield from listing(self._open_sets(limit), LISTED_MOST)
            # Supersets of the listed sets may be open once these are settled: only an empty list is complete.
            pool = pool_of(facts.width, some, limit, complete=not some)
        for query in self.failed:
            pool.drop_above(query)
        self.pool = pool

    def drop(self, query: Flips, flips: bool) -> None:
        """Drop the candidates that an answer settles."""
        if flips:
            self.pool.drop_above(query)
        else:
            self.pool.drop_inside(query)

    def least_open_size(self) -> Search[int]:
        """Return the least size that is not settled yet, and note that all smaller ones are."""
        search = self.facts.search
        while search.lower < self.facts.upper and self._fits(search.lower):
            pool = sets_of_size(self.facts.width, search.lower)
            yield from pool.settle(self.facts.known)
            if pool.open:
                break
            search.raise_lower(search.lower + 1)
        return search.lower

    def count_open(self, k: int) -> Search[int | None]:
        """Return how many sets of this size are open; None if they are too many, or if some features form a block."""
        if not self.facts.focus.in_order or not self._fits(k):
            return None
        if self.are_of_one_size and self.pool.limit == k:
            return self.pool.open.bit_count()
        pool = sets_of_size(self.facts.width, k)
        yield from pool.settle(self.facts.known)
        return pool.open.bit_count()

    def lightest_open(self) -> Search[int | None]:
        """Return the weight of the lightest candidate of any weight, or None if there is none."""
        limit = self.facts.weights.of(self.facts.whole)
        lightest: int | None = None
        while candidates := (yield from listing(self._open_sets(limit), 1)):
            lightest = self.facts.weights.of(candidates[0])
            limit = lightest - 1
        return lightest

    def _fits(self, k: int) -> bool:
        """Say whether a pool can hold all sets of this size."""
        return comb(self.facts.width, k) <= (POOL_MOST if self.facts.enough is None else SIZE_MOST)

    def _open_sets(self, limit: int) -> Iterator[Flips | None]:
        facts = self.facts
        reasons = [facts.whole & ~zero for zero in facts.known.zeros]
        return hitting_sets(reasons, [*facts.known.ones, *self.failed], facts.weights.each, limit)
