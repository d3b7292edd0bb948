"""A few reasons, chosen by a rule that costs little and depends only on the function, not on the search that ran.

A reason is the complement of a maximal zero. The rule grows these zeros one after another:

1. Features are ordered by their margins alone, least first; of equal ones, the first column comes first. They stay in
   the order of the columns if the model gives only labels, or if there are more than `ORDERED_UP_TO` features. (This is
   the order of `flipset.search.reasons`, too.)
2. Every zero starts from nothing. It adds the features that are in the fewest of the zeros before it first; of equal
   ones, in the order of step 1. Each feature that would make it flip is left out.
3. There are at most as many zeros as are wanted, and as features in the flip set with the fewest. If nothing flips
   there is one; if only sets of up to some number of features were considered, there may be one more than that number.
4. The rule ends with a zero that was there before.

So the first features of each reason are those that no reason had before, as far as possible: reasons are different.
As many disjoint reasons as a smallest flip set has features would prove its size, which is why there are no more.

What the search has learned answers queries of the rule, and does not change its zeros. They are a function of the
function, the limit on the number of features, and the number wanted. A larger number adds zeros and keeps the others.
The table search grows the same zeros in arrays (`flipset.search.table.search`), and tests compare the two.

These zeros alone need not prove the answer. `with_reasons_first` completes them with those of the search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flipset.layers.infer import infer
from flipset.protocol import ask, everything, features_of
from flipset.search.growing import ORDERED_UP_TO, grow
from flipset.search.guessing import gains_of, grow_by_guesses
from flipset.search.reasons import margins_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flipset.proof import Proof
    from flipset.protocol import Flips, Search
    from flipset.search.guessing import Gains
    from flipset.sets.known import Known


def find_few_reasons(
    claim: Proof,
    known: Known,
    answers: Mapping[Flips, float],
    batch: int,
    most: int,
    at_most: int | None = None,
    report: Callable[[tuple[Flips, ...]], None] = lambda zeros: None,
) -> Search[tuple[Flips, ...]]:
    """Return the zeros of at most `most` reasons, by the rule, asking only what does not follow from `known`.

    The ones of the claim are the flip sets that are listed; its zeros only guide the queries. `answers` are the margins
    that were given so far. `report` is called with the zeros so far whenever there is a new one: a budget may end this.
    """
    whole = everything(claim.d)
    if 0 in claim.ones:  # the empty set flips, so every set does: there is no zero
        return ()
    if not claim.ones and known.settle(whole) is None:
        known.learn(whole, (yield from ask([whole]))[0] >= 0)
    if not claim.ones and known.settle(whole) is False:
        report((whole,))
        return (whole,)
    if claim.ones:
        most = min(most, *(one.bit_count() for one in claim.ones))
    elif at_most is not None:
        most = min(most, at_most + 1)
    alone = yield from margins_alone(claim.d, answers, known, batch)
    rule = _Rule.of(claim, alone, known, batch)
    return (yield from rule.choose_zeros(most, report))


def with_reasons_first(claim: Proof, reasons: Sequence[Flips]) -> Proof:
    """Return the proof with the zeros of reasons first; its own zeros are dropped if they lie in one of these."""
    further = [zero for zero in claim.zeros if all(zero & ~reason for reason in reasons)]
    return replace(claim, zeros=(*reasons, *further))


@dataclass(frozen=True, slots=True)
class _Rule:
    """The order of the features; all else only guides the queries."""

    order: Sequence[int]
    known: Known
    batch: int
    gains: Gains | None = None  # None: the model gives labels, or there are too many features
    likely: Flips | None = None  # features that may flip with a zero, as far as is known; None: all

    @classmethod
    def of(cls, claim: Proof, alone: Sequence[float] | None, known: Known, batch: int) -> _Rule:
        """Return the rule for a function with these flip sets, and these margins of single features."""
        if alone is not None:
            order = sorted(range(claim.d), key=lambda i: (alone[i], i))
            return cls(order, known, batch, gains=gains_of(alone))
        return cls(range(claim.d), known, batch, likely=_likely(claim))

    def choose_zeros(self, most: int, report: Callable[[tuple[Flips, ...]], None]) -> Search[tuple[Flips, ...]]:
        """Grow zeros, until there are enough or one comes again."""
        zeros: list[Flips] = []
        held = [0] * len(self.order)  # in how many zeros each feature is
        while len(zeros) < most:
            zero = yield from self._grown(sorted(self.order, key=held.__getitem__))
            if zero in zeros:
                break
            zeros.append(zero)
            report(tuple(zeros))
            for i in features_of(zero):
                held[i] += 1
        return tuple(zeros)

    def _grown(self, order: Sequence[int]) -> Search[Flips]:
        if self.gains is not None:
            return (yield from grow_by_guesses(order, self.gains, self.known, self.batch))
        return (yield from infer(grow(0, order, self.batch, self.likely), self.known, self.batch))


def _likely(claim: Proof) -> Flips | None:
    if claim.d <= ORDERED_UP_TO:
        return None
    likely = 0
    for one in claim.ones:
        likely |= one
    for zero in claim.zeros:
        likely |= everything(claim.d) & ~zero
    return likely
