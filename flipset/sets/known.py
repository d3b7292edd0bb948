"""What a set of answers says about a monotone function: zeros, ones, and all that follows from them.

A zero is a set known not to flip, so no subset of it does; a one is a set known to flip, so every superset does. It is
enough to keep the largest zeros and the smallest ones: two antichains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import features_of
from flipset.sets.index import Index

if TYPE_CHECKING:
    from flipset.protocol import Flips


INDEX_FROM = 64
"""So many sets are looked up in an index; fewer are sooner looked at one by one."""


class Known:
    """The answers so far, kept as maximal zeros and minimal ones; both lists hold queries really asked."""

    # Invariant: while an index exists, it holds all sets of its kind, and the list may be stale; without one, the list
    # holds them all. Either way they are in the order in which they were asked.

    def __init__(self) -> None:
        self._zeros: list[Flips] | None = []  # None: stale, to be read from the index
        self._ones: list[Flips] | None = []
        self._zero_count = self._one_count = 0
        self._union = 0  # of all queries; an index of zeros holds what they lack of it
        self._lacks: Index | None = None
        self._holds: Index | None = None

    @property
    def zeros(self) -> list[Flips]:
        """The largest sets known not to flip."""
        if self._zeros is None:
            assert self._lacks is not None
            lacks = self._lacks
            self._zeros = [self._union & ~lacks.sets[j] for j in features_of(lacks.alive)]
        return self._zeros

    @property
    def ones(self) -> list[Flips]:
        """The smallest sets known to flip."""
        if self._ones is None:
            assert self._holds is not None
            holds = self._holds
            self._ones = [holds.sets[j] for j in features_of(holds.alive)]
        return self._ones

    def settle(self, query: Flips) -> bool | None:
        """Return what monotonicity says about `query`, or None where it says nothing."""
        if self.zero_above(query) is not None:
            return False
        return True if self.one_below(query) is not None else None

    def zero_above(self, query: Flips) -> Flips | None:
        """Return a zero that contains `query`."""
        if self._zero_count < INDEX_FROM:
            for zero in self.zeros:
                if not query & ~zero:
                    return zero
            return None
        above = self._zeros_above(query)
        return self._union & ~self._index_of_zeros().sets[_first(above)] if above else None

    def largest_zero_above(self, query: Flips) -> Flips | None:
        """Return the largest zero that contains `query`; of several, the one that was asked first."""
        if self._zero_count < INDEX_FROM:
            return max((zero for zero in self.zeros if not query & ~zero), key=int.bit_count, default=None)
        above = self._zeros_above(query)
        if not above:
            return None
        lacks = self._index_of_zeros()
        return self._union & ~lacks.sets[lacks.smallest(above)]

    def _zeros_above(self, query: Flips) -> int:
        return 0 if query & ~self._union else self._index_of_zeros().disjoint(query)

    def _index_of_zeros(self) -> Index:
        if self._lacks is None:
            self._lacks = Index(self._union & ~zero for zero in self.zeros)
        return self._lacks

    def one_below(self, query: Flips) -> Flips | None:
        """Return a one that `query` contains."""
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
        """Return the features known to tip the balance of `zero`: every certificate in its complement has them."""
        found = 0
        for one in self.ones:
            lacking = one & ~zero
            if not lacking & (lacking - 1):
                found |= lacking
        return found

    def apart(self, zero: Flips) -> int:
        """Return how many features a certificate in the complement of `zero` has at least.

        It meets every one outside `zero`, and ones that share no feature there take one each.
        """
        used = count = 0
        for lacking in sorted([one & ~zero for one in self.ones], key=int.bit_count):
            if not lacking & used:
                used |= lacking
                count += 1
        return count

    def conflict(self, query: Flips, flips: bool) -> tuple[Flips, Flips] | None:
        """Return a pair (smaller, larger) that an answer would break monotonicity with, if there is one."""
        if flips:
            above = self.zero_above(query)
            return None if above is None else (query, above)
        below = self.one_below(query)
        return None if below is None else (below, query)

    def learn(self, query: Flips, flips: bool) -> tuple[Flips, Flips] | None:
        """Add an answer; return a pair (smaller, larger) that breaks monotonicity if it makes one.

        The pair is `query` and an earlier query, and there is one exactly when some earlier answer disagrees.
        """
        if query & ~self._union:
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
        if below := index.containing(self._union & ~query):
            index.drop(below)
            self._zero_count -= below.bit_count()
            self._zeros = None
        index.add(self._union & ~query)
        self._zero_count += 1
        if self._zeros is not None:
            self._zeros.append(query)
        elif _is_sparse(index, self._zero_count):
            self._forget_index_of_zeros()

    def _forget_index_of_zeros(self) -> None:
        self._zeros, self._lacks = self.zeros, None

    def absorb(self, other: Known) -> None:
        """Add everything that `other` knows."""
        # What both know, as a rule nearly all, need not be looked up.
        zeros, ones = set(self.zeros), set(self.ones)
        for zero in other.zeros:
            if zero not in zeros:
                self.learn(zero, False)
        for one in other.ones:
            if one not in ones:
                self.learn(one, True)


def _is_sparse(index: Index, alive: int) -> bool:
    """Say whether most sets of an index were dropped: then it is better made anew, so that bitsets stay short."""
    return len(index.sets) > 2 * alive + INDEX_FROM


def _first(positions: int) -> int:
    return (positions & -positions).bit_length() - 1
