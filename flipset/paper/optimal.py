"""FindOptimal: all optimal flip sets (the paper's section 3.2).

Call FindMinimal with k = 1, 2, ... until it finds something. At the first such k, all sets that it finds have size k,
and none of that size is missing. The printed loop needs two corrections. It must run while nothing is found (it is
printed `C ≠ ∅`). And it would never end if no counterfactual exists, so one query about the fully flipped row decides
that first.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from flipset.paper.minimal import find_minimal
from flipset.paper.restriction import Restriction
from flipset.paper.tree import ImplicitTree
from flipset.protocol import Search, by_size, does_flip, everything

if TYPE_CHECKING:
    from flipset.protocol import Flips


def find_optimal(d: int, *, batch: int = 1) -> Search[tuple[Flips, ...]]:
    """Find all smallest sets of the `d` features that flip; empty if nothing flips.

    Every query depends on the last answer, so each is a round of its own, whatever `batch` allows. A level asks again
    what earlier levels asked; the layer `remember` avoids paying for that twice.

    Queries: S^O(Δ) log d, with S the sensitivity of the function and Δ the size of the sets.
    """
    if not (yield from does_flip(everything(d))):
        return ()
    tree = ImplicitTree(d)
    for k in count(0):  # from 0: the empty set may flip
        flipping = yield from find_minimal(tree, Restriction(), k)
        if flipping:
            return tuple(sorted(flipping, key=by_size))
    raise AssertionError("unreachable: the fully flipped row flips")
