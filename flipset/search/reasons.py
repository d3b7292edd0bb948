"""All reasons of a proof, chosen by a rule that depends only on the function and not on the search that ran.

These are reported if the caller wants them all; `flipset.search.few_reasons` chooses a few, for far fewer queries.

A reason is the complement of a maximal zero. The zeros that the rule chooses prove the answer together with the ones.
They are grown one after another. Each begins at a start and adds features in an order, leaving out every feature that
would make it flip:

1. Features are ordered by their margins alone, least first; of equal ones, the first column comes first. They stay in
   the order of the columns if the model gives only labels (the margin of everything flipped is exactly 1), or if there
   are more than `ORDERED_UP_TO` features.
2. The first zero starts from nothing. If flip sets have several features, so does the second zero, which first adds
   the features that the first one leaves out.
3. For flip sets of one or two features: while some single feature that does not flip lies in no zero, a zero starts
   from the last such feature in the order and adds the others first. The same is then done for pairs; the pair whose
   features come last in the order is first.
4. For larger flip sets, and for weights: the starts are the gaps that `GapWalk` finds, those with features that come
   last in the order first. A zero first adds the features that share no earlier zero with its start, or with all of
   its start but one feature.
   Up to `ORDERED_UP_TO` features, `SIDE_BY_SIDE` gaps are taken at a time: each further one is the next gap if the one
   before it got the zero that `flipset.search.forecast` expects, from margins or, with labels, from the zeros so far.
5. Zeros that cover no set that the others leave uncovered are dropped, in the order in which they were grown.
6. If this takes more than `MOST_REASONS` zeros, the first `MOST_REASONS` are reported, and none is dropped. The rest of
   the proof are zeros that the search happened to find.

If not all flip sets are listed, the zeros have to cover the sets that weigh less than a flip set, and nothing else. At
most `MOST_OF_MANY` of them are then reported.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flipset.layers.infer import infer
from flipset.protocol import Steps, ask, checkpoint, everything, features_of, flips_of, gather
from flipset.search.forecast import forecast_by_margins, forecast_by_zeros
from flipset.search.gap_walk import GapWalk
from flipset.search.growing import ORDERED_UP_TO, PARALLEL_FROM, grow, grow_by_forecast
from flipset.sets.hitting import hitting_sets
from flipset.sets.weights import read_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.proof import Proof
    from flipset.protocol import Flips, Search
    from flipset.search.forecast import Forecast
    from flipset.sets.known import Known

SIDE_BY_SIDE = 8
"""The most zeros that are grown in the same rounds. More of them save rounds, but more turn out to be needless. The
number is part of the rule, so it does not depend on the batch size."""

MOST_REASONS = 500
"""The most reasons that are reported. A function in which each of some thousand sets needs a reason of its own, such as
"at least 7 of 14 features", would otherwise take minutes, for reasons that nobody reads."""

MOST_OF_MANY = 100
"""The same, if not all flip sets are listed."""

LABEL = 1.0
"""The margin of everything together if the model gives labels."""


def find_reasons(
    claim: Proof,
    known: Known,
    answers: Mapping[Flips, float],
    batch: int,
    at_most: int | None = None,
    most: int = MOST_REASONS,
) -> Search[tuple[Proof, bool]]:
    """Return the claim with the zeros that the rule chooses, asking only what does not follow from `known`.

    Also returns whether these are all that the proof needs, or only the first `most`.

    `answers` are the margins that were given so far. The zeros of the claim, if it has some, only guide the queries.
    """
    whole = everything(claim.d)
    if 0 in claim.ones:  # the empty set flips, so every set does: there is no zero
        return claim, True
    if not claim.ones and known.settle(whole) is False:
        return replace(claim, zeros=(whole,)), True
    alone = yield from margins_alone(claim.d, answers, known, batch)
    order = list(range(claim.d)) if alone is None else sorted(range(claim.d), key=lambda i: (alone[i], i))
    weights = read_weights(claim.weights, claim.d)
    heaviest = weights.of(whole) if at_most is None else at_most
    limit = min(map(weights.of, claim.ones), default=heaviest)
    likely = None if claim.d <= ORDERED_UP_TO else _union([*claim.ones, *(whole & ~zero for zero in claim.zeros)])
    forecast = None if alone is None else forecast_by_margins(alone)
    rule = _Rule(claim, order, limit, weights.each, batch, most, likely, forecast)
    zeros = yield from infer(rule.choose_zeros(), known, batch)
    return replace(claim, zeros=tuple(zeros)), not rule.is_full


def margins_alone(d: int, answers: Mapping[Flips, float], known: Known, batch: int) -> Search[list[float] | None]:
    """Return the margin of each feature alone; None if they do not order the features."""
    if d > ORDERED_UP_TO:
        return None
    together = answers.get(everything(d))
    if together is None:
        (together,) = yield from ask([everything(d)])
    if together == LABEL:
        return None
    alone = {1 << i: answers[1 << i] for i in range(d) if 1 << i in answers}
    new = [1 << i for i in range(d) if 1 << i not in alone]
    for start in range(0, len(new), batch):
        part = new[start : start + batch]
        for single, margin in zip(part, (yield from ask(part)), strict=True):
            alone[single] = margin
            known.learn(single, margin >= 0)
    return [alone[1 << i] for i in range(d)]


@dataclass(slots=True)
class _Rule:
    """The zeros that were chosen so far, and the sets that they have to cover."""

    claim: Proof
    order: list[int]
    limit: int  # zeros have to cover all sets of at most this weight, except the ones
    weights: tuple[int, ...] | None
    batch: int
    most: int  # zeros to report
    likely: Flips | None = None  # features that may flip with a zero, as far as is known; None: all
    forecast: Forecast | None = None  # what the margin of a set may be; with labels, it is learned from the zeros
    whole: Flips = field(init=False)
    rank: list[int] = field(init=False)  # the position of each feature in `order`
    zeros: list[Flips] = field(default_factory=list)  # all are maximal

    def __post_init__(self) -> None:
        self.whole = everything(self.claim.d)
        self.rank = [0] * self.claim.d
        for position, feature in enumerate(self.order):
            self.rank[feature] = position

    def choose_zeros(self) -> Search[list[Flips]]:
        """Grow zeros until everything is covered; return those that are needed."""
        ones = self.claim.ones
        yield from self._grow(0, self.order)
        if self.limit and (not ones or any(one & (one - 1) for one in ones)):  # not all flip sets are single features
            yield from self._grow(0, self._in_front(self.whole & ~self.zeros[0]))
        if self.weights is not None or self.limit >= 3:
            yield from self._cover_larger()
        elif self.limit:
            yield from self._cover_singles()
            if self.limit == 2:
                yield from self._cover_pairs()
        return list(dict.fromkeys(self.zeros))[: self.most] if self.is_full else (yield from self._needed())

    @property
    def is_full(self) -> bool:
        """Whether there are as many zeros as are reported."""
        return len(self.zeros) > self.most

    def _in_front(self, some: Flips) -> list[int]:
        """Return the order with some features before all others."""
        first = set(features_of(some))
        return sorted(self.order, key=lambda i: i not in first)

    def _grow(self, start: Flips, order: Sequence[int]) -> Search[None]:
        self.zeros.append((yield from self._grown(start, order)))

    def _grown(self, start: Flips, order: Sequence[int], *, is_one_of_many: bool = False) -> Search[Flips]:
        held = set(features_of(start))
        rest = [i for i in order if i not in held]
        # Where all sets that may matter fit into one round, asking them takes fewer rounds than confirming a guess.
        if self.forecast is not None and self.batch >= PARALLEL_FROM and (2 * len(rest) > self.batch or is_one_of_many):
            return (yield from grow_by_forecast(start, rest, self.forecast))
        return (yield from grow(start, rest, self.batch, self.likely))

    def _cover_singles(self) -> Search[None]:
        """Cover all single features that do not flip, beginning with those that seem to matter most."""
        alone = flips_of(one.bit_length() - 1 for one in self.claim.ones if not one & (one - 1))
        while not self.is_full and (open_ := self.whole & ~alone & ~_union(self.zeros)):
            last = max(features_of(open_), key=self.rank.__getitem__)
            yield from self._grow(1 << last, self._in_front(open_))

    def _cover_pairs(self) -> Search[None]:
        """Cover all pairs that do not flip; single features are covered already."""
        # No flip set has fewer features than the limit, so the ones are pairs.
        flipping = [0] * self.claim.d
        for one in self.claim.ones:
            for i in features_of(one):
                flipping[i] |= one
        steps = Steps()
        while True:
            start, members = 0, 0
            # A feature that is in every zero is in no open pair: its partner lies in some zero, and so does the pair.
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
            if not start or self.is_full:
                return
            yield from self._grow(start, self._in_front(members))

    def _apart_from(self, i: int) -> Flips:
        """Return the features that share no zero with feature `i`."""
        partners = self.whole & ~(1 << i)
        for zero in self.zeros:
            if zero >> i & 1:
                partners &= ~zero
        return partners

    def _cover_larger(self) -> Search[None]:
        """Cover all sets within the limit that do not flip."""
        walk = GapWalk(self.claim, self.limit, self.zeros, self.rank)
        has_labels = self.forecast is None and self.claim.d <= ORDERED_UP_TO
        while not self.is_full and (gap := (yield from walk.next_gap())) is not None:
            if has_labels:
                self.forecast = forecast_by_zeros(self.zeros, self.claim.d)
            starts = yield from self._starts(walk, gap)
            # All orders are chosen before any of these zeros is known: they must not depend on which is grown first.
            orders = [self._far_first(start) for start in starts]
            zeros = yield from gather(
                [self._grown(*pair, is_one_of_many=True) for pair in zip(starts, orders, strict=True)]
            )
            self.zeros += zeros
            for zero in zeros:
                walk.add(zero)

    def _starts(self, walk: GapWalk, gap: Flips) -> Search[list[Flips]]:
        """Return the gap, and gaps that are probably left when it has a zero."""
        starts = [gap]
        if self.forecast is None:
            return starts
        ahead = walk.copy()
        while len(starts) < SIDE_BY_SIDE:
            rest = [i for i in self._far_first(starts[-1]) if not starts[-1] >> i & 1]
            ahead.add(self.forecast.zero_from(starts[-1], rest))
            further = yield from ahead.next_gap()
            if further is None:
                break
            starts.append(further)
        return starts

    def _far_first(self, start: Flips) -> list[int]:
        """Return the order with those features first that share no zero with the start, or all of it but one."""
        near = 0
        for zero in self.zeros:
            lacking = start & ~zero
            if not lacking & (lacking - 1):
                near |= zero
        return self._in_front(self.whole & ~near)

    def _needed(self) -> Search[list[Flips]]:
        """Return the zeros, without those that cover nothing that the others leave uncovered."""
        kept = list(dict.fromkeys(self.zeros))
        for zero in list(kept):
            # A set that only this zero covers lies inside it and meets what each other zero leaves out of it. If
            # there is such a set within the limit, the zero is needed.
            others = [zero & ~other for other in kept if other != zero]
            if not others:
                break
            # If this zero lies inside another, it covers nothing of its own.
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
