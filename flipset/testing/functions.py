"""Monotone functions to test a search with, and the truth about them.

Each `draw_…` takes a random generator and a number of features and returns a monotone predicate on bitmasks; `smallest`
looks at all sets and returns the right answer. `labels` and `margins` make an oracle of a predicate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from flipset.protocol import Flips, everything, flips_of

if TYPE_CHECKING:
    from random import Random

Predicate: TypeAlias = Callable[[Flips], bool]
"""A set function, asked one set at a time."""


def draw_flip_sets(rng: Random, d: int) -> Predicate:
    """Flip when one of a few random sets is contained: a monotone DNF, from constant false to constant true."""
    terms = [_draw_set(rng, d, rng.randint(0 if rng.random() < 0.02 else 1, d)) for _ in range(rng.randint(0, 8))]
    return lambda query: any(not term & ~query for term in terms)


def draw_certificates(rng: Random, d: int) -> Predicate:
    """Flip when every one of a few random sets is met: a monotone CNF."""
    clauses = [_draw_set(rng, d, rng.randint(1, d)) for _ in range(rng.randint(1, 8))]
    return lambda query: all(clause & query for clause in clauses)


def draw_threshold(rng: Random, d: int) -> Predicate:
    """Flip when the weights reach a threshold; some features weigh nothing, and ties are common."""
    weights = [rng.choice((0, 1, 1, 2, 3, 5, 8)) for _ in range(d)]
    threshold = rng.randint(1, sum(weights) + 1)
    return lambda query: sum(w for i, w in enumerate(weights) if query >> i & 1) >= threshold


def draw_decision_list(rng: Random, d: int) -> Predicate:
    """Go down a list of rules: a flipped feature decides for, one that stays decides against, or the list ends."""
    rules = [(i, rng.random() < 0.5) for i in rng.sample(range(d), rng.randint(1, d))]
    default = rng.random() < 0.5

    def decide(query: Flips) -> bool:
        for feature, wants in rules:
            # "if flipped: yes" and "if not flipped: no" both rise with the feature, so the list is monotone.
            if bool(query >> feature & 1) == wants:
                return wants
        return default

    return decide


DRAWS: Sequence[Callable[[Random, int], Predicate]] = (
    draw_flip_sets,
    draw_certificates,
    draw_threshold,
    draw_decision_list,
)


def asking(g: Predicate) -> Callable[[Sequence[Flips]], list[bool]]:
    """Return the oracle that answers by `g`."""
    return lambda batch: [g(query) for query in batch]


def labels(g: Predicate) -> Callable[[Sequence[Flips]], list[float]]:
    """Return the oracle that answers +1 where `g` flips and -1 elsewhere."""
    return lambda batch: [1.0 if g(query) else -1.0 for query in batch]


def margins(g: Predicate, d: int, rng: Random, *, scale: float = 1.0) -> Callable[[Sequence[Flips]], list[float]]:
    """Return an oracle whose margins have the signs of `g` and rise with every feature, as those of a model do.

    The smallest margin that flips is exactly 0.
    """
    weights = [rng.random() for _ in range(d)]

    def weigh(query: Flips) -> float:
        return sum(w for i, w in enumerate(weights) if query >> i & 1)

    heaviest = weigh(everything(d))
    lightest = min(map(weigh, smallest(g, d)), default=0.0)

    def margin(query: Flips) -> float:
        return scale * (max(0.0, weigh(query) - lightest) if g(query) else weigh(query) - heaviest - 0.5)

    return lambda batch: [margin(query) for query in batch]


def asking_sets(g: Predicate) -> Callable[[Sequence[frozenset[int]]], list[bool]]:
    """Return the set function that `find_flipsets` takes."""
    return lambda batch: [g(flips_of(features)) for features in batch]


def smallest(g: Predicate, d: int) -> tuple[Flips, ...]:
    """Return all smallest sets that flip, by looking at every set; none, when nothing does."""
    for k in range(d + 1):
        found = tuple(query for query in map(flips_of, combinations(range(d), k)) if g(query))
        if found:
            return found
    return ()


def is_minimal_certificate(g: Predicate, certificate: Flips, d: int) -> bool:
    """Say whether holding `certificate` keeps the decision, and holding any less does not."""
    rest = everything(d) & ~certificate
    return not g(rest) and all(g(rest | 1 << i) for i in range(d) if certificate >> i & 1)


def _draw_set(rng: Random, d: int, size: int) -> Flips:
    return flips_of(rng.sample(range(d), size))
