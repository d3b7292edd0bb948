"""Questions on functions with known answers: what the paper promises, what ball search takes, what the engine takes."""

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
"""Ball search is not run where it would ask more."""

CASES = ((1, 1, 1_000), (3, 1, 100), (8, 1, 1_000), (4, 2, 100), (8, 2, 100), (12, 2, 50), (3, 3, 100), (6, 3, 50))
"""Sizes of certificates, of flip sets, and numbers of features."""


def tell() -> Iterator[str]:
    """Run all searches on an AND of ORs and on a threshold, and tell what they asked, a line each."""
    yield "Questions until all smallest sets are known, answers yes or no alone"
    yield ""
    yield f"{'function':<24}{'d':>6}{'S':>4}{'Δ':>4}{'paper':>10}{'ball search':>13}{'flipset':>9}"
    for name, make in (("AND of ORs", _and_of_ors), ("at least Δ of them", _at_least)):
        for s, k, d in CASES:
            g = make(s, k)
            ball = sum(comb(d, i) for i in range(k + 1))
            asked = [_questions(search, g) for search in (find_optimal(d), guided_search(d))]
            told = f"{_questions(ball_search(d), g):,}" if ball <= MOST else f"({ball:,})"
            yield f"{name:<24}{d:>6,}{s:>4}{k:>4}{asked[0]:>10,}{told:>13}{asked[1]:>9,}"
    yield ""
    yield "d features; S the largest certificate, Δ the size of the smallest flip sets."


def _and_of_ors(s: int, k: int) -> Callable[[Flips], bool]:
    clauses = [((1 << s) - 1) << (i * s) for i in range(k)]
    return lambda flips: all(flips & clause for clause in clauses)


def _at_least(s: int, k: int) -> Callable[[Flips], bool]:
    relevant = (1 << (s + k - 1)) - 1
    return lambda flips: (flips & relevant).bit_count() >= k


def _questions(search: Search[tuple[Flips, ...]], g: Callable[[Flips], bool]) -> int:
    tally = Tally()

    def oracle(batch: Sequence[Flips]) -> list[float]:
        return [1.0 if g(query) else -1.0 for query in batch]

    run(count(remember(search), tally), oracle)
    return tally.queries
