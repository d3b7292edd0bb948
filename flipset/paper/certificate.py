"""A minimal certificate by binary search (the paper's Cert, section 4.1).

Walk up a chain from a set that does not flip towards one that does. There is one feature where the balance tips: find
it by binary search, leave it out, and go on behind it. What was left out in the end is a certificate: with these
features held, everything else may flip. It is minimal, since each of them tipped the balance of what stands before it.

The paper cites a randomised procedure with S(f)^O(1) log d queries [BKLT22b, Theorem 5]. This one is deterministic and
asks O(p log d) for a certificate of size p, which is optimal [GM22]; QuickXplain [Jun04] rests on the same idea.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import Search, does_flip, everything

if TYPE_CHECKING:
    from flipset.protocol import Flips


def find_certificate(start: Flips, free: Flips) -> Search[Flips]:
    """Find a minimal set P ⊆ `free` such that `start` and all of `free` but P does not flip.

    That `start` does not flip is assumed, not asked.

    Queries: at most p(⌈log2 d⌉ + 1) + 1, one a round, for a certificate of size p among features numbered below d.

    Examples
    --------
    >>> from flipset import run
    >>> at_least_two = lambda batch: [query.bit_count() >= 2 for query in batch]
    >>> bin(run(find_certificate(0, 0b1111), at_least_two))
    '0b1110'
    """
    # Invariant: zero does not flip; zero and any one feature of certificate does. What of `free` is in neither is rest.
    zero, certificate, rest = start, 0, free
    while rest and (yield from does_flip(zero | rest)):
        tipping = yield from _tipping_feature(zero, rest)
        certificate |= 1 << tipping
        zero |= rest & everything(tipping)
        rest = rest >> tipping + 1 << tipping + 1
    return certificate


def _tipping_feature(zero: Flips, rest: Flips) -> Search[int]:
    """Find the feature u with: zero and rest below u does not flip, zero and rest up to u does; both ends known."""
    # Invariant: zero and rest below low does not flip; zero and rest below high does.
    low, high = (rest & -rest).bit_length() - 1, rest.bit_length()
    while high - low > 1:
        middle = (low + high) // 2
        if (yield from does_flip(zero | rest & everything(middle))):
            high = middle
        else:
            low = middle
    return low
