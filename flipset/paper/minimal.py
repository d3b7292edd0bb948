"""FindMinimal: the counterfactuals near one path of the implicit tree (the paper's section 3.1).

At every node of the path that x* takes through the tree, the search may turn away from x*. A turn changes one feature.
With at most k turns the search reaches at most (h+1)^k leaves of a tree of height h; ball search asks about d^k sets.

The lemma on the query complexity promises at most 2(h+1)^k queries of its own and as many calls of the tree. Its
induction fails for k = 1 if IsLeaf is called before k is tested, as line 2 is printed (3h + 1 calls instead of the
promised 2h + 2). If k is tested first, it holds. The code below tests k first.
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

    The result may contain sets that are not minimal; their minimal subsets are then in it too.

    Queries: at most 2(h+1)^k, with h the height of the tree below ρ, and as many calls of the tree's operations.
    """
    flipping: list[Flips] = []
    # A stack instead of recursion, so that deep trees do not exceed the recursion limit. The kept side is popped first.
    pending = [(rho, k, auxiliary)]
    while pending:
        rho, k, auxiliary = pending.pop()
        if (yield from does_flip(rho.completion)):  # line 1
            flipping.append(rho.completion)
        elif k > 0 and not (yield from tree.is_leaf(rho, auxiliary)):  # line 2
            i, auxiliary = yield from tree.query(rho, auxiliary)  # line 3a
            pending.append((rho.flip(i), k - 1, auxiliary))  # line 3b
            pending.append((rho.keep(i), k, auxiliary))
    return flipping
