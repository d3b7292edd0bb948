"""How many guesses the proved bound still allows, and what follows the last of them.

Some way to end the search within the bound must be left at every moment. The plain loop is one: it may take over at
once, while the guesses cost no more than the credit. Where few candidates are open, there is another: all open sets of
the next sizes are asked one by one, and the plain loop takes over after that, if none of them flips. Each of these ways
allows a number of guesses, and the one that allows most of them counts.

Invariant: the leeway falls by at most 1 with each query. It falls with a guess that fails. It does not fall when an
open set of the size in hand is asked, because that set was counted beforehand.
"""

from __future__ import annotations

from sys import maxsize
from typing import TYPE_CHECKING, NamedTuple

from flipset.search.guided.bound import credit, worst_case

if TYPE_CHECKING:
    from collections.abc import Callable

    from flipset.protocol import Search


class Leeway(NamedTuple):
    """So many more guesses are allowed. Then the open sets of `sizes` sizes are to be asked before the plain loop."""

    guesses: int
    sizes: int


class Spent(NamedTuple):
    """What the search has spent: all queries, the guesses among them, and features discovered along chains."""

    queries: int
    guesses: int
    discovered: int


def leeway(
    d: int, c: int, r: int, size: int, upper: int, spent: Spent, count_open: Callable[[int], Search[int | None]]
) -> Search[Leeway]:
    """Return the leeway of a search that has settled all sizes below `size`; the answer is known to be `upper` at most.

    `c` and `r` are what is certain of reasons (see `flipset.search.guided.bound`). `count_open` returns how many sets
    of a size are open, or None if they are too many to count. It may yield checkpoints.
    """

    def before_plain_loop(k: int) -> int:
        # Every feature of a minimal flip set is in some reason, so at least as many features are as the answer has.
        return credit(d, c, max(r, k), k, discovered=spent.discovered) - spent.guesses

    best = Leeway(before_plain_loop(size), 0)
    least, total = maxsize, 0
    # Invariant: if some set of fewer than `k` features flips, then asking all `total` open ones keeps to the bound,
    # after `least` guesses.
    for k in range(size, upper + 1):
        some = yield from count_open(k)
        if some is None:
            break
        total += some
        least = min(least, worst_case(d, c, max(r, k), k) - spent.queries - total)
        if least <= best.guesses:
            break  # it only falls from here
        # If none of them flips, all were guesses that failed, and the plain loop goes on with the next size.
        allowed = least if k == upper else min(least, before_plain_loop(k + 1) - total)
        if allowed > best.guesses:
            best = Leeway(allowed, k - size + 1)
    return best
