"""Which reasons are reported: a rule that depends on the function alone, not on what a search happened to ask.

A reason is what a maximal zero leaves out. The zeros of the rule, together with the ones, prove the answer. They are
grown one after another, each from a start, by adding features in an order as long as nothing flips:

1. Features are ordered by the margin that each has alone, least first; of equals, the first column comes first. Where
   the model gives labels only (with everything flipped the margin is exactly 1), and beyond `ORDERED_UP_TO` features,
   they stay in the order of the columns.
2. The first zero starts from nothing. Where flip sets have several features, so does the second, which adds first what
   the first one leaves out.
3. While some single feature that does not flip lies in no zero: start from the last of them in the order, and add the
   others of them first. Then the same with pairs, of which the one with the last features comes first.
4. For flip sets of three features and more, and for weights, starts are the gaps that `close_gaps` meets.
5. In the order in which they were grown, zeros are left out that cover no set which the others do not.

The table search grows the same zeros in arrays (`flipset.search.table`), up to pairs; tests compare the two. How the
place is found where the next feature would flip may differ, and does: it costs queries, and changes no zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING

from flipset.layers.infer import infer
from flipset.protocol import Steps, ask, checkpoint, everything, features_of, flips_of
from flipset.search.guided.chain import grow_along
from flipset.search.proving import close_gaps
from flipset.sets.hitting import hitting_sets
from flipset.sets.weights import read_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.proof import Proof
    from flipset.protocol import Flips, Search
    from flipset.sets.known import Known

ORDERED_UP_TO = 63
"""Features up to which each is asked alone for the order; as many as the table search takes."""

SIDE_BY_SIDE = 16
"""Queries a round from which rounds count for more than queries."""

LABEL = 1.0
"""The margin of everything together where the model gives labels."""


def find_reasons(
    claim: Proof, known: Known, answers: Mapping[Flips, float], batch: int, at_most: int | None = None
) -> Search[Proof]:
    """Return the claim with the zeros that the rule names; it asks only what does not follow from `known`.

    `answers` are the margins that were given so far.
    """
    whole = everything(claim.d)
    if 0 in claim.ones:  # with nothing flipped it flips: there is no zero
        return claim
    if not claim.ones and known.settle(whole) is False:
        return replace(claim, zeros=(whole,))
    order = yield from _order(claim.d, answers, known, batch)
    weights = read_weights(claim.weights, claim.d)
    most = weights.of(whole) if at_most is None else at_most
    limit = min(map(weights.of, claim.ones), default=most)
    rule = _Rule(claim, order, limit, weights.each, batch)
    return replace(claim, zeros=tuple((yield from infer(rule.zeros_of_the_rule(), known, batch))))


def _order(d: int, answers: Mapping[Flips, float], known: Known, batch: int) -> Search[list[int]]:
    """Return the features in the order in which zeros take them."""
    if d > ORDERED_UP_TO or answers.get(everything(d), LABEL) == LABEL:
        return list(range(d))
    alone = {1 << i: answers.get(1 << i) for i in range(d)}
    new = [single for single, margin in alone.items() if margin is None]
    for start in range(0, len(new), batch):
        part = new[start : start + batch]
        for single, margin in zip(part, (yield from ask(part)), strict=True):
            alone[single] = margin
            known.learn(single, margin >= 0)
    return sorted(range(d), key=lambda i: (alone[1 << i], i))


@dataclass(slots=True)
class _Rule:
    """The zeros so far, and what has to be covered: all sets up to a weight but the ones."""

    claim: Proof
    order: list[int]
    limit: int
    weights: tuple[int, ...] | None
    batch: int
    whole: Flips = field(init=False)
    rank: list[int] = field(init=False)
    zeros: list[Flips] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.whole = everything(self.claim.d)
        self.rank = [0] * self.claim.d
        for position, feature in enumerate(self.order):
            self.rank[feature] = position

    def zeros_of_the_rule(self) -> Search[list[Flips]]:
        """Grow zeros until all is covered; return those that are needed."""
        ones = self.claim.ones
        yield from self._grow(0, self.order)
        if not ones or any(one & (one - 1) for one in ones):
            yield from self._grow(0, self._first(self.whole & ~self.zeros[0]))
        if self.weights is None:
            yield from self._cover_singles()
            if self.limit >= 2:
                yield from self._cover_pairs()
        if self.weights is not None or self.limit >= 3:
            yield from close_gaps(self.claim, self._zeros_for, self.limit, self.zeros)
        return (yield from self._needed())

    def _first(self, some: Flips) -> list[int]:
        """Return the order with some features before all others."""
        return sorted(self.order, key=lambda i: not some >> i & 1)

    def _grow(self, start: Flips, order: Sequence[int]) -> Search[Flips]:
        zero = yield from grow(start, [i for i in order if not start >> i & 1], self.batch)
        self.zeros.append(zero)
        return zero

    def _zeros_for(self, gap: Flips) -> Search[list[Flips]]:
        return [(yield from grow(gap, [i for i in self.order if not gap >> i & 1], self.batch))]

    def _cover_singles(self) -> Search[None]:
        """Cover all single features that do not flip, those that seem to matter most first."""
        alone = flips_of(one.bit_length() - 1 for one in self.claim.ones if not one & (one - 1))
        while open_ := self.whole & ~alone & ~_union(self.zeros):
            last = max(features_of(open_), key=self.rank.__getitem__)
            yield from self._grow(1 << last, self._first(open_))

    def _cover_pairs(self) -> Search[None]:
        """Cover all pairs that do not flip; every single feature is covered by now."""
        # Flip sets have at least as many features as the limit says: they are pairs, or no pair flips.
        flipping = [0] * self.claim.d
        for one in self.claim.ones if self.limit == 2 else ():
            for i in features_of(one):
                flipping[i] |= one
        steps = Steps()
        while True:
            start, members = 0, 0
            # A feature that every zero holds is in no open pair: with its partner it lies where that one does.
            held = self.whole
            for zero in self.zeros:
                held &= zero
            for i in [i for i in reversed(self.order) if not held >> i & 1]:
                if steps.due(len(self.zeros)):
                    yield from checkpoint()
                partners = self._apart_from(i) & ~flipping[i]
                if partners:
                    members |= 1 << i | partners
                    last = max(features_of(partners), key=self.rank.__getitem__)
                    start = start or 1 << i | 1 << last
            if not start:
                return
            yield from self._grow(start, self._first(members))

    def _apart_from(self, i: int) -> Flips:
        """Return the features that are in no zero together with feature `i`."""
        partners = self.whole & ~(1 << i)
        for zero in self.zeros:
            if zero >> i & 1:
                partners &= ~zero
        return partners

    def _needed(self) -> Search[list[Flips]]:
        """Return the zeros without those that cover nothing which the others do not."""
        kept = list(dict.fromkeys(self.zeros))
        for zero in list(kept):
            # A set inside this zero and in no other meets every other reason, and does so inside this zero.
            others = [zero & ~other for other in kept if other != zero]
            if not others:
                break
            sets = hitting_sets(others, (), self.weights, self.limit) if all(others) else iter(())
            for own in sets:
                if own is not None:
                    break
                yield from checkpoint()
            else:
                kept.remove(zero)
        return kept


def _union(sets: Sequence[Flips]) -> Flips:
    union = 0
    for one in sets:
        union |= one
    return union


def grow(zero: Flips, order: Sequence[int], batch: int) -> Search[Flips]:
    """Add features to a zero in this order, as long as it stays one; return the maximal zero."""
    if batch < SIDE_BY_SIDE:
        grown, _ = yield from grow_along(zero, order, lambda tips, left: (1 + tips) / (len(order) - left + 4), _flip)
        return grown
    rest = list(order)
    while rest:
        # A feature that flips with the zero by itself flips with every larger one: it is left out for good.
        alone = yield from _flip([zero | 1 << i for i in rest])
        rest = [i for i, flips in zip(rest, alone, strict=True) if not flips]
        chain = list(accumulate((1 << i for i in rest), or_, initial=zero))
        # Invariant: chain[0] is a zero. The chain flips from some place on; the feature there is left out.
        flips = yield from _flip(chain[1:])
        far = flips.index(True) if True in flips else len(rest)
        zero, rest = chain[far], rest[far + 1 :]
    return zero


def _flip(queries: Sequence[Flips]) -> Search[list[bool]]:
    return [margin >= 0 for margin in (yield from ask(queries))]
