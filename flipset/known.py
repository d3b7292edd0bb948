"""What a set of answers says about a monotone function: zeros, ones, and all that follows from them.

A zero is a set known not to flip, so no subset of it does; a one is a set known to flip, so every superset does. It is
enough to keep the largest zeros and the smallest ones: two antichains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.index import Index

if TYPE_CHECKING:
    from flipset.protocol import Flips


INDEX_FROM = 64
"""So many sets are looked up in an index; fewer are sooner looked at one by one."""


class Known:
    """The answers so far, kept as maximal zeros and minimal ones; both lists hold queries really asked."""

    def __init__(self) -> None:
        self.zeros: list[Flips] = []
        self.ones: list[Flips] = []
        self._union = 0  # of all queries; an index of zeros holds what they lack of it
        self._lacks: Index | None = None
        self._holds: Index | None = None

    def settle(self, query: Flips) -> bool | None:
        """Return what monotonicity says about `query`, or None where it says nothing."""
        if self.zero_above(query) is not None:
            return False
        return True if self.one_below(query) is not None else None

    def zero_above(self, query: Flips) -> Flips | None:
        """Return a zero that contains `query`."""
        if len(self.zeros) < INDEX_FROM:
            for zero in self.zeros:
                if not query & ~zero:
                    return zero
            return None
        if query & ~self._union:
            return None
        if self._lacks is None:
            self._lacks = Index(self._union & ~zero for zero in self.zeros)
        above = self._lacks.disjoint(query)
        return self._union & ~self._lacks.sets[_first(above)] if above else None

    def one_below(self, query: Flips) -> Flips | None:
        """Return a one that `query` contains."""
        if len(self.ones) < INDEX_FROM:
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

    def learn(self, query: Flips, flips: bool) -> tuple[Flips, Flips] | None:
        """Add an answer; return a pair (smaller, larger) that breaks monotonicity if it makes one.

        The pair is `query` and an earlier query, and there is one exactly when some earlier answer disagrees.
        """
        if query & ~self._union:
            self._union |= query
            self._lacks = None
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
        if index is None or len(self.ones) < INDEX_FROM:
            self.ones = [one for one in self.ones if query & ~one]
            self._holds = None
        else:
            if above := index.containing(query):
                self.ones = [one for one in self.ones if query & ~one]
                index.drop(above)
            index.add(query)
        self.ones.append(query)

    def _add_zero(self, query: Flips) -> None:
        index = self._lacks
        if index is None or len(self.zeros) < INDEX_FROM:
            self.zeros = [zero for zero in self.zeros if zero & ~query]
            self._lacks = None
        else:
            if below := index.containing(self._union & ~query):
                self.zeros = [zero for zero in self.zeros if zero & ~query]
                index.drop(below)
            index.add(self._union & ~query)
        self.zeros.append(query)

    def absorb(self, other: Known) -> None:
        """Add everything that `other` knows."""
        for zero in other.zeros:
            self.learn(zero, False)
        for one in other.ones:
            self.learn(one, True)


def _first(positions: int) -> int:
    return (positions & -positions).bit_length() - 1
