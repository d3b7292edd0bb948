"""Zeros grown side by side, against growing each by itself, feature by feature."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from flipset.search.table.chains import Chains
from flipset.search.table.log import as_words
from flipset.testing import DRAWS, Predicate


def draw(rng: Random, d: int) -> tuple[Predicate, Callable[[int], float]]:
    """Draw a function that does not flip for nothing, with margins that may mislead."""
    while True:
        g = rng.choice(DRAWS)(rng, d)
        if not g(0):
            return g, measured(g, [rng.choice((0.1, 1.0, 7.0)) for _ in range(1 << d)])


def measured(g: Predicate, sizes: list[float]) -> Callable[[int], float]:
    return lambda query: sizes[query] if g(query) else -sizes[query]


def one_by_one(g: Predicate, start: int, usable: list[int]) -> int:
    for i in usable:
        if not g(start | 1 << i):
            start |= 1 << i
    return start


def bits(query: int, d: int) -> list[bool]:
    return [bool(query >> i & 1) for i in range(d)]


@pytest.mark.parametrize("hurried", [False, True])
@pytest.mark.parametrize("batch", [3, 16])
def test_every_chain_ends_in_the_zero_that_growing_by_hand_gives(batch: int, hurried: bool) -> None:
    for seed in range(120):
        rng = Random(seed)
        d, rows = rng.randint(1, 8), rng.randint(1, 5)
        drawn = [draw(rng, d) for _ in range(rows)]
        starts = [rng.choice([q for q in range(1 << d) if not g(q)]) for g, _ in drawn]
        keys = [[rng.random() for _ in range(d)] for _ in range(rows)]
        # A feature that flips alone with the start is known to: it is not usable.
        usable = [
            [not start >> i & 1 and not g(start | 1 << i) for i in range(d)]
            for (g, _), start in zip(drawn, starts, strict=True)
        ]
        chains = Chains(rows, d, batch, lambda places, d=d: np.zeros((len(places), d * (d - 1) // 2), dtype=bool))  # type: ignore[misc]
        gains = np.array([[rng.choice((0.0, 0.3, 2.0)) for _ in range(d)] for _ in range(rows)])
        margin = np.array([measure(start) for (_, measure), start in zip(drawn, starts, strict=True)])
        places = np.arange(rows)
        chains.start(
            places,
            np.array([bits(start, d) for start in starts]),
            np.array(usable),
            np.array(keys),
            gains,
            margin,
            np.full((rows, d), np.nan),
        )
        for _ in range(100):
            open_ = places[~chains.ended(places)]
            if not open_.size:
                break
            which, flips = chains.probes(open_, np.full(len(open_), hurried))
            assert max(Counter(which.tolist()).values()) <= max(batch, 3)
            asked = zip(which.tolist(), as_words(flips).tolist(), strict=True)
            chains.learn(np.array([drawn[i][1](query) for i, query in asked]))
        for i, (g, _) in enumerate(drawn):
            order = sorted((j for j in range(d) if usable[i][j]), key=lambda j: keys[i][j])
            assert int(as_words(chains.zero[i])) == one_by_one(g, starts[i], order), (seed, i)


def test_pairs_known_to_flip_say_where_a_chain_turns() -> None:
    d = 5
    pairs = [(i, j) for i in range(d) for j in range(i + 1, d)]
    rounds = []
    for flipping in ({(0, 1), (0, 2), (0, 3), (0, 4)}, set[tuple[int, int]]()):
        known = np.array([pair in flipping for pair in pairs])
        chains = Chains(1, d, 16, lambda places, known=known: np.tile(known, (len(places), 1)))  # type: ignore[misc]
        everywhere: Any = np.ones((1, d), dtype=bool)
        given = ~everywhere, everywhere, np.arange(5.0)[None], np.zeros((1, d)), np.array([-1.0])
        place = np.array([0])
        chains.start(place, *given, np.full((1, d), -1.0))
        rounds.append(0)
        while not chains.ended(place).all():
            _, flips = chains.probes(place, np.array([False]))
            queries = as_words(flips).tolist()
            chains.learn(np.array([1.0 if query & 1 and query > 1 else -1.0 for query in queries]))
            rounds[-1] += 1
        assert as_words(chains.zero).tolist() == [0b00001]
    assert rounds[0] < rounds[1]
