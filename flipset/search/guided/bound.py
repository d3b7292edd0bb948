"""The proved worst case, and the part of it that may be spent on guesses.

Let c be the size of the largest minimal reason, r the number of features in any minimal reason, and Δ the size of the
answer. The plain loop of `flipset.search.guided.plain` asks at most

    2 + Σ_{k≤Δ} c^k + r (L_d + 1) + m (2 + c (L_r + 1)),    m = C(c+Δ-1, Δ-1),  L_x = ⌈log2 x⌉

queries; docs/theory.md has the proof. The guided search may spend 2L + 1 probes on a chain where the plain loop spends
L. Its bound is the same expression with 2L + 2 in place of L + 1. The difference between the two bounds is the *credit*
for guesses: if guesses cost no more than that, the plain loop can still take over and stay within the larger bound.
"""

from __future__ import annotations

from math import comb


def worst_case(d: int, c: int, r: int, size: int, *, probes: int = 2) -> int:
    """Return the most queries that the guided search asks, or with `probes=1` the plain loop alone."""
    reasons = comb(c + size - 1, size - 1) if size else 1
    chain_d, chain_r = probes * (_log2(d) + 1), probes * (_log2(r) + 1)
    candidates: int = sum(c**k for k in range(1, size + 1))
    return 2 + candidates + r * chain_d + reasons * (2 + c * chain_r)


def credit(d: int, c: int, r: int, size: int, *, discovered: int = 0) -> int:
    """Return how many queries the bound leaves for guesses; it grows with `d`, `c`, `r` and `size`.

    A feature that was discovered along a chain took up to 2L + 1 probes, and has used up its share.
    """
    spare = worst_case(d, c, r, size) - worst_case(d, c, r, size, probes=1)
    return spare - discovered * (_log2(d) + 1)


def _log2(x: int) -> int:
    return (x - 1).bit_length() if x > 1 else 0
