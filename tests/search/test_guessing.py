"""Guessing grows the same zero as adding feature by feature, and takes few queries where margins add up."""

from collections.abc import Sequence
from math import inf
from random import Random

import pytest

from flipset import run
from flipset.protocol import Flips, everything, features_of
from flipset.search.guessing import Gains, gains_of, grow_by_guesses
from flipset.sets.known import Known
from flipset.testing import DRAWS, Predicate


def by_the_definition(g: Predicate, order: Sequence[int]) -> Flips:
    zero = 0
    for i in order:
        if not g(zero | 1 << i):
            zero |= 1 << i
    return zero


class Asked:
    """An oracle that refuses queries whose answers are known, and batches that are too large."""

    def __init__(self, margins: Sequence[float], known: Known, batch: int) -> None:
        self.margins, self.known, self.batch = margins, known, batch
        self.queries = self.rounds = 0

    def __call__(self, queries: Sequence[Flips]) -> list[float]:
        if queries:
            assert len(queries) <= self.batch
            assert len(set(queries)) == len(queries)
            assert all(self.known.settle(query) is None for query in queries)
        self.queries, self.rounds = self.queries + len(queries), self.rounds + bool(queries)
        return [self.margins[query] for query in queries]


@pytest.mark.parametrize("batch", [1, 3, 32])
def test_the_zero_is_the_one_of_the_definition(batch: int) -> None:
    for seed in range(300):
        rng = Random(f"guessing/{seed}")
        d = rng.randint(1, 8)
        g = DRAWS[seed % len(DRAWS)](rng, d)
        if g(0):
            continue
        sizes = [rng.choice([0.0, 0.5, rng.random(), 10 * rng.random(), inf]) for _ in range(1 << d)]
        margins = [size if g(query) else -size or -1.0 for query, size in enumerate(sizes)]
        known = Known()
        for query in (0, *rng.sample(range(1 << d), min(4, 1 << d))):
            known.learn(query, g(query))
        order = rng.sample(range(d), d)
        alone = [margins[1 << i] for i in range(d)]
        oracle = Asked(margins, known, batch)
        assert run(grow_by_guesses(order, gains_of(alone), known, batch), oracle) == by_the_definition(g, order), seed


def additive(weights: Sequence[float], threshold: float) -> list[float]:
    d = len(weights)
    return [sum(weights[i] for i in features_of(query)) - threshold for query in range(1 << d)]


def test_where_margins_add_up_only_the_result_is_confirmed() -> None:
    for seed in range(40):
        rng = Random(f"additive/{seed}")
        d = rng.randint(4, 12)
        weights = [0.0, *(rng.random() for _ in range(d - 1))]
        margins = additive(weights, sum(weights) * rng.uniform(0.3, 0.9))
        for batch, rounds in ((1, None), (32, 1)):
            known = Known()
            known.learn(0, flips=False)
            oracle = Asked(margins, known, batch)
            zero = run(grow_by_guesses(range(d), gains_of([margins[1 << i] for i in range(d)]), known, batch), oracle)
            assert oracle.queries <= 1 + d - zero.bit_count()
            assert rounds is None or oracle.rounds <= rounds


@pytest.mark.parametrize("size", [0.5, 1e-9])
def test_margins_that_say_nothing_cost_few_queries(size: float) -> None:
    d, apart = 60, 1 << 40 | 1 << 50  # both flip
    known = Known()
    known.learn(0, flips=False)
    queries = 0

    def oracle(batch: Sequence[Flips]) -> list[float]:
        nonlocal queries
        queries += len(batch)
        return [size if query & apart == apart else -size for query in batch]

    zero = run(grow_by_guesses(range(d), gains_of([-size] * d), known, 1), oracle)
    assert zero == everything(d) & ~(1 << 50)
    assert queries < 25


def test_gains_are_positive_and_finite() -> None:
    assert gains_of([-3.0, -2.0, 1.0]) == Gains([0.004, 1.0, 4.0], 3.0)
    assert gains_of([-1.0, -1.0]) == Gains([1.0, 1.0], 1.0)
    assert gains_of([inf, -2.0, -inf]) == Gains([1.0, 1.0, 1.0], 2.0)
