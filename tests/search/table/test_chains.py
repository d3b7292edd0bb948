"""Zeros grown side by side, against growing each by itself, feature by feature."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from flipset.models.scores import HUGE
from flipset.search.table.chains import Chains
from flipset.search.table.memory import as_words
from flipset.testing import DRAWS, Predicate, smallest

Margin = Callable[[int], float]


def draw(rng: Random, d: int) -> tuple[Predicate, Margin]:
    """Draw a function that does not flip for nothing, with margins that may mislead."""
    while True:
        g = rng.choice(DRAWS)(rng, d)
        if not g(0):
            return g, measured(g, [rng.choice((0.1, 1.0, 7.0, HUGE)) for _ in range(1 << d)])


def measured(g: Predicate, sizes: list[float]) -> Margin:
    return lambda query: sizes[query] if g(query) else -sizes[query]


def one_by_one(g: Predicate, order: list[int]) -> int:
    zero = 0
    for i in order:
        if not g(zero | 1 << i):
            zero |= 1 << i
    return zero


def flags(query: int, d: int) -> list[bool]:
    return [bool(query >> i & 1) for i in range(d)]


def grow(chains: Chains, margins: list[Margin], *, thorough: bool) -> tuple[list[list[list[int]]], int]:
    """Run chains to their ends; return the sets that each asked, round by round, and the number of calls."""
    places = np.arange(len(margins))
    asked: list[list[list[int]]] = [[] for _ in margins]
    calls = 0
    while (open_ := places[~chains.ended(places)]).size:
        which, flips = chains.probes(open_, thorough=thorough)
        assert set(which.tolist()) == set(open_.tolist()), "every chain that has not ended asks something"
        queries = list(zip(which.tolist(), as_words(flips).tolist(), strict=True))
        for k in open_.tolist():
            asked[k].append([word for row, word in queries if row == k])
        chains.learn(np.array([margins[k](word) for k, word in queries]))
        calls += 1
        assert calls < 100, "chains end"
    return asked, calls


@pytest.mark.parametrize("thorough", [False, True])
def test_every_chain_ends_in_the_zero_that_growing_by_hand_gives(thorough: bool) -> None:
    for seed in range(250):
        rng = Random(seed)
        d, rows = rng.randint(1, 8), rng.randint(1, 5)
        drawn = [draw(rng, d) for _ in range(rows)]
        keys = [[rng.random() for _ in range(d)] for _ in range(rows)]
        # A feature that flips alone is not usable; others need not be, either.
        usable = [[not g(1 << i) and rng.random() < 0.9 for i in range(d)] for g, _ in drawn]
        sizes = [min(map(int.bit_count, smallest(g, d)), default=d + 1) for g, _ in drawn]
        least = rng.randint(0, min(sizes) - 1)
        gains = np.array([[rng.choice((0.0, 0.3, 2.0)) for _ in range(d)] for _ in range(rows)])
        chains = Chains(rows, d)
        base = np.array([margin(0) for _, margin in drawn])
        chains.start(np.arange(rows), np.array(usable), np.array(keys), gains, base, least)
        asked, _ = grow(chains, [margin for _, margin in drawn], thorough=thorough)
        for i, (g, _) in enumerate(drawn):
            order = sorted((j for j in range(d) if usable[i][j]), key=lambda j: keys[i][j])
            assert int(as_words(chains.zero[i])) == one_by_one(g, order), (seed, i)
            assert all(word.bit_count() > least for round_ in asked[i] for word in round_), (
                "these are known not to flip"
            )


@pytest.mark.parametrize("thorough", [False, True])
def test_company_changes_nothing(thorough: bool) -> None:
    for seed in range(40):
        rng = Random(seed)
        d, rows = rng.randint(2, 8), 6
        margins = [draw(rng, d)[1] for _ in range(rows)]
        keys = np.array([[rng.random() for _ in range(d)] for _ in range(rows)])
        gains = np.array([[rng.random() for _ in range(d)] for _ in range(rows)])
        usable = np.array([[margin(1 << i) < 0 for i in range(d)] for margin in margins])
        base = np.array([margin(0) for margin in margins])
        together = Chains(rows, d)
        together.start(np.arange(rows), usable, keys, gains, base, 0)
        asked, _ = grow(together, margins, thorough=thorough)
        for k, margin in enumerate(margins):
            alone, one = Chains(1, d), slice(k, k + 1)
            alone.start(np.array([0]), usable[one], keys[one], gains[one], base[one], 0)
            assert grow(alone, [margin], thorough=thorough)[0][0] == asked[k], (seed, k)
            assert alone.zero[0].tolist() == together.zero[k].tolist()


def additive(weights: list[float], threshold: float) -> Margin:
    return lambda query: sum(w for i, w in enumerate(weights) if query >> i & 1) - threshold


def test_gains_that_add_up_are_guessed_in_a_round() -> None:
    """The prefix that flips is the one that the gains forecast: two queries show that it is the shortest."""
    weights = [0.1 * (i + 1) for i in range(30)]
    chains = Chains(1, 30)
    given = np.arange(30.0)[None], np.array([weights]), np.array([-5.05])
    chains.start(np.array([0]), np.ones((1, 30), dtype=bool), *given, 1)
    which, flips = chains.probes(np.array([0]), thorough=False)
    assert which.tolist() == [0, 0]
    assert sorted(flips.sum(axis=1).tolist()) == [9, 10]  # 4.5 and 5.5
    chains.learn(np.array([additive(weights, 5.05)(word) for word in as_words(flips).tolist()]))
    assert chains.zero[0].sum() == 9
    assert chains.one_by_one[0]  # the other 20 are asked one by one


def test_a_thorough_chain_needs_fewer_calls() -> None:
    rng = Random(7)
    d = 30
    calls = []
    weights = [rng.random() for _ in range(d)]
    margin = additive(weights, sum(weights) * 0.6)
    for thorough in (False, True):
        chains = Chains(1, d)
        # Gains of nothing: guesses are as bad as they can be.
        given = np.arange(float(d))[None], np.zeros((1, d)), np.array([margin(0)])
        chains.start(np.array([0]), np.ones((1, d), dtype=bool), *given, 1)
        calls.append(grow(chains, [margin], thorough=thorough)[1])
    assert calls[1] < calls[0]
    assert calls[1] <= 4


def test_answers_that_are_not_monotone_do_not_keep_a_chain_from_ending() -> None:
    for seed in range(200):
        rng = Random(seed)
        d = rng.randint(1, 9)
        answers: dict[int, float] = {}
        chains = Chains(1, d)
        given = np.random.default_rng(seed).random((1, d)), np.zeros((1, d)), np.array([-1.0])
        chains.start(np.array([0]), np.array([flags(rng.randrange(1, 1 << d), d)]), *given, 0)
        margin: Margin = lambda word, a=answers, r=rng: a.setdefault(word, r.choice((-1.0, 1.0)))  # type: ignore[misc] # noqa: E731
        grow(chains, [margin], thorough=rng.random() < 0.5)
