"""Sets that meet every reason, enumerated lightest branch first: the candidates for a flip set.

A set can flip only if it lies in no known zero, that is if it meets the complement of each: a hitting set. They are
found depth first over Python ints. Branch on the unmet reason with the fewest features left; a feature that was tried
is banned beside its siblings, so that no set comes twice; give up where disjoint unmet reasons alone weigh too much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import Steps, checkpoint
from flipset.sets.index import Index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from flipset.protocol import Flips, Search

    _Node: TypeAlias = tuple[Flips, Flips, int, list[Flips], Flips | None]


def hitting_sets(
    reasons: Sequence[Flips], ones: Sequence[Flips], weights: Sequence[int] | None, limit: int
) -> Iterator[Flips | None]:
    """Yield sets of weight at most `limit` that meet all `reasons` and contain none of `ones`, each once.

    Every set that meets all reasons contains one that is yielded, or contains one of `ones`, or weighs more. Between
    the sets it yields None where a checkpoint is due: long stretches may hold no set at all.
    """
    small = Index(one for one in ones if one.bit_count() <= limit)  # weights are at least 1: no other fits
    steps = Steps()
    # Sets on the way, each with what is banned beside it, the weight left, the reasons it does not meet, and the
    # features to branch on (None before it was looked at).
    path: list[_Node] = [(0, 0, limit, sorted(reasons, key=int.bit_count), None)]
    while path:
        chosen, banned, left, unmet, branch = path.pop()
        if branch is None:
            if left < 0 or small.inside(chosen):
                continue
            if not unmet:
                yield chosen
                continue
            branch = tightest(unmet, banned, left, weights)
        if steps.due(len(unmet) + 1):
            yield None
        if branch:
            bit = branch & -branch
            rest = left - (1 if weights is None else weights[bit.bit_length() - 1])
            path.append((chosen, banned | bit, left, unmet, branch ^ bit))
            path.append((chosen | bit, banned, rest, [reason for reason in unmet if not reason & bit], None))


def listing(sets: Iterator[Flips | None], most: int | None = None) -> Search[list[Flips]]:
    """Return the first sets of an enumeration, `most` of them or all, passing a checkpoint wherever one is due."""
    found: list[Flips] = []
    while most is None or len(found) < most:
        flips = next(sets, -1)
        if flips is None:
            yield from checkpoint()
        elif flips < 0:
            break
        else:
            found.append(flips)
    return found


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
