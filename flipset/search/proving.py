"""From the answers that a search collected to a small proof.

The answers of a correct search always prove its result: if they left a small set open, the search could not know that
the set does not flip. But most of them are not needed. So the proof is built from nothing: while it has a gap
(`flipset.search.gap_walk`), the largest known zero that contains the gap is added. This asks no queries.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING

from flipset.errors import ProtocolError
from flipset.protocol import Steps, checkpoint, compute, everything, features_of
from flipset.search.gap_walk import GapWalk
from flipset.search.guided.pool import sets_of_size
from flipset.sets.hitting import hitting_sets
from flipset.sets.weights import as_given, read_weights

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flipset.proof import Proof
    from flipset.protocol import Flips, Search
    from flipset.sets.known import Known
    from flipset.sets.weights import Weights

UNPROVED = "the search returned without settling every smaller set: its answer is not proved"

BOUND_TICKS = 40
"""The most work, in units of `STEPS_APART` steps, that goes into the lower bound of a stopped search."""

STOPPED_MOST = 1_000
"""The most flip sets that the result of a stopped search lists."""


def build_proof(claim: Proof, known: Known, at_most: int | None = None) -> Proof:
    """Return a proof, from known zeros and ones, that the claim's ones are all the lightest flip sets.

    Without ones, it proves that no set of weight at most `at_most` flips, or none at all if that is None. Raises
    `ProtocolError` if the answers do not prove the claim.
    """
    return compute(proving(claim, known, at_most))


def proving(claim: Proof, known: Known, at_most: int | None = None) -> Search[Proof]:
    """Do the same as `build_proof`, as a search that yields checkpoints and asks nothing."""
    steps = Steps()
    for one in claim.ones:
        if not known.settle(one):
            raise ProtocolError("the search returned a set that it never saw flip: its answer is not proved")
        if steps.due():
            yield from checkpoint()
    return (yield from _choosing(claim, known, at_most))


def _choosing(claim: Proof, known: Known, at_most: int | None) -> Search[Proof]:
    """Return the claim with zeros that prove it: for each gap the largest known zero that contains it."""
    zeros: list[Flips] = []
    walk = GapWalk(claim, at_most)
    while (gap := (yield from walk.next_gap())) is not None:
        zeros.append(_largest_zero(gap, known))
        walk.add(zeros[-1])
    return replace(claim, zeros=tuple(zeros))


def _largest_zero(gap: Flips, known: Known) -> Flips:
    zero = known.largest_zero_above(gap)
    if zero is None:
        raise ProtocolError(UNPROVED)
    return zero


def partial_proof(claim: Proof, known: Known) -> Proof:
    """Return the proof of a stopped search: all known zeros, and the lightest known flip sets.

    It keeps the first `STOPPED_MOST` of these. One is enough for the bound, and each one more takes time.
    """
    weigh = read_weights(claim.weights, claim.d).of
    lightest = min(map(weigh, known.ones), default=0)
    ones = [one for one in known.ones if weigh(one) == lightest]
    return replace(claim, zeros=tuple(known.zeros), ones=tuple(ones[:STOPPED_MOST]))


SWEEP_MOST = 2_000_000
"""The most sets of one size that `cover_below` goes through all at once."""


def cover_below(claim: Proof, known: Known, limit: int) -> Search[tuple[Flips, ...]]:
    """Return known zeros that cover all sets of weight at most `limit`.

    This asks nothing. Raises `ProtocolError` if the known zeros do not cover all of these sets.
    """
    if claim.weights is not None or not limit or comb(claim.d, limit) > SWEEP_MOST:
        walk = GapWalk(replace(claim, ones=()), limit)
        zeros = []
        while (gap := (yield from walk.next_gap())) is not None:
            zeros.append(_largest_zero(gap, known))
            walk.add(zeros[-1])
        return tuple(zeros)
    # If all sets of one size lie in zeros, so do all smaller ones. A bitset of these sets is far faster than the walk,
    # which looks at every zero in every step: there may be a zero for every set.
    pool = sets_of_size(claim.d, limit)
    zeros = []
    steps = Steps()
    larger = [zero for zero in known.zeros if zero.bit_count() > limit]
    for zero in sorted(larger, key=int.bit_count, reverse=True):
        before = pool.open
        pool.drop_inside(zero)
        if pool.open != before:
            zeros.append(zero)
        if steps.due(pool.work(pool.everything)):
            yield from checkpoint()
    # What is left lies in no larger zero, so it must be one itself.
    exact = {zero for zero in known.zeros if zero.bit_count() == limit}
    left = pool.open_sets()
    if not exact.issuperset(left):
        raise ProtocolError(UNPROVED)
    return (*zeros, *left)


def bound_below(proof: Proof, settled: int = 0) -> int | float | None:
    """Return a lower bound on the weight of every flip set that the zeros prove; None if they allow no flip set.

    `settled` is a bound that is known already, a whole number as in `read_weights`. The best bound takes exponential
    time in the worst case, so the search for it stops after `BOUND_TICKS` units of work. The result is then the best of
    three bounds: `settled`, the weight that disjoint reasons need together, and the weight that the search has reached.
    """
    weights = read_weights(proof.weights, proof.d)
    whole = everything(proof.d)
    reasons = sorted((whole & ~zero for zero in proof.zeros), key=int.bit_count)
    if reasons and not reasons[0]:
        return None
    # Invariant: no flip set weighs less than `lower`; some set of weight `upper` meets every reason.
    lower, upper = max(settled, _weight_of_disjoint(reasons, weights)), weights.of(whole)
    ticks = 0
    while lower < upper:
        # Without weights, go size by size: each size is far more work than the one before. With weights, halve.
        limit = lower if weights.each is None else (lower + upper) // 2
        for flips in hitting_sets(reasons, (), weights.each, limit):
            if flips is not None:
                upper = weights.of(flips)
                break
            ticks += 1
            if ticks == BOUND_TICKS:
                return as_given(lower, proof.weights)
        else:
            lower = limit + 1
    return as_given(lower, proof.weights)


def _weight_of_disjoint(reasons: Iterable[Flips], weights: Weights) -> int:
    """Return the weight that reasons without common features need together: each its lightest feature."""
    used = needed = 0
    for reason in reasons:
        if not reason & used:
            used |= reason
            needed += 1 if weights.each is None else min(weights.each[i] for i in features_of(reason))
    return needed
