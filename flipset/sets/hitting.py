"""Hitting sets: the sets that meet every reason, and therefore the candidates for a flip set.

The complement of a zero is a reason. A set lies in no known zero exactly when it shares a feature with every reason,
that is, when it is a hitting set of the reasons.

The enumeration is a depth-first search. At each node it branches over the allowed features of one reason that the set
does not meet yet, and takes the reason with the fewest of them. A feature that was tried at a node is banned in the
branches after it, so no set is yielded twice. A node is abandoned when disjoint unmet reasons need more weight than is
left.
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

    Every set of that weight that meets all reasons contains a set that is yielded, or contains one of `ones`. Where a
    checkpoint is due, None is yielded: the enumeration may run for a long time between two sets.
    """
    # A feature weighs at least 1, so a larger one cannot lie inside a set of weight `limit`.
    small = Index(one for one in ones if one.bit_count() <= limit)
    steps = Steps()
    # A node: the set so far, the features banned for it, the weight left, the reasons that it does not meet, and the
    # features still to branch on (None before the node is opened).
    # Invariant: every set that is still to be yielded contains the set of exactly one node of `path`, and nothing that
    # is banned there.
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
            # First the sets with this feature, which are on top of the stack; later those without it.
            path.append((chosen, banned | bit, left, unmet, branch ^ bit))
            path.append((chosen | bit, banned, rest, [reason for reason in unmet if not reason & bit], None))


def listing(sets: Iterator[Flips | None], most: int | None = None) -> Search[list[Flips]]:
    """Return the first `most` sets of an enumeration, or all of them; yield a checkpoint wherever one is due."""
    collected: list[Flips] = []
    while most is None or len(collected) < most:
        flips = next(sets, -1)
        if flips is None:
            yield from checkpoint()
        elif flips < 0:
            break
        else:
            collected.append(flips)
    return collected


def tightest(unmet: list[Flips], banned: Flips, left: int, weights: Sequence[int] | None) -> Flips:
    """Return the allowed features of the unmet reason that has the fewest; 0 if the weight left cannot be enough."""
    best, fewest = 0, -1
    # `needed` is a lower bound on the weight that meets all reasons: those that share no feature need one each. `used`
    # holds the features of the reasons counted so far.
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
