"""Rules as arrows between nodes: the fewest from which all follow, and the chains in which they are written.

A rule stands for one arrow or several: `a <= b` for one, `a == b` for two. A rule follows from others if each of its
arrows is a path of theirs. A path may lead only through nodes that the arrow allows: where a column is missing, rules
with it say nothing, so nothing follows from them.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Arrow: TypeAlias = tuple[int, int]


def fewest(rules: Sequence[Sequence[Arrow]], given: Iterable[Arrow], through: Callable[[Arrow], int]) -> list[int]:
    """Return the positions of rules from which all follow, together with what is given; none of them can be left out.

    Rules further back are left out first. `through` returns the nodes that paths for an arrow may lead through, as a
    bitmask.

    Examples
    --------
    >>> fewest([[(0, 1)], [(0, 2)], [(1, 2)]], (), lambda arrow: 0b111)
    [0, 2]
    """
    arrows = Counter(given)
    for rule in rules:
        arrows.update(rule)
    targets: dict[int, int] = {}
    for start, end in arrows:
        targets[start] = targets.get(start, 0) | 1 << end
    kept = []
    for i in reversed(range(len(rules))):
        for arrow in rules[i]:
            _remove(arrow, arrows, targets)
        if not all(_leads(targets, start, end, through((start, end))) for start, end in rules[i]):
            kept.append(i)
            for start, end in rules[i]:
                arrows[start, end] += 1
                targets[start] |= 1 << end
    return kept[::-1]


def _remove(arrow: Arrow, arrows: Counter[Arrow], targets: dict[int, int]) -> None:
    """Remove one of the arrows between two nodes; there may be another of a rule that says the same."""
    arrows[arrow] -= 1
    if not arrows[arrow]:
        targets[arrow[0]] &= ~(1 << arrow[1])


def _leads(targets: dict[int, int], start: int, end: int, allowed: int) -> bool:
    """Say whether a path leads from one node to another."""
    reached, new = 1 << start, 1 << start
    allowed |= 1 << end
    while new:
        node = (new & -new).bit_length() - 1
        new &= new - 1
        found = targets.get(node, 0) & allowed & ~reached
        if found >> end & 1:
            return True
        reached |= found
        new |= found
    return False


def chains(arrows: Sequence[Arrow], may_join: Callable[[Sequence[int]], bool]) -> list[list[int]]:
    """Return arrows as chains of nodes, each arrow in one of them: the longest first taken, then sorted.

    `may_join` says whether nodes may stand in one chain.

    Examples
    --------
    >>> chains([(0, 1), (1, 2), (1, 3), (3, 4)], lambda nodes: True)
    [[0, 1, 3, 4], [1, 2]]
    """
    left = sorted(arrows)
    found = []
    while left:
        longest: dict[int, list[int]] = {}
        for start, _ in left:
            _longest_from(start, left, longest)
        # Of several that are equally long, the first.
        chain = max(longest.values(), key=len)
        stop = 2
        while stop < len(chain) and may_join(chain[: stop + 1]):
            stop += 1
        chain = chain[:stop]
        for arrow in pairwise(chain):
            left.remove(arrow)
        found.append(chain)
    return sorted(found)


def _longest_from(node: int, arrows: Sequence[Arrow], longest: dict[int, list[int]]) -> list[int]:
    """Return the longest chain from a node."""
    if node not in longest:
        longest[node] = [node]  # as long as it is being sought, so that a circle ends
        rest = [_longest_from(end, arrows, longest) for start, end in arrows if start == node]
        longest[node] = [node, *max((chain for chain in rest if node not in chain), key=len, default=[])]
    return longest[node]
