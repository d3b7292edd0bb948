"""From the answers that a search collected to a small proof.

The answers of a correct search always prove its result: if they left a small set open, the search could not know that
the set does not flip. But most of them are not needed. So the proof is built from nothing: while it has a gap, the
largest known zero that contains the gap is added. This asks no queries.

A gap is a set that lies in no zero of the proof and is not heavier than the ones, but is not one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from flipset.errors import ProtocolError
from flipset.protocol import Steps, checkpoint, compute, everything, features_of
from flipset.sets.hitting import hitting_sets, tightest
from flipset.sets.weights import as_given, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flipset.proof import Proof
    from flipset.protocol import Flips, Search
    from flipset.sets.known import Known
    from flipset.sets.weights import Weights

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

    def largest(gap: Flips) -> Search[list[Flips]]:
        return [_largest_zero(gap, known)]
        yield ()  # never reached: it makes this function a search, as `close_gaps` expects

    return replace(claim, zeros=tuple((yield from close_gaps(claim, largest, at_most))))


def _largest_zero(gap: Flips, known: Known) -> Flips:
    zero = known.largest_zero_above(gap)
    if zero is None:
        raise ProtocolError("the search returned without settling every smaller set: its answer is not proved")
    return zero


@dataclass(slots=True)
class _Node:
    """A node of the depth-first walk over sets in `close_gaps`."""

    chosen: Flips  # the set of this node
    banned: Flips  # features that no set below this node may contain, because those sets were visited already
    left: int  # the weight that may still be added
    unmet: list[Flips]  # among the first `seen` reasons, those that share no feature with `chosen`
    seen: int
    branch: Flips | None = None  # features still to be added, one by one; None before the node is opened
    tried: Flips = 0  # the feature whose child was visited last; 0 if it has been dealt with

    def catch_up(self, reasons: Sequence[Flips]) -> None:
        """Look at the reasons that were added since the last visit."""
        if self.seen < len(reasons):
            self.unmet += [reason for reason in reasons[self.seen :] if not reason & self.chosen]
            self.seen = len(reasons)


def close_gaps(
    claim: Proof,
    zeros_for: Callable[[Flips], Search[list[Flips]]],
    at_most: int | None,
    zeros: list[Flips] | None = None,
) -> Search[list[Flips]]:
    """Add zeros until the claim has no gap; return `zeros` with the new ones.

    `zeros_for` receives a gap and returns zeros; one of them must contain the gap.

    This is one depth-first walk over the sets that meet every reason (the complement of every zero). A set that meets
    all of them is a gap. It gets a zero, whose reason is added to the list. Reasons are only ever added, so a part of
    the walk that is finished never has to be visited again. To keep the work small, a node passes its unmet reasons on
    to its children, and looks at each new reason once.
    """
    weights = read_weights(claim.weights, claim.d)
    whole = everything(claim.d)
    ones = set(claim.ones)
    in_ones = reduce(or_, claim.ones, 0)
    zeros = [] if zeros is None else zeros
    reasons = [whole & ~zero for zero in zeros]
    steps = Steps()
    most = weights.of(whole) if at_most is None else at_most
    # Invariant: if gaps are left, one of them contains the set of a node of `path` and nothing that is banned there.
    path = [_Node(0, 0, min(map(weights.of, claim.ones), default=most), [], 0)]
    while path:
        node = path[-1]
        node.catch_up(reasons)
        if steps.due(len(node.unmet) + 1):
            yield from checkpoint()
        if node.branch is None:
            # No one weighs less than the limit, so a set within the limit contains a one only if it is that one.
            if node.left < 0 or node.chosen in ones:
                path.pop()
                continue
            while not node.unmet:  # the set of this node is a gap
                added = yield from zeros_for(node.chosen)
                assert any(not node.chosen & ~zero for zero in added), "one of the zeros contains the gap"
                zeros += added
                reasons += [whole & ~zero for zero in added]
                if whole in added:  # nothing flips: there is nothing left to cover
                    return zeros
                node.catch_up(reasons)
            node.branch = tightest(node.unmet, node.banned, node.left, weights.each)
        elif node.tried:
            _drop_tried(node, in_ones, weights)
        if not node.branch:
            path.pop()
            continue
        path.append(_next_child(node, weights))
    return zeros


def _drop_tried(node: _Node, in_ones: Flips, weights: Weights) -> None:
    """Ban the feature whose child was just finished, and the features that are interchangeable with it."""
    assert node.branch is not None
    bit, node.tried = node.tried, 0
    same = bit if weights.each or bit & in_ones else _alike(bit, node.branch & ~in_ones, node.unmet)
    node.branch &= ~same
    node.banned |= bit | same


def _next_child(node: _Node, weights: Weights) -> _Node:
    """Return the child of a node for the next feature of its branch."""
    assert node.branch
    bit = node.tried = node.branch & -node.branch
    node.branch ^= bit
    unmet = [reason for reason in node.unmet if not reason & bit]
    return _Node(node.chosen | bit, node.banned, node.left - weights.of(bit), unmet, node.seen)


def _alike(bit: Flips, among: Flips, unmet: Sequence[Flips]) -> Flips:
    """Return the features of `among` that are in the same unmet reasons as `bit`.

    Without weights, and outside the ones, such features are interchangeable: no gap with one means no gap with any.
    """
    for reason in unmet:
        among &= reason if reason & bit else ~reason
        if not among:
            break
    return among


def partial_proof(claim: Proof, known: Known) -> Proof:
    """Return the proof of a stopped search: all known zeros, and the lightest known flip sets.

    It keeps the first `STOPPED_MOST` of these. One is enough for the bound, and each one more takes time.
    """
    weigh = read_weights(claim.weights, claim.d).of
    lightest = min(map(weigh, known.ones), default=0)
    ones = [one for one in known.ones if weigh(one) == lightest]
    return replace(claim, zeros=tuple(known.zeros), ones=tuple(ones[:STOPPED_MOST]))


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
