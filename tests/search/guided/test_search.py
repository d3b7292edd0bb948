"""The guided search against exhaustive enumeration, in every regime, and against its bound."""

from collections.abc import Callable, Sequence
from random import Random
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipset.search.guided.candidates
import flipset.search.guided.search
from flipset import run
from flipset.layers import Tally, Transcript, count, trace
from flipset.paper import find_optimal
from flipset.paper.families import hidden_feature
from flipset.protocol import Flips, Search, everything
from flipset.search.guided import guided_search, minimal_in_order, worst_case
from flipset.search.guided.leeway import Leeway
from flipset.sets.known import Known
from flipset.sets.weights import Weights, read_weights
from flipset.testing import DRAWS, Predicate, asking, smallest
from tests.strategies import Function, draw, functions


def margins_of(g: Predicate, d: int, seed: int) -> Callable[[Sequence[Flips]], list[float]]:
    """Answer with margins that have the right sign and say nothing else that is true: beliefs may not mislead."""

    def oracle(batch: Sequence[Flips]) -> list[float]:
        return [(1 if g(q) else -1) * Random(f"{q}/{seed}").uniform(0.001, 9) for q in batch]

    return oracle


def lightest(g: Predicate, d: int, weights: Weights) -> set[Flips]:
    ones = [q for q in range(1 << d) if g(q)]
    least = min(map(weights.of, ones), default=0)
    return {q for q in ones if weights.of(q) == least}


def minimal(g: Predicate, d: int) -> list[Flips]:
    return [q for q in range(1 << d) if g(q) and not any(g(q & ~(1 << i)) for i in range(d) if q >> i & 1)]


def no_leeway(*_: object) -> Search[Leeway]:
    return Leeway(0, 0)
    yield ()


def no_guesses(*arguments: object) -> Search[Leeway]:
    *_, count_open = arguments
    some = yield from cast("Callable[[int], Search[int | None]]", count_open)(1)
    return Leeway(0, 0 if some is None else 1)


@pytest.fixture(params=["narrow", "wide", "listed", "strict", "one by one"])
def regime(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Force the regimes that small functions would not reach: a block of unseen features, lists, no leeway."""
    if request.param in ("wide", "listed"):
        monkeypatch.setattr(flipset.search.guided.search, "NARROW", 0)
    if request.param == "listed":
        monkeypatch.setattr(flipset.search.guided.candidates, "POOL_MOST", 3)
        monkeypatch.setattr(flipset.search.guided.candidates, "LISTED_MOST", 5)
    if request.param == "strict":
        monkeypatch.setattr(flipset.search.guided.search, "leeway", no_leeway)
    if request.param == "one by one":
        monkeypatch.setattr(flipset.search.guided.search, "leeway", no_guesses)
    return str(request.param)


@pytest.mark.parametrize("batch", [1, 8, 64])
def test_agrees_with_enumeration_with_labels_and_margins(regime: str, batch: int) -> None:
    for seed in range(150):
        g, d, _ = draw(seed % len(DRAWS), seed, d=1 + Random(seed).randrange(8))
        truth = set(smallest(g, d))
        assert set(run(guided_search(d, batch=batch), asking(g))) == truth, seed
        assert set(run(guided_search(d, batch=batch), margins_of(g, d, seed))) == truth, seed


@pytest.mark.parametrize("batch", [1, 8])
def test_weights_and_minimal_sets_in_order(regime: str, batch: int) -> None:
    for seed in range(100):
        rng = Random(seed)
        g, d, _ = draw(seed % len(DRAWS), seed, d=1 + rng.randrange(6))
        some_ties = seed % 2 == 0
        weights = read_weights([rng.choice([1, 2, 2.5, 3, 10]) if some_ties else rng.random() for _ in range(d)], d)
        assert set(run(guided_search(d, batch=batch, weights=weights), asking(g))) == lightest(g, d, weights), seed
        for some in (weights, Weights()):
            found: list[Flips] = []
            run(minimal_in_order(d, found.append, batch=batch, weights=some), asking(g))
            assert sorted(found) == minimal(g, d), seed
            assert [some.of(one) for one in found] == sorted(map(some.of, found)), seed


@given(functions(max_d=8))
def test_agrees_with_the_papers_search(function: Function) -> None:
    g, d, _ = function
    assert run(guided_search(d), asking(g)) == run(find_optimal(d), asking(g))


@given(functions(max_d=7), st.integers(1, 70))
def test_rounds_hold_at_most_a_batch_and_nothing_is_asked_twice(function: Function, batch: int) -> None:
    g, d, _ = function
    transcript: Transcript[Flips] = []
    run(trace(guided_search(d, batch=batch), transcript), asking(g))
    assert all(1 <= len(r.queries) <= batch for r in transcript)
    asked = [query for r in transcript for query in r.queries]
    assert len(set(asked)) == len(asked)


def certificates(g: Predicate, d: int) -> list[Flips]:
    """All minimal certificates: the complements of the maximal sets that do not flip."""
    whole = everything(d)
    return [whole & ~q for q in range(1 << d) if not g(q) and all(g(q | 1 << i) for i in range(d) if not q >> i & 1)]


def test_what_is_certain_of_certificates_is_true() -> None:
    for seed in range(200):
        g, d, _ = draw(seed % len(DRAWS), seed, d=1 + Random(seed).randrange(6))
        known, rng = Known(), Random(seed)
        for query in rng.sample(range(1 << d), min(12, 1 << d)):
            known.learn(query, g(query))
        for zero in known.zeros:
            below = [reason for reason in certificates(g, d) if not reason & zero]
            assert below or not g(everything(d))
            for reason in below:
                assert known.least_reason_size(zero) <= reason.bit_count()
                assert not known.critical(zero) & ~reason


@pytest.mark.parametrize("narrow", [0, 40])
def test_never_above_the_proved_bound(narrow: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flipset.search.guided.search, "NARROW", narrow)
    for seed in range(600):
        g, d, _ = draw(seed % len(DRAWS), seed, d=1 + Random(seed).randrange(9))
        if not g(everything(d)) or g(0):
            continue
        reasons = certificates(g, d)
        c, size = max(r.bit_count() for r in reasons), smallest(g, d)[0].bit_count()
        relevant = 0
        for reason in reasons:
            relevant |= reason
        for oracle in (asking(g), margins_of(g, d, seed)):
            tally = Tally()
            run(count(guided_search(d), tally), oracle)
            assert tally.queries <= worst_case(d, c, relevant.bit_count(), size), seed


@pytest.mark.parametrize("d", [50, 1_000, 10_000])
def test_one_relevant_feature_costs_the_logarithm(d: int) -> None:
    for i in (0, 1, d // 3, d - 1):
        tally = Tally()
        assert run(count(guided_search(d), tally), asking(hidden_feature(d, i).flips)) == (1 << i,)
        assert tally.queries <= (d - 1).bit_length() + 4


def test_no_blind_sweep_where_two_zeros_prove_it() -> None:
    # Thirty features, two of which flip alone; the other twenty-eight together do not.
    def oracle(batch: Sequence[Flips]) -> list[float]:
        return [3.0 * (q & 0b11).bit_count() + 0.05 * (q >> 2).bit_count() - 2.0 for q in batch]

    tally = Tally()
    assert set(run(count(guided_search(30), tally), oracle)) == {0b01, 0b10}
    assert tally.queries < 20  # a sweep would take thirty


def test_ten_thousand_features_and_thousands_of_smallest_sets() -> None:
    # At least three of 25, scattered among ten thousand: 2,300 smallest sets, each certificate 23 features.
    places = sorted(Random(0).sample(range(10_000), 25))
    relevant = sum(1 << p for p in places)
    found = run(guided_search(10_000, batch=64), asking(lambda q: (q & relevant).bit_count() >= 3))
    assert len(found) == 25 * 24 * 23 // 6


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e308, float("inf")])
def test_margins_of_any_size_are_taken(scale: float) -> None:
    def oracle(batch: Sequence[Flips]) -> list[float]:
        return [scale if q.bit_count() >= 2 else -scale * 0.5 for q in batch]

    assert len(run(guided_search(5), oracle)) == 10
    assert (
        len(run(guided_search(5), lambda b: [1e-300 if q == 31 else m for q, m in zip(b, oracle(b), strict=True)]))
        == 10
    )


def test_the_same_answers_give_the_same_questions() -> None:
    def transcript() -> Transcript[Flips]:
        rounds: Transcript[Flips] = []
        run(trace(guided_search(12, batch=4), rounds), asking(DRAWS[2](Random(5), 12)))
        return rounds

    assert transcript() == transcript()


def test_minimal_sets_come_before_all_is_known() -> None:
    # Feature 0, or at least 10 of the 20 others: 184,757 minimal sets, the first of them within a few questions.
    found: list[Flips] = []
    search = minimal_in_order(21, found.append)
    batch = next(search)
    for _ in range(60):
        batch = search.send([1.0 if q & 1 or q.bit_count() >= 10 else -1.0 for q in batch])
    search.close()
    assert found == [1]


def test_a_hundred_features_that_must_all_flip() -> None:
    # The size grows one by one to a hundred; each feature costs about its logarithm, and no size is gone over twice.
    tally = Tally()
    places = Random(0).sample(range(1_000), 100)
    all_of_them = sum(1 << place for place in places)
    search = guided_search(1_000)
    assert run(count(search, tally), asking(lambda q: not all_of_them & ~q)) == (all_of_them,)
    assert tally.queries <= 100 * 11
