"""A minimal certificate by binary search (the paper's Cert, section 4.1).

Add features one by one to a set that does not flip, until it does. The feature at which it flips is found by binary
search. Leave it out, and continue behind it. The features left out in the end are a certificate: while they are held
fixed, flipping everything else does not change the decision. It is minimal, because each of them makes the set of
features before it flip.

The paper cites a randomised procedure with S(f)^O(1) log d queries [BKLT22b, Theorem 5]. This one is deterministic and
asks O(p log d) for a certificate of size p, which is optimal [GM22]; QuickXplain [Jun04] rests on the same idea.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import Search, does_flip, everything

if TYPE_CHECKING:
    from flipset.protocol import Flips


def find_certificate(start: Flips, free: Flips) -> Search[Flips]:
    """Find a minimal set P ⊆ `free` such that `start` together with `free` without P does not flip.

    That `start` does not flip is assumed, not asked.

    Queries: at most p(⌈log2 d⌉ + 1) + 1, one a round, for a certificate of size p among features numbered below d.

    Examples
    --------
    >>> from flipset import run
    >>> at_least_two = lambda batch: [query.bit_count() >= 2 for query in batch]
    >>> bin(run(find_certificate(0, 0b1111), at_least_two))
    '0b1110'
    """
    # Invariant: zero does not flip; zero with any one feature of certificate does. rest is the undecided part of free.
    zero, certificate, rest = start, 0, free
    while rest and (yield from does_flip(zero | rest)):
        critical = yield from _critical_feature(zero, rest)
        certificate |= 1 << critical
        # By the choice of the critical feature, this does not flip. Behind it, the search goes on with fewer features.
        zero |= rest & everything(critical)
        rest = rest >> critical + 1 << critical + 1
    return certificate


def _critical_feature(zero: Flips, rest: Flips) -> Search[int]:
    """Find the feature u such that zero with rest below u does not flip, and zero with rest up to u does.

    That zero does not flip and zero with all of rest does is known.
    """
    # Invariant: zero with rest below low does not flip; zero with rest below high does.
    low, high = (rest & -rest).bit_length() - 1, rest.bit_length()
    while high - low > 1:
        middle = (low + high) // 2
        if (yield from does_flip(zero | rest & everything(middle))):
            high = middle
        else:
            low = middle
    return low
