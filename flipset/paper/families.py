"""Functions with known answers: the families behind the lower bounds (the paper's section 5).

A family is a set of functions that an algorithm cannot tell apart with few queries. The only optimal flip set of each
member is known, so the exact success probability of a deterministic algorithm is a count over the members.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from flipset.errors import InputError
from flipset.protocol import flips_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flipset.protocol import Flips


@dataclass(frozen=True, slots=True)
class Member:
    """A monotone function over `d` features whose only optimal flip set is `optimal`."""

    d: int
    optimal: Flips
    flips: Callable[[Flips], bool]


def hidden_set(d: int, S: int, optimal: Flips) -> Member:
    """Flip for more than Δ of the first S features, or for exactly the Δ features of `optimal` among them.

    The function behind S^Ω(Δ): its sensitivity is at most S, and a wrong guess of size Δ rules out only itself.
    """
    if optimal >> S or not 1 <= S <= d:
        raise InputError(f"the hidden set must lie in the first S features and 1 <= S <= d; got S={S}, d={d}")
    relevant, delta = (1 << S) - 1, optimal.bit_count()
    return Member(d, optimal, lambda x: (x & relevant).bit_count() > delta or x & relevant == optimal)


def hidden_sets(d: int, S: int, delta: int) -> Iterator[Member]:
    """All C(S, Δ) members of the family behind S^Ω(Δ)."""
    return (hidden_set(d, S, flips_of(z)) for z in combinations(range(S), delta))


def hidden_feature(d: int, i: int) -> Member:
    """Flip when feature i does: sensitivity 1, size 1; the function behind Ω(log d), and Ω(d) for local search."""
    if not 0 <= i < d:
        raise InputError(f"the hidden feature must lie below d={d}, got {i}")
    return Member(d, 1 << i, lambda x: bool(x >> i & 1))


def hidden_features(d: int) -> Iterator[Member]:
    """All d members of the family behind Ω(log d) and Ω(d)."""
    return (hidden_feature(d, i) for i in range(d))
