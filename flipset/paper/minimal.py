"""FindMinimal: the counterfactuals near one path of the implicit tree (the paper's section 3.1).

From the node that x* reaches, every node of the path offers a turn away from x*, and a turn costs one changed feature.
With at most k turns the search sees at most (h+1)^k ends of a tree of height h, instead of the d^k of ball search.

The lemma on its query complexity promises at most 2(h+1)^k queries of its own and as many calls of the tree. Its
induction does not go through for k = 1 if IsLeaf is asked before k is looked at, as line 2 is printed (3h + 1 calls
where 2h + 2 are promised); with k looked at first it holds, and that is the order below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import Search, does_flip

if TYPE_CHECKING:
    from flipset.paper.restriction import Restriction
    from flipset.paper.tree import Tree
    from flipset.protocol import Flips


def find_minimal(tree: Tree, rho: Restriction, k: int, auxiliary: Flips = 0) -> Search[list[Flips]]:
    """Find all minimal flip sets consistent with ρ that flip at most `k` features beyond those of ρ.

    Sets that are not minimal may be among them (their minimal subsets are too).

    Queries: 2(h+1)^k at most, h the height of the tree below ρ, and as many calls of the tree's operations.
    """
    found: list[Flips] = []
    # The recursion as a stack, so that a deep tree costs no recursion depth; a pair is popped kept side first.
    pending = [(rho, k, auxiliary)]
    while pending:
        rho, k, auxiliary = pending.pop()
        if (yield from does_flip(rho.completion)):  # line 1
            found.append(rho.completion)
        elif k > 0 and not (yield from tree.is_leaf(rho, auxiliary)):  # line 2
            i, auxiliary = yield from tree.query(rho, auxiliary)  # line 3a
            pending.append((rho.flip(i), k - 1, auxiliary))  # line 3b
            pending.append((rho.keep(i), k, auxiliary))
    return found
