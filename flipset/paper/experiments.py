"""The experiments behind the lower bounds: how often an algorithm with q queries succeeds.

The lemmas bound the success probability of *any* q-query algorithm over a uniformly drawn member of a family: at most
(q+1)/C(S,Δ), 2^q/d, and q/d for local search. Here an algorithm is a search that is stopped after q queries. If it has
not finished by then, it guesses. It knows the family, and names the first member that agrees with all answers so far.
The families are small enough to try every member, so the success probability is exact.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

from flipset.protocol import Done, advance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flipset.paper.families import Member
    from flipset.protocol import Flips, Search


def success_probability(
    search: Callable[[int], Search[tuple[Flips, ...]]], family: Iterable[Member], budget: int
) -> Fraction:
    """Return the share of the family's members whose optimal flip set is found or guessed within `budget` queries."""
    members = list(family)
    outcomes = [_finds(search(member.d), member, members, budget) for member in members]
    return Fraction(sum(outcomes), len(outcomes))


def bound_power(S: int, delta: int, q: int) -> Fraction:
    """(q+1) / C(S, Δ): any algorithm on `hidden_sets`."""
    return Fraction(q + 1, comb(S, delta))


def bound_log(d: int, q: int) -> Fraction:
    """2^q / d: any algorithm on `hidden_features`."""
    return Fraction(2**q, d)


def bound_local(d: int, q: int) -> Fraction:
    """Q / d: any local search on `hidden_features`."""
    return Fraction(q, d)


def _finds(search: Search[tuple[Flips, ...]], member: Member, family: Sequence[Member], budget: int) -> bool:
    asked: dict[Flips, bool] = {}
    step = advance(search)
    while not isinstance(step, Done):
        for query in step:
            if query not in asked:
                if len(asked) == budget:
                    search.close()
                    return _guess(asked, family) == member.optimal
                asked[query] = member.flips(query)
        step = advance(search, [1.0 if asked[query] else -1.0 for query in step])
    return step.result == (member.optimal,)


def _guess(asked: dict[Flips, bool], family: Sequence[Member]) -> Flips:
    """Return the optimal flip set of the first member that agrees with all answers."""
    return next(m.optimal for m in family if all(m.flips(query) == flips for query, flips in asked.items()))
