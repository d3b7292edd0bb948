"""`flipset bench`: queries on functions with known answers, for the paper's search, ball search and guided search."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from flipset.drivers import run
from flipset.layers import Tally, count, remember
from flipset.paper import ball_search, find_optimal
from flipset.search.guided import guided_search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flipset.protocol import Flips, Search

MOST = 200_000
"""Ball search is not run where it would take more queries; its number is computed instead."""

CASES = ((1, 1, 1_000), (3, 1, 100), (8, 1, 1_000), (4, 2, 100), (8, 2, 100), (12, 2, 50), (3, 3, 100), (6, 3, 50))
"""The size of the certificates, the size of the flip sets, and the number of features."""


def tell() -> Iterator[str]:
    """Run all searches on an AND of ORs and on a threshold; yield a table of their queries."""
    yield "Queries until all smallest flip sets are known, if the answers are labels"
    yield ""
    yield f"{'function':<24}{'d':>6}{'S':>4}{'Δ':>4}{'paper':>10}{'ball search':>13}{'flipset':>9}"
    for name, make in (("AND of ORs", _and_of_ors), ("at least Δ features", _at_least)):
        for s, k, d in CASES:
            g = make(s, k)
            ball = sum(comb(d, i) for i in range(k + 1))
            paper, guided = (_queries(search, g) for search in (find_optimal(d), guided_search(d)))
            # The formula is exact: ball search asks every set up to that size.
            balls = f"{_queries(ball_search(d), g):,}" if ball <= MOST else f"({ball:,})"
            yield f"{name:<24}{d:>6,}{s:>4}{k:>4}{paper:>10,}{balls:>13}{guided:>9,}"
    yield ""
    yield "d features; S is the size of the largest certificate, Δ that of the smallest"
    yield "flip sets."


def _and_of_ors(s: int, k: int) -> Callable[[Flips], bool]:
    clauses = [((1 << s) - 1) << (i * s) for i in range(k)]
    return lambda flips: all(flips & clause for clause in clauses)


def _at_least(s: int, k: int) -> Callable[[Flips], bool]:
    relevant = (1 << (s + k - 1)) - 1
    return lambda flips: (flips & relevant).bit_count() >= k


def _queries(search: Search[tuple[Flips, ...]], g: Callable[[Flips], bool]) -> int:
    tally = Tally()

    def oracle(batch: Sequence[Flips]) -> list[float]:
        return [1.0 if g(query) else -1.0 for query in batch]

    # The count is outside: what is remembered is not asked, and not counted, for any of the searches.
    run(count(remember(search), tally), oracle)
    return tally.queries
