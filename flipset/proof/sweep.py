"""The check that every set of one size lies in a zero, by going through all sets of that size at once.

The search for a gap (`flipset.proof.gaps`) compares all reasons in every step. If there is a reason for nearly every
set, as for "at least 5 of 30 features", that takes far too long. Here all sets of `k` of `d` features have a bit in one
whole number, in the order of their greatest features. For each feature there is a number with the bits of the sets that
contain it. The sets that do not lie in a zero are those that contain a feature of its reason: an OR over that reason. A
zero of exactly `k` features covers one set, whose place is computed.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.boundary.step_budget import StepBudget

MOST_SWEPT = 2_000_000
"""The most sets that are gone through at once; each takes d bits."""

SEARCH_UP_TO = 200
"""With no more reasons than this, the search for a gap is fast enough."""


def is_sweep_faster(d: int, k: int, reasons: Sequence[int]) -> bool:
    """Say whether to go through all sets of `k` features, rather than to search for a gap."""
    return 0 < k <= d <= 1_000 and len(reasons) > SEARCH_UP_TO and comb(d, k) <= MOST_SWEPT


def any_uncovered(d: int, k: int, reasons: Sequence[int], budget: StepBudget) -> bool:
    """Say whether some set of at most `k` features meets all reasons."""
    # Every smaller set lies in one of exactly k features, and in every zero that contains that one.
    holders = _holders(d, k, budget)
    words = 1 + comb(d, k) // 4096
    open_ = (1 << comb(d, k)) - 1
    exact: list[int] = []
    for reason in reasons:
        if d - reason.bit_count() == k:
            exact.append(reason)
            continue
        budget.spend(1 + reason.bit_count() * words)
        meet = 0
        for i in range(d):
            if reason >> i & 1:
                meet |= holders[i]
        open_ &= meet
    marks = bytearray(open_.to_bytes(comb(d, k) // 8 + 1, "little"))
    for reason in exact:
        budget.spend(1 + d // 16)
        place = j = 0
        for i in range(d):
            if not reason >> i & 1:
                j += 1
                place += comb(i, j)
        marks[place >> 3] &= ~(1 << (place & 7))
    return any(marks)


def _holders(d: int, k: int, budget: StepBudget) -> list[int]:
    """Return for each feature the sets of `k` of `d` features that contain it, as bits."""
    # rows[j] is the same for sets of j of the features so far. With one more feature, first come the sets without it,
    # then those with it.
    rows: list[list[int]] = [[] for _ in range(k + 1)]
    for n in range(d):
        budget.spend(1 + k * (1 + n * comb(n + 1, min(k, n + 1)) // 4096))
        for j in range(k, 0, -1):
            shift = comb(n, j)
            shifted = [a | b << shift for a, b in zip(rows[j], rows[j - 1], strict=True)]
            rows[j] = [*shifted, ((1 << comb(n, j - 1)) - 1) << shift]
        rows[0].append(0)
    return rows[k]
