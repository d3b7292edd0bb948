"""FindOptimal: all optimal flip sets (the paper's section 3.2).

Call FindMinimal with k = 1, 2, ... until it finds something: at the first k that does, everything found has size k and
nothing is missing. Two corrections to the printed loop: it must run *while* nothing is found (it is printed `C ≠ ∅`),
and it would never end where no counterfactual exists, so one query of the fully flipped row decides that first.
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
    """Find all smallest sets of the `d` features that flip; none, when nothing does.

    Every question depends on the last answer, so each is a round of its own whatever `batch` allows. Levels ask again
    what earlier levels asked: stack `remember` on top to pay for it once.

    Queries: S^O(Δ) log d, S the sensitivity of the function and Δ the size found.
    """
    if not (yield from does_flip(everything(d))):
        return ()
    tree = ImplicitTree(d)
    for k in count(0):  # from 0: an empty set that flips is found as such
        found = yield from find_minimal(tree, Restriction(), k)
        if found:
            return tuple(sorted(found, key=by_size))
    raise AssertionError("unreachable: the fully flipped row flips")
