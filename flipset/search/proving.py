"""From the answers a search collected to a small proof with minimal reasons.

Whatever a correct search asked is a proof already: had some small set been left open, the search could not have known
that it does not flip. But most of it is not needed. So the proof is built anew from nothing: wherever it has a gap, add
the largest zero known that closes it. No question is asked for that.

Reasons for people should be minimal. `polish` grows the zeros of a proof until the complement of each is a minimal
certificate; that costs a question for most features of each, and often makes some of the zeros superfluous.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING

from flipset.errors import ProtocolError
from flipset.protocol import (
    Done,
    Steps,
    advance,
    ask,
    checkpoint,
    everything,
    features_of,
    gather,
    is_checkpoint,
)
from flipset.search.guided.chain import grow_along
from flipset.sets.hitting import hitting_sets, tightest
from flipset.sets.known import Known
from flipset.sets.weights import as_given, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flipset.proof import Proof
    from flipset.protocol import Flips, Search
    from flipset.sets.weights import Weights

SIDE_BY_SIDE = 16
"""Questions a round from which rounds count for more than questions."""

SETTLING = 8
"""Steps that it takes to see whether an answer follows from others."""

BOUND_TICKS = 40
"""Stretches of work, of `STEPS_APART` steps each, that the bound of a stopped search may take."""

STOPPED_MOST = 1_000
"""Flip sets that the result of a stopped search lists."""

CHAIN_FROM = 32
"""Zeros that lack more features than this are grown along a chain before features are tried one by one."""


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

    return replace(claim, zeros=tuple((yield from _close_gaps(claim, largest, at_most))))


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


def _close_gaps(
    claim: Proof, zeros_for: Callable[[Flips], Search[list[Flips]]], at_most: int | None
) -> Search[list[Flips]]:
    """Collect zeros until no set up to the weight of the ones is left open.

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
    zeros: list[Flips] = []
    reasons: list[Flips] = []
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


def polish(proof: Proof, known: Known, batch: int, at_most: int | None = None) -> Search[Proof]:
    """Grow the zeros of a proof to maximal ones, leaving out those that are not needed any more.

    One walk finds the gaps again, and the zero chosen for a gap is grown. Where many questions are asked together, as
    many zeros as fit are grown side by side: the walk goes on with zeros that are still to be grown. Some are then
    grown in vain; a second walk, which asks nothing, leaves those out.
    """
    growing = _Growing(proof.d, known, batch)
    zeros = yield from _close_gaps(proof, growing.zeros_for, at_most)
    if batch < SIDE_BY_SIDE:
        return replace(proof, zeros=tuple(zeros))
    yield from growing.grow_all()
    return (yield from _choosing(proof, (yield from growing.grown()), at_most))


class _Growing:
    """Chooses zeros for gaps and grows them: one by one, or as many side by side as fit into a round."""

    def __init__(self, d: int, known: Known, batch: int) -> None:
        self.d = d
        self.known = known
        self.batch = batch
        self.maximal: dict[Flips, None] = {}  # in the order in which they were grown
        self.short: list[Flips] = []  # chosen, and still to be grown
        self.questions = 0  # in the next round, at most
        self.steps = Steps()

    def zeros_for(self, gap: Flips) -> Search[list[Flips]]:
        """Return the largest zero known for this gap, grown or to be grown, and all others that were grown for it."""
        zero = _largest_zero(gap, self.known)
        if zero in self.maximal:
            return [zero]
        if self.batch < SIDE_BY_SIDE:
            zero = yield from _grow(zero, self.d, self.known, self.batch, self.steps)
            self.maximal[zero] = None
            return [zero]
        questions = min(self.d - zero.bit_count(), CHAIN_FROM)
        if self.short and self.questions + questions > self.batch:
            grown = yield from self.grow_all()
            return grown if any(not gap & ~zero for zero in grown) else [*grown, *(yield from self.zeros_for(gap))]
        self.short.append(zero)
        self.questions += questions
        return [zero]

    def grow_all(self) -> Search[list[Flips]]:
        """Grow what was chosen, side by side."""
        flows = [_grow(zero, self.d, self.known, self.batch, Steps()) for zero in self.short]
        grown = yield from gather(flows)
        self.maximal.update(dict.fromkeys(grown))
        self.short, self.questions = [], 0
        return grown

    def grown(self) -> Search[Known]:
        """Return the zeros that were grown."""
        zeros = Known()
        for zero in self.maximal:
            zeros.learn(zero, False)
            if self.steps.due(SETTLING):
                yield from checkpoint()
        return zeros


def _grow(zero: Flips, d: int, known: Known, batch: int, steps: Steps) -> Search[Flips]:
    """Return a maximal zero that contains `zero`."""
    lacking = features_of(everything(d) & ~zero)
    if len(lacking) > CHAIN_FROM:
        zero, _ = yield from grow_along(
            zero,
            lacking,
            lambda tips, left: (1 + tips) / (len(lacking) - left + 16),
            lambda queries: _flips(queries, known, len(queries), steps),
        )
        lacking = features_of(everything(d) & ~zero)
    # A feature that tips the balance once does so for ever; only the others need another look.
    while lacking:
        tipping = yield from _flips([zero | 1 << i for i in lacking], known, batch, steps)
        lacking = [i for i, tips in zip(lacking, tipping, strict=True) if not tips]
        if not lacking:
            break
        if batch >= SIDE_BY_SIDE:
            return (yield from _climb(zero, lacking, known, batch, steps))
        together = zero
        for i in lacking:
            together |= 1 << i
        (tips,) = yield from _flips([together], known, batch, steps)
        if not tips:
            return together
        zero |= 1 << lacking.pop(0)
    return zero


def _climb(zero: Flips, lacking: list[int], known: Known, batch: int, steps: Steps) -> Search[Flips]:
    """Return a maximal zero, all steps of a chain being asked together: a round for each feature that tips it."""
    while lacking:
        chain = list(accumulate((1 << i for i in lacking), or_, initial=zero))[1:]
        tipping = yield from _flips(chain, known, batch, steps)
        far = tipping.index(True) if True in tipping else len(lacking)
        zero = chain[far - 1] if far else zero
        lacking = lacking[far + 1 :]
    return zero


def _flips(queries: Sequence[Flips], known: Known, batch: int, steps: Steps) -> Search[list[bool]]:
    """Say which sets flip, `batch` of them a round, asking only what does not follow from what is known."""
    if steps.due(SETTLING * len(queries)):
        yield from checkpoint()
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
