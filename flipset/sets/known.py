"""The known zeros and ones of a monotone function, and the answers that follow from them.

A zero is a set that is known not to flip, so none of its subsets flips. A one is a set that is known to flip, so all of
its supersets flip. It is therefore enough to keep the maximal zeros and the minimal ones.

Few sets are compared one by one. From `INDEX_FROM` sets on, an `Index` does the lookups. Both ways return the same
sets: lookups prefer the set that was asked first.

A search that asks all sets of one size adds thousands of zeros of that size in a row. None of them contains another, so
they need no index among themselves: they wait beside it until a lookup needs them there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import features_of
from flipset.sets.index import Index

if TYPE_CHECKING:
    from flipset.protocol import Flips


INDEX_FROM = 64
"""The number of sets from which an index is faster than comparing them one by one."""

LOOKUP_STEPS = 8
"""Elementary steps (see `flipset.protocol.Steps`) that `Known.settle` counts as."""


class Known:
    """The maximal zeros and minimal ones among the answers so far. Every set in them was really asked."""

    # Invariants, for zeros and ones alike:
    # - If there is an index, it holds all sets, and the list may be None: then it is read from the index when needed.
    # - If there is no index, the list holds all sets.
    # - In both, the sets are in the order in which they were asked.

    def __init__(self) -> None:
        self._zeros: list[Flips] | None = []
        self._ones: list[Flips] | None = []
        self._zero_count = self._one_count = 0
        self._union = 0  # the union of all queries
        # A query lies in a zero exactly when it is disjoint from what the zero lacks. So the index of the zeros holds,
        # for each zero, `_union & ~zero`. It is built anew when `_union` grows.
        self._lacks: Index | None = None
        # Zeros of one size that were added last and are not in the index yet. `_zeros` has them, if it is not None.
        self._waiting: dict[Flips, None] = {}
        self._waiting_size = -1
        self._holds: Index | None = None  # the index of the ones

    @property
    def zeros(self) -> list[Flips]:
        """The maximal sets that are known not to flip."""
        if self._zeros is None:
            assert self._lacks is not None
            lacks = self._lacks
            self._zeros = [self._union & ~lacks.sets[j] for j in features_of(lacks.alive)]
            self._zeros += self._waiting
        return self._zeros

    @property
    def ones(self) -> list[Flips]:
        """The minimal sets that are known to flip."""
        if self._ones is None:
            assert self._holds is not None
            holds = self._holds
            self._ones = [holds.sets[j] for j in features_of(holds.alive)]
        return self._ones

    def settle(self, query: Flips) -> bool | None:
        """Return whether `query` flips if that follows from the known zeros and ones; otherwise None."""
        if self.zero_above(query) is not None:
            return False
        return True if self.one_below(query) is not None else None

    def zero_above(self, query: Flips) -> Flips | None:
        """Return a zero that contains `query`, or None."""
        if self._zero_count < INDEX_FROM:
            for zero in self.zeros:
                if not query & ~zero:
                    return zero
            return None
        above = self._zeros_above(query)
        if above:
            return self._union & ~self._index_of_zeros().sets[_first(above)]
        return query if query in self._waiting else None

    def largest_zero_above(self, query: Flips) -> Flips | None:
        """Return the largest zero that contains `query`, or None; of several, the one that was asked first."""
        if self._zero_count < INDEX_FROM:
            return max((zero for zero in self.zeros if not query & ~zero), key=int.bit_count, default=None)
        above = self._zeros_above(query)
        if not above:
            return query if query in self._waiting else None
        lacks = self._index_of_zeros()
        return self._union & ~lacks.sets[lacks.smallest(above)]  # the largest zero lacks the fewest features

    def _zeros_above(self, query: Flips) -> int:
        """Return the positions in the index of the zeros that contain `query`; none that waits can be among them."""
        if query & ~self._union:
            return 0
        if self._waiting and query.bit_count() < self._waiting_size:
            self._index_waiting()
        return self._index_of_zeros().disjoint(query)

    def _index_of_zeros(self) -> Index:
        if self._lacks is None:
            self._lacks = Index(self._union & ~zero for zero in self.zeros)
            self._waiting.clear()
        return self._lacks

    def _index_waiting(self) -> None:
        """Put the zeros that wait into the index."""
        if self._lacks is not None:
            self._lacks.add_all([self._union & ~zero for zero in self._waiting])
        self._waiting.clear()

    def one_below(self, query: Flips) -> Flips | None:
        """Return a one that is contained in `query`, or None."""
        if self._one_count < INDEX_FROM:
            for one in self.ones:
                if not one & ~query:
                    return one
            return None
        if self._holds is None:
            self._holds = Index(self.ones)
        below = self._holds.inside(query)
        return self._holds.sets[_first(below)] if below else None

    def critical(self, zero: Flips) -> Flips:
        """Return the features that are known to make `zero` flip when added to it one by one.

        Every reason in the complement of `zero` contains all of them.
        """
        critical = 0
        for one in self.ones:
            lacking = one & ~zero
            if not lacking & (lacking - 1):  # `zero` lacks a single feature of this one
                critical |= lacking
        return critical

    def least_reason_size(self, zero: Flips) -> int:
        """Return a lower bound on the size of every reason in the complement of `zero`.

        Such a reason meets the part of every one that lies outside `zero`. Parts that share no feature need one each.
        """
        used = count = 0
        for lacking in sorted([one & ~zero for one in self.ones], key=int.bit_count):
            if not lacking & used:
                used |= lacking
                count += 1
        return count

    def conflict(self, query: Flips, flips: bool) -> tuple[Flips, Flips] | None:
        """Return the pair (smaller, larger) of queries that this answer would make contradictory, or None."""
        if flips:
            above = self.zero_above(query)
            return None if above is None else (query, above)
        below = self.one_below(query)
        return None if below is None else (below, query)

    def learn(self, query: Flips, flips: bool) -> tuple[Flips, Flips] | None:
        """Add an answer. If it contradicts an earlier one, return the pair (smaller, larger) of their queries.

        In such a pair the smaller set flips and the larger one does not.
        """
        if query & ~self._union:
            # The index holds complements within the union so far.
            self._forget_index_of_zeros()
            self._union |= query
        if flips:
            conflict = self.zero_above(query)
            if self.one_below(query) is None:
                self._add_one(query)
            return None if conflict is None else (query, conflict)
        conflict = self.one_below(query)
        if self.zero_above(query) is None:
            self._add_zero(query)
        return None if conflict is None else (conflict, query)

    def _add_one(self, query: Flips) -> None:
        index = self._holds
        if index is None or self._one_count < INDEX_FROM:
            self._ones = [one for one in self.ones if query & ~one]
            self._ones.append(query)
            self._one_count = len(self._ones)
            self._holds = None
            return
        if above := index.containing(query):
            index.drop(above)
            self._one_count -= above.bit_count()
            self._ones = None
        index.add(query)
        self._one_count += 1
        if self._ones is not None:
            self._ones.append(query)
        elif _is_sparse(index, self._one_count):
            self._ones, self._holds = self.ones, None

    def _add_zero(self, query: Flips) -> None:
        index = self._lacks
        if index is None or self._zero_count < INDEX_FROM:
            self._zeros = [zero for zero in self.zeros if zero & ~query]
            self._zeros.append(query)
            self._zero_count = len(self._zeros)
            self._lacks = None
            return
        if self._waiting and query.bit_count() != self._waiting_size:
            self._index_waiting()
        if below := index.containing(self._union & ~query):
            index.drop(below)
            self._zero_count -= below.bit_count()
            self._zeros = None
        self._waiting[query] = None
        self._waiting_size = query.bit_count()
        self._zero_count += 1
        if self._zeros is not None:
            self._zeros.append(query)
        elif _is_sparse(index, self._zero_count):
            self._forget_index_of_zeros()

    def _forget_index_of_zeros(self) -> None:
        self._zeros, self._lacks = self.zeros, None
        self._waiting.clear()


def _is_sparse(index: Index, alive: int) -> bool:
    """Say whether most sets of an index were dropped. A new index is then faster, because its bitmasks are shorter."""
    return len(index.sets) > 2 * alive + INDEX_FROM


def _first(positions: int) -> int:
    return (positions & -positions).bit_length() - 1
