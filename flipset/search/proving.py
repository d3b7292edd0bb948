"""From the answers a search collected to a small proof.

Whatever a correct search asked is a proof already: had some small set been left open, the search could not have known
that it does not flip. But most of it is not needed. So the proof is built anew from nothing: wherever it has a gap, add
the largest zero known that closes it. No question is asked for that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flipset.errors import ProtocolError
from flipset.protocol import (
    Done,
    Steps,
    advance,
    checkpoint,
    everything,
    features_of,
    is_checkpoint,
)
from flipset.sets.hitting import hitting_sets, tightest
from flipset.sets.weights import as_given, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flipset.proof import Proof
    from flipset.protocol import Flips, Search
    from flipset.sets.known import Known
    from flipset.sets.weights import Weights

BOUND_TICKS = 40
"""Stretches of work, of `STEPS_APART` steps each, that the bound of a stopped search may take."""

STOPPED_MOST = 1_000
"""Flip sets that the result of a stopped search lists."""


def build_proof(claim: Proof, known: Known, at_most: int | None = None) -> Proof:
    """Return a proof of the claim's ones from what is known; refuse a claim that the answers do not prove.

    Where there are none, it shows that no set of `at_most` features flips, or none at all.
    """
    flow = proving(claim, known, at_most)
    step = advance(flow)
    while is_checkpoint(step):
        step = advance(flow, ())
    assert isinstance(step, Done), "choosing among known zeros asks nothing"
    return step.result


def proving(claim: Proof, known: Known, at_most: int | None = None) -> Search[Proof]:
    """Do what `build_proof` does, passing checkpoints; it asks nothing."""
    steps = Steps()
    for one in claim.ones:
        if not known.settle(one):
            raise ProtocolError("the search returned a set that it never saw flip: its answer is not proved")
        if steps.due():
            yield from checkpoint()
    return (yield from _choosing(claim, known, at_most))


def _choosing(claim: Proof, known: Known, at_most: int | None) -> Search[Proof]:
    """Return the claim with zeros that prove it: for each gap the largest that is known."""

    def largest(gap: Flips) -> Search[list[Flips]]:
        return [_largest_zero(gap, known)]
        yield ()

    return replace(claim, zeros=tuple((yield from close_gaps(claim, largest, at_most))))


def _largest_zero(gap: Flips, known: Known) -> Flips:
    zero = known.largest_zero_above(gap)
    if zero is None:
        raise ProtocolError("the search returned without settling every smaller set: its answer is not proved")
    return zero


@dataclass(slots=True)
class _Node:
    """A set on the way to gaps, with features that are not to be added and the weight that may still be."""

    chosen: Flips
    banned: Flips
    left: int
    unmet: list[Flips]  # among the first `seen` reasons, those that share nothing with `chosen`
    seen: int
    branch: Flips | None = None  # features still to be added, one by one; None before the node is opened
    tried: Flips = 0  # the feature that was added last

    def catch_up(self, reasons: Sequence[Flips]) -> None:
        """Look at the reasons that were added since."""
        if self.seen < len(reasons):
            self.unmet += [reason for reason in reasons[self.seen :] if not reason & self.chosen]
            self.seen = len(reasons)


def close_gaps(
    claim: Proof,
    zeros_for: Callable[[Flips], Search[list[Flips]]],
    at_most: int | None,
    zeros: list[Flips] | None = None,
) -> Search[list[Flips]]:
    """Collect zeros until no set up to the weight of the ones is left open; return them, `zeros` among them.

    `zeros_for` is given a gap and returns zeros, one of which contains it. One walk over all sets that meet every
    reason. A gap found on the way gets a zero, whose reason joins the others from there on: reasons only become more,
    so that nothing that was left behind opens again. Each node passes the reasons it does not meet to its children,
    and a new reason is looked at once by each node on the path to it: the work is about linear in the zeros.
    """
    weights = read_weights(claim.weights, claim.d)
    whole = everything(claim.d)
    ones = set(claim.ones)
    in_ones = 0
    for one in claim.ones:
        in_ones |= one
    zeros = [] if zeros is None else zeros
    reasons = [whole & ~zero for zero in zeros]
    steps = Steps()
    most = weights.of(whole) if at_most is None else at_most
    path = [_Node(0, 0, min(map(weights.of, claim.ones), default=most), [], 0)]
    while path:
        node = path[-1]
        node.catch_up(reasons)
        if steps.due(len(node.unmet) + 1):
            yield from checkpoint()
        if node.branch is None:
            # No one weighs less than the lightest, so that a set within the limit contains a one only if it is one.
            if node.left < 0 or node.chosen in ones:
                path.pop()
                continue
            while not node.unmet:
                added = yield from zeros_for(node.chosen)
                zeros += added
                reasons += [whole & ~zero for zero in added]
                if whole in added:
                    return zeros
                node.catch_up(reasons)
            node.branch = tightest(node.unmet, node.banned, node.left, weights.each)
        elif node.tried:
            bit, node.tried = node.tried, 0
            same = bit if weights.each or bit & in_ones else _alike(bit, node.branch & ~in_ones, node.unmet)
            node.branch &= ~same
            node.banned |= bit | same
        if not node.branch:
            path.pop()
            continue
        bit = node.tried = node.branch & -node.branch
        node.branch ^= bit
        unmet = [reason for reason in node.unmet if not reason & bit]
        path.append(_Node(node.chosen | bit, node.banned, node.left - weights.of(bit), unmet, node.seen))
    return zeros


def _alike(bit: Flips, among: Flips, unmet: Sequence[Flips]) -> Flips:
    """Return the features that are in the same unmet reasons as `bit`: what was done for one is done for all."""
    for reason in unmet:
        among &= reason if reason & bit else ~reason
        if not among:
            break
    return among


def partial_proof(claim: Proof, known: Known) -> Proof:
    """Return what an interrupted search proves: all it knows to be zero, and the lightest flip sets it saw.

    Of these it keeps the first `STOPPED_MOST`: one is enough for the bound, and every one more takes time.
    """
    weigh = read_weights(claim.weights, claim.d).of
    lightest = min(map(weigh, known.ones), default=0)
    ones = [one for one in known.ones if weigh(one) == lightest]
    return replace(claim, zeros=tuple(known.zeros), ones=tuple(ones[:STOPPED_MOST]))


def bound_below(proof: Proof, settled: int = 0) -> int | float | None:
    """Return a weight that no flip set is lighter than, as far as the zeros prove; None when they leave no set at all.

    The zeros show already that no set lighter than `settled` flips, a whole number as in `read_weights`. To find the
    best bound takes exponential time in the worst case. So the search for it ends after `BOUND_TICKS` stretches of
    work. The bound is then the best of three: `settled`, what reasons without common features need together, and the
    weight up to which the search came.
    """
    weights = read_weights(proof.weights, proof.d)
    whole = everything(proof.d)
    reasons = sorted((whole & ~zero for zero in proof.zeros), key=int.bit_count)
    if reasons and not reasons[0]:
        return None
    lower, upper = max(settled, _packed(reasons, weights)), weights.of(whole)
    ticks = 0
    while lower < upper:
        # Equal weights: one size after another, for each is far more work than the one before.
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


def _packed(reasons: Iterable[Flips], weights: Weights) -> int:
    """Return what reasons that share no feature need together: each the lightest of its features."""
    used = needed = 0
    for reason in reasons:
        if not reason & used:
            used |= reason
            needed += 1 if weights.each is None else min(weights.each[i] for i in features_of(reason))
    return needed
