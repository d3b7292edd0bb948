"""From the answers a search collected to a small proof with minimal reasons.

Whatever a correct search asked is a proof already: had some small set been left open, the search could not have known
that it does not flip. But most of it is not needed. So the proof is built anew from nothing: while it has a gap, take
the largest zero known that closes it, grow that zero until its complement is a minimal certificate, and add it. Growing
may cost a few questions; most are settled by what is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.errors import ProtocolError
from flipset.layers import guard, infer
from flipset.paper import find_certificate
from flipset.proof import Proof
from flipset.protocol import everything

if TYPE_CHECKING:
    from flipset.known import Known
    from flipset.protocol import Flips, Search


def with_proof(search: Search[tuple[Flips, ...]], d: int, known: Known) -> Search[Proof]:
    """Run `search`, which finds all optimal flip sets of `d` features, and prove what it found.

    `known` collects every answer; when the search is interrupted it still holds what `partial_proof` needs.
    """
    ones = yield from guard(search, known)
    if not all(known.settle(one) for one in ones):
        raise ProtocolError("the search returned a set that it never saw flip: its answer is not proved")
    proof = Proof(d, (), ones)
    while (gap := proof.gap()) is not None:
        zero = max((z for z in known.zeros if not gap & ~z), key=int.bit_count, default=None)
        if zero is None:
            raise ProtocolError("the search returned without settling every smaller set: its answer is not proved")
        # The growth learns through `infer` and is watched by `guard`; both read and write the same facts.
        certificate = yield from infer(find_certificate(zero, everything(d) & ~zero), known)
        proof = Proof(d, (*proof.zeros, everything(d) & ~certificate), ones)
    return proof


def partial_proof(d: int, known: Known) -> Proof:
    """Return what an interrupted search proves: all it knows to be zero, and the smallest flip sets it saw."""
    size = min((one.bit_count() for one in known.ones), default=0)
    return Proof(d, tuple(known.zeros), tuple(one for one in known.ones if one.bit_count() == size))
