"""From the answers a search collected to a small proof with minimal reasons.

Whatever a correct search asked is a proof already: had some small set been left open, the search could not have known
that it does not flip. But most of it is not needed. So the proof is built anew from nothing: wherever it has a gap, add
the largest zero known that closes it. No question is asked for that.

Reasons for people should be minimal. `polish` grows the zeros of a proof until the complement of each is a minimal
certificate; that costs a question for most features of each, and often makes some of the zeros superfluous.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING

from flipset.engine.chain import grow_along
from flipset.engine.hitting import tightest
from flipset.errors import ProtocolError
from flipset.index import Index
from flipset.protocol import Done, advance, ask, everything, features_of, gather
from flipset.weights import read_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.known import Known
    from flipset.proof import Proof
    from flipset.protocol import Flips, Search

SIDE_BY_SIDE = 16
"""Questions a round from which rounds count for more than questions."""

CHAIN_FROM = 32
"""Zeros that lack more features than this are grown along a chain before features are tried one by one."""


def build_proof(claim: Proof, known: Known, at_most: int | None = None) -> Proof:
    """Return a proof of the claim's ones from what is known; refuse a claim that the answers do not prove.

    Where there are none, it shows that no set of `at_most` features flips, or none at all.
    """
    if not all(known.settle(one) for one in claim.ones):
        raise ProtocolError("the search returned a set that it never saw flip: its answer is not proved")

    def largest(gap: Flips) -> Search[Flips]:
        return _largest_zero(gap, known)
        yield ()

    flow = _close_gaps(claim, largest, at_most)
    step = advance(flow)
    assert isinstance(step, Done), "choosing among known zeros asks nothing"
    return replace(claim, zeros=step.result)


def _largest_zero(gap: Flips, known: Known) -> Flips:
    zero = max((z for z in known.zeros if not gap & ~z), key=int.bit_count, default=None)
    if zero is None:
        raise ProtocolError("the search returned without settling every smaller set: its answer is not proved")
    return zero


def _close_gaps(
    claim: Proof, zero_for: Callable[[Flips], Search[Flips]], at_most: int | None
) -> Search[tuple[Flips, ...]]:
    """Collect zeros until no set up to the weight of the ones is left open; `zero_for` finds one for each gap.

    One walk over all sets that meet every reason. A gap found on the way gets a zero, whose reason joins the others
    from there on: reasons only become more, so that nothing that was left behind opens again.
    """
    weights = read_weights(claim.weights, claim.d)
    whole = everything(claim.d)
    ones = Index(claim.ones)
    in_ones = 0
    for one in claim.ones:
        in_ones |= one
    zeros: list[Flips] = []
    reasons: list[Flips] = []

    def visit(chosen: Flips, banned: Flips, left: int) -> Search[None]:
        if left < 0 or ones.inside(chosen):
            return
        while not (unmet := [reason for reason in reasons if not reason & chosen]):
            zeros.append((yield from zero_for(chosen)))
            reasons.append(whole & ~zeros[-1])
            if not reasons[-1]:
                return  # everything is a zero
        branch = tightest(unmet, banned, left, weights.each)
        while branch:
            bit = branch & -branch
            branch ^= bit
            yield from visit(chosen | bit, banned, left - weights.of(bit))
            alike = bit if weights.each or bit & in_ones else _alike(bit, branch & ~in_ones, chosen, reasons)
            branch &= ~alike
            banned |= bit | alike

    most = weights.of(whole) if at_most is None else at_most
    yield from visit(0, 0, min(map(weights.of, claim.ones), default=most))
    return tuple(zeros)


def _alike(bit: Flips, among: Flips, chosen: Flips, reasons: Sequence[Flips]) -> Flips:
    """Return the features that are in the same unmet reasons as `bit`: what was done for one is done for all."""
    for reason in reasons:
        if not reason & chosen:
            among &= reason if reason & bit else ~reason
    return among


def partial_proof(claim: Proof, known: Known) -> Proof:
    """Return what an interrupted search proves: all it knows to be zero, and the lightest flip sets it saw."""
    weigh = read_weights(claim.weights, claim.d).of
    lightest = min(map(weigh, known.ones), default=0)
    ones = tuple(one for one in known.ones if weigh(one) == lightest)
    return replace(claim, zeros=tuple(known.zeros), ones=ones)


def polish(proof: Proof, known: Known, batch: int, at_most: int | None = None) -> Search[Proof]:
    """Grow the zeros of a proof to maximal ones, leaving out those that are no longer needed.

    Where many questions are asked together, as many zeros as fit are grown side by side first: that may grow some in
    vain, in far fewer rounds.
    """
    grown: set[Flips] = set()
    rest = proof
    while batch >= SIDE_BY_SIDE and (short := [zero for zero in rest.zeros if zero not in grown]):
        some = _that_fit(short, proof.d, batch)
        grown.update((yield from gather([_grow(zero, proof.d, known, batch) for zero in some])))
        rest = build_proof(replace(proof, zeros=()), known, at_most)

    def maximal(gap: Flips) -> Search[Flips]:
        return (yield from _grow(_largest_zero(gap, known), proof.d, known, batch))

    return replace(proof, zeros=(yield from _close_gaps(proof, maximal, at_most)))


def _that_fit(zeros: Sequence[Flips], d: int, batch: int) -> list[Flips]:
    """Return the first zeros, as many as can be asked about together: a question for each feature that one lacks."""
    asked = accumulate(min(d - zero.bit_count(), CHAIN_FROM) for zero in zeros)
    return [zero for i, (zero, questions) in enumerate(zip(zeros, asked, strict=True)) if not i or questions <= batch]


def _grow(zero: Flips, d: int, known: Known, batch: int) -> Search[Flips]:
    """Return a maximal zero that contains `zero`."""
    lacking = features_of(everything(d) & ~zero)
    if len(lacking) > CHAIN_FROM:
        zero, _ = yield from grow_along(
            zero,
            lacking,
            lambda tips, left: (1 + tips) / (len(lacking) - left + 16),
            lambda queries: _flips(queries, known, len(queries)),
        )
        lacking = features_of(everything(d) & ~zero)
    # A feature that tips the balance once does so for ever; only the others need another look.
    while lacking:
        tipping = yield from _flips([zero | 1 << i for i in lacking], known, batch)
        lacking = [i for i, tips in zip(lacking, tipping, strict=True) if not tips]
        if not lacking:
            break
        if batch >= SIDE_BY_SIDE:
            return (yield from _climb(zero, lacking, known, batch))
        together = zero
        for i in lacking:
            together |= 1 << i
        (tips,) = yield from _flips([together], known, batch)
        if not tips:
            return together
        zero |= 1 << lacking.pop(0)
    return zero


def _climb(zero: Flips, lacking: list[int], known: Known, batch: int) -> Search[Flips]:
    """Return a maximal zero, all steps of a chain being asked together: a round for each feature that tips it."""
    while lacking:
        steps = list(accumulate((1 << i for i in lacking), or_, initial=zero))[1:]
        tipping = yield from _flips(steps, known, batch)
        far = tipping.index(True) if True in tipping else len(lacking)
        zero = steps[far - 1] if far else zero
        lacking = lacking[far + 1 :]
    return zero


def _flips(queries: Sequence[Flips], known: Known, batch: int) -> Search[list[bool]]:
    """Say which sets flip, `batch` of them a round, asking only what does not follow from what is known."""
    told = {query: known.settle(query) for query in queries}
    unknown = [query for query, flips in told.items() if flips is None]
    for start in range(0, len(unknown), batch):
        part = unknown[start : start + batch]
        if start:  # the rounds before may have said it
            part = [query for query in part if known.settle(query) is None]
        if part:
            for query, margin in zip(part, (yield from ask(part)), strict=True):
                told[query] = margin >= 0
                known.learn(query, margin >= 0)
    return [bool(known.settle(query) if told[query] is None else told[query]) for query in queries]
