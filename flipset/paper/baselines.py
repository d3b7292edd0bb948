"""The paper's baselines: ball search, and the class of local searches it belongs to (sections 1.1 and 5.2).

A local search asks x* first, and then only queries that differ from an earlier one in exactly one feature. Every local
search needs Ω(d) queries even if one feature decides everything (section 5.2). The layer `local` checks that a search
belongs to this class.
"""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING, TypeVar

from flipset.errors import NotLocal
from flipset.protocol import Search, ask, by_size, does_flip, flips_of, relay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Answers, Flips

T = TypeVar("T")


def ball_search(d: int, *, batch: int = 1) -> Search[tuple[Flips, ...]]:
    """Find all smallest flip sets by asking every set of size 0, 1, 2, ... until some flip; empty if nothing flips.

    Queries: the sum of C(d, k) for k = 0 to Δ, in rounds of `batch`. If nothing flips, all 2^d sets are asked. One
    query could show that, but the baseline stays as the paper has it.
    """
    for k in range(d + 1):
        flipping: list[Flips] = []
        sphere = (flips_of(features) for features in combinations(range(d), k))
        while queries := tuple(islice(sphere, batch)):
            answers = yield from ask(queries)
            flipping += (query for query, answer in zip(queries, answers, strict=True) if answer >= 0)
        if flipping:
            return tuple(sorted(flipping, key=by_size))
    return ()


def walk_search(d: int) -> Search[Flips | None]:
    """Find one minimal flip set, by adding features one by one until it flips, and then removing them where possible.

    A local search with at most 2d + 1 queries; the deletion loop of [MGC+21]. The set is minimal, but need not be
    optimal.
    """
    path = 0
    flips = yield from does_flip(path)
    for feature in range(d):
        if flips:
            break
        path |= 1 << feature
        flips = yield from does_flip(path)
    if not flips:
        return None
    # Without the last feature the set did not flip, so that feature stays. Try to remove each of the others.
    for feature in range(path.bit_length() - 1):
        without = path & ~(1 << feature)
        if (yield from does_flip(without)):
            path = without
    return path


def local(search: Search[T]) -> Search[T]:
    """Let the queries of a local search through; raise `NotLocal` at the first query that such a search may not ask."""
    asked: set[Flips] = set()

    def checked(batch: Sequence[Flips]) -> Search[Answers]:
        for query in batch:
            if asked and not _has_neighbour(query, asked):
                raise NotLocal("a query differs from every earlier one in more than one feature, or in none")
            if not asked and query != 0:
                raise NotLocal("the first query of a local search is the instance itself, with nothing flipped")
            asked.add(query)
        return (yield from ask(batch))

    return relay(search, checked)


def _has_neighbour(query: Flips, asked: set[Flips]) -> bool:
    return any((query ^ earlier).bit_count() == 1 for earlier in asked)
