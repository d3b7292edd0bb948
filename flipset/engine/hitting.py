"""Sets that meet every reason, enumerated lightest branch first: the candidates for a flip set.

A set can flip only if it lies in no known zero, that is if it meets the complement of each: a hitting set. They are
found depth first over Python ints. Branch on the unmet reason with the fewest features left; a feature that was tried
is banned beside its siblings, so that no set comes twice; give up where disjoint unmet reasons alone weigh too much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.index import Index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flipset.protocol import Flips


def hitting_sets(
    reasons: Sequence[Flips], ones: Sequence[Flips], weights: Sequence[int] | None, limit: int
) -> Iterator[Flips]:
    """Yield sets of weight at most `limit` that meet all `reasons` and contain none of `ones`, each once.

    Every set that meets all reasons contains one that is yielded, or contains one of `ones`, or weighs more.
    """
    small = Index(one for one in ones if one.bit_count() <= limit)  # weights are at least 1: no other fits
    return _extend(0, 0, limit, sorted(reasons, key=int.bit_count), small, weights)


def _extend(
    chosen: Flips, banned: Flips, left: int, unmet: list[Flips], ones: Index, weights: Sequence[int] | None
) -> Iterator[Flips]:
    if left < 0 or ones.inside(chosen):
        return
    if not unmet:
        yield chosen
        return
    branch = tightest(unmet, banned, left, weights)
    while branch:
        bit = branch & -branch
        branch ^= bit
        rest = left - (1 if weights is None else weights[bit.bit_length() - 1])
        still = [reason for reason in unmet if not reason & bit]
        yield from _extend(chosen | bit, banned, rest, still, ones, weights)
        banned |= bit


def tightest(unmet: list[Flips], banned: Flips, left: int, weights: Sequence[int] | None) -> Flips:
    """Return the unmet reason with the fewest allowed features; nothing where what is left cannot be enough."""
    best, fewest = 0, -1
    used = needed = 0
    for reason in unmet:
        allowed = reason & ~banned
        if not allowed:
            return 0
        if not allowed & used:
            used |= allowed
            needed += 1 if weights is None else _lightest(allowed, weights)
            if needed > left:
                return 0
        count = allowed.bit_count()
        if fewest < 0 or count < fewest:
            best, fewest = allowed, count
    return best


def _lightest(features: Flips, weights: Sequence[int]) -> int:
    least = -1
    while features:
        bit = features & -features
        features ^= bit
        weight = weights[bit.bit_length() - 1]
        if least < 0 or weight < least:
            least = weight
    return least
