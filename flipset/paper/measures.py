"""Sensitivity and certificate complexity (the paper's sections 1.4 and 4.1), exactly, for small d.

Functions are predicates on {0,1}^d, an input being the bitmask of its ones. S_f(x) counts the features whose change
flips f at x; C(f, x) is the size of the smallest set of features that fixes f's value at x; S(f) and C(f) are their
maxima. For monotone f they are equal [Nis89]. Every function here looks at all 2^d inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flipset.protocol import Flips


def sensitivity_at(f: Callable[[Flips], bool], x: Flips, d: int) -> int:
    """S_f(x): how many single features change f's value at x."""
    return sum(f(x ^ 1 << i) != f(x) for i in range(d))


def sensitivity(f: Callable[[Flips], bool], d: int) -> int:
    """S(f), the largest S_f(x)."""
    table = _truth_table(f, d)
    return max(sensitivity_at(table.__getitem__, x, d) for x in range(1 << d))


def certificate_complexity_at(f: Callable[[Flips], bool], x: Flips, d: int) -> int:
    """C(f, x) of a monotone f: the fewest features whose values at x force f's value, whatever the others are."""
    ones_side, zeros_side = _smallest_certificates(_truth_table(f, d), d)
    return ones_side[x] if f(x) else zeros_side[x]


def certificate_complexity(f: Callable[[Flips], bool], d: int) -> int:
    """C(f) of a monotone f, the largest C(f, x)."""
    table = _truth_table(f, d)
    ones_side, zeros_side = _smallest_certificates(table, d)
    return max(ones_side[x] if table[x] else zeros_side[x] for x in range(1 << d))


def _smallest_certificates(table: list[bool], d: int) -> tuple[list[int], list[int]]:
    """For all x: the least |W|, W ⊆ x, with f(W) true; and the least |W|, W disjoint from x, with f(all but W) false.

    For a monotone f these are the sizes of the smallest certificates of true and of false at x.
    """
    # Dynamic programming over the cube: the entry of x is the least of its own value and its neighbours' entries.
    size, unknown = 1 << d, d + 1
    ones_side = [x.bit_count() if table[x] else unknown for x in range(size)]
    for x in range(size):
        ones_side[x] = min([ones_side[x], *(ones_side[x ^ 1 << i] for i in range(d) if x >> i & 1)])
    zeros_side = [unknown if table[x] else d - x.bit_count() for x in range(size)]
    for x in reversed(range(size)):
        zeros_side[x] = min([zeros_side[x], *(zeros_side[x | 1 << i] for i in range(d) if not x >> i & 1)])
    return ones_side, zeros_side


def _truth_table(f: Callable[[Flips], bool], d: int) -> list[bool]:
    if not 1 <= d <= 20:
        raise InputError(f"d must lie between 1 and 20, got {d}: these measures look at all 2^d inputs")
    return [f(x) for x in range(1 << d)]
