"""The proved worst case, and how much of it may be spent on guesses.

With c the size of the largest minimal certificate, r the number of features in any, and Δ the size of the answer, the
plain loop of `flipset.search.guided.plain` asks at most

    2 + Σ_{k≤Δ} c^k + r (L_d + 1) + m (2 + c (L_r + 1)),    m = C(c+Δ-1, Δ-1),  L_x = ⌈log2 x⌉

questions; docs/theory.md has the argument. Searches along a chain that may spend 2L + 1 probes instead of L, as guided
ones do, are bounded by the same with 2L + 2 for L + 1. The difference between the two is credit: what guided questions
may cost beyond what the plain loop, should it have to take over, needs for itself.
"""

from __future__ import annotations

from math import comb


def worst_case(d: int, c: int, r: int, size: int, *, probes: int = 2) -> int:
    """Return the most questions the search asks; `probes=1` for the plain loop alone."""
    certificates = comb(c + size - 1, size - 1) if size else 1
    chain_d, chain_r = probes * (_log2(d) + 1), probes * (_log2(r) + 1)
    candidates: int = sum(c**k for k in range(1, size + 1))
    return 2 + candidates + r * chain_d + certificates * (2 + c * chain_r)


def credit(d: int, c: int, r: int, size: int, *, discovered: int = 0) -> int:
    """Return what the bound leaves to guesses; it grows with everything it depends on.

    Features that were discovered along a chain, by up to 2L + 1 probes each, have used their share of it up.
    """
    spare = worst_case(d, c, r, size) - worst_case(d, c, r, size, probes=1)
    return spare - discovered * (_log2(d) + 1)


def _log2(x: int) -> int:
    return (x - 1).bit_length() if x > 1 else 0
