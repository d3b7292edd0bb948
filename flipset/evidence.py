"""From the answers a search collected to a small proof with minimal reasons.

Whatever a correct search asked is a proof already: had some small set been left open, the search could not have known
that it does not flip. But most of it is not needed. So the proof is built anew from nothing: while it has a gap, add
the largest zero known that closes it. No question is asked for that.

Reasons for people should be minimal. `polish` grows the zeros of a proof until the complement of each is a minimal
certificate; that costs a question for most features of each, and often makes some of the zeros superfluous.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.engine.chain import next_tip
from flipset.errors import ProtocolError
from flipset.proof import Proof
from flipset.protocol import ask, everything, features_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.known import Known
    from flipset.protocol import Flips, Search

CHAIN_FROM = 32
"""Zeros that lack more features than this are grown along a chain before features are tried one by one."""


def build_proof(claim: Proof, known: Known) -> Proof:
    """Return a proof of the claim's ones from what is known; refuse a claim that the answers do not prove."""
    if not all(known.settle(one) for one in claim.ones):
        raise ProtocolError("the search returned a set that it never saw flip: its answer is not proved")
    proof = claim
    while (gap := proof.gap()) is not None:
        zero = max((z for z in known.zeros if not gap & ~z), key=int.bit_count, default=None)
        if zero is None:
            raise ProtocolError("the search returned without settling every smaller set: its answer is not proved")
        proof = Proof(claim.d, (*proof.zeros, zero), claim.ones, claim.weights)
    return proof


def partial_proof(claim: Proof, known: Known) -> Proof:
    """Return what an interrupted search proves: all it knows to be zero, and the lightest flip sets it saw."""
    seen = [Proof(claim.d, (), (one,), claim.weights) for one in known.ones]
    lightest = min((proof.upper() or 0 for proof in seen), default=0)
    ones = tuple(proof.ones[0] for proof in seen if (proof.upper() or 0) == lightest)
    return Proof(claim.d, tuple(known.zeros), ones, claim.weights)


def polish(proof: Proof, known: Known, batch: int) -> Search[Proof]:
    """Grow the zeros of a proof to maximal ones, leaving out those that are no longer needed."""
    polished = Proof(proof.d, (), proof.ones, proof.weights)
    while (gap := polished.gap()) is not None:
        zero = max((z for z in known.zeros if not gap & ~z), key=int.bit_count)
        grown = yield from _grow(zero, proof.d, known, batch)
        polished = Proof(proof.d, (*polished.zeros, grown), proof.ones, proof.weights)
    return polished


def _grow(zero: Flips, d: int, known: Known, batch: int) -> Search[Flips]:
    """Return a maximal zero that contains `zero`."""
    lacking = features_of(everything(d) & ~zero)
    if len(lacking) > CHAIN_FROM:
        zero = yield from _grow_along(lacking, zero, known)
        lacking = features_of(everything(d) & ~zero)
    # A feature that tips the balance once does so for ever; only the others need another look.
    while lacking:
        tipping = yield from _flips([zero | 1 << i for i in lacking], known, batch)
        lacking = [i for i, tips in zip(lacking, tipping, strict=True) if not tips]
        if not lacking:
            break
        together = zero
        for i in lacking:
            together |= 1 << i
        (tips,) = yield from _flips([together], known, batch)
        if not tips:
            return together
        zero |= 1 << lacking.pop(0)
    return zero


def _grow_along(order: Sequence[int], zero: Flips, known: Known) -> Search[Flips]:
    """Add the features of a chain to `zero`, leaving out those that tip the balance."""
    rest, tips = list(order), 1
    while rest:
        chain = [zero]
        for i in rest:
            chain.append(chain[-1] | 1 << i)
        rate = tips / (len(order) - len(rest) + 16)
        tip = yield from next_tip(
            len(rest), rate, chain.__getitem__, lambda queries: _flips(queries, known, len(queries))
        )
        if tip is None:
            return chain[-1]
        tips += 1
        zero, rest = chain[tip - 1], rest[tip:]
    return zero


def _flips(queries: Sequence[Flips], known: Known, batch: int) -> Search[list[bool]]:
    """Say which sets flip, `batch` of them a round, asking only what does not follow from what is known."""
    unknown = [query for query in queries if known.settle(query) is None]
    for start in range(0, len(unknown), batch):
        part = [query for query in unknown[start : start + batch] if known.settle(query) is None]
        if part:
            for query, margin in zip(part, (yield from ask(part)), strict=True):
                known.learn(query, margin >= 0)
    return [bool(known.settle(query)) for query in queries]
