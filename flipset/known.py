"""What a set of answers says about a monotone function: zeros, ones, and all that follows from them.

A zero is a set known not to flip, so no subset of it does; a one is a set known to flip, so every superset does. It is
enough to keep the largest zeros and the smallest ones: two antichains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flipset.protocol import Flips


class Known:
    """The answers so far, kept as maximal zeros and minimal ones; both lists hold queries really asked."""

    def __init__(self) -> None:
        self.zeros: list[Flips] = []
        self.ones: list[Flips] = []

    def settle(self, query: Flips) -> bool | None:
        """Return what monotonicity says about `query`, or None where it says nothing."""
        if self.zero_above(query) is not None:
            return False
        return True if self.one_below(query) is not None else None

    def zero_above(self, query: Flips) -> Flips | None:
        """Return a zero that contains `query`."""
        return next((zero for zero in self.zeros if not query & ~zero), None)

    def one_below(self, query: Flips) -> Flips | None:
        """Return a one that `query` contains."""
        return next((one for one in self.ones if not one & ~query), None)

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
        if flips:
            conflict = self.zero_above(query)
            if self.one_below(query) is None:
                self.ones = [one for one in self.ones if query & ~one]
                self.ones.append(query)
            return None if conflict is None else (query, conflict)
        conflict = self.one_below(query)
        if self.zero_above(query) is None:
            self.zeros = [zero for zero in self.zeros if zero & ~query]
            self.zeros.append(query)
        return None if conflict is None else (conflict, query)

    def absorb(self, other: Known) -> None:
        """Add everything that `other` knows."""
        for zero in other.zeros:
            self.learn(zero, False)
        for one in other.ones:
            self.learn(one, True)
