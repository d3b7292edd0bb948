"""The parts of the engine, each against its definition."""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import InputError, run
from flipset.protocol import Flips, Search, ask, flips_of
from flipset.search.guided.beliefs import Beliefs, below
from flipset.search.guided.bound import credit, worst_case
from flipset.search.guided.chain import find_first_flip
from flipset.search.guided.focus import Focus
from flipset.search.guided.pool import pool_of, sets_of_size
from flipset.search.guided.record import Record
from flipset.sets.hitting import hitting_sets, listing
from flipset.sets.known import Known
from flipset.sets.weights import read_weights


def asks_nothing(batch: Sequence[Flips]) -> list[float]:
    raise AssertionError(f"asked {batch}")


@given(st.lists(st.integers(1, 63), max_size=8), st.lists(st.integers(1, 63), max_size=3), st.integers(-1, 12))
def test_hitting_sets_leave_nothing_out_and_repeat_nothing(reasons: list[int], ones: list[int], limit: int) -> None:
    weights = [1, 2, 3, 1, 2, 3]
    for each in (None, weights):
        weigh = read_weights(each, 6).of
        found = run(listing(hitting_sets(reasons, ones, each, limit)), asks_nothing)
        assert len(set(found)) == len(found)
        assert all(weigh(h) <= limit and all(h & r for r in reasons) for h in found)
        assert all(one & ~h for h in found for one in ones)
        for candidate in range(64):
            if weigh(candidate) <= limit and all(candidate & r for r in reasons):
                above_one = any(not one & ~candidate for one in ones)
                assert above_one or any(not h & ~candidate for h in found)


@given(st.integers(1, 7), st.data())
def test_pools_hold_what_no_answer_settles(width: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, width))
    known = Known()
    for query in data.draw(st.lists(st.integers(0, (1 << width) - 1), max_size=6)):
        known.learn(query, query.bit_count() > width // 2)
    every = [flips_of(c) for c in combinations(range(width), k)]
    open_sets = {q for q in every if known.settle(q) is None}
    for pool in (sets_of_size(width, k), pool_of(width, every, k, complete=True)):
        assert pool.length == comb(width, k)
        run(pool.settle(known), asks_nothing)
        assert pool.open.bit_count() == len(open_sets)
        if open_sets:
            assert pool.heaviest([1.0 / (i + 1) for i in range(width)]) in open_sets


def test_a_pool_renumbered_is_the_same_pool() -> None:
    pool, twin = sets_of_size(12, 4), sets_of_size(12, 4)
    for zero in (0b111111111100, 0b001111111111, 0b110011111111, 0b111111110011):
        pool.drop_inside(zero)
        twin.drop_inside(zero)
    pool.renumber()
    assert pool.length < twin.length
    for i in range(12):
        assert (pool.open & pool.holders[i]).bit_count() == (twin.open & twin.holders[i]).bit_count()


@given(st.integers(1, 200), st.integers(0, 200), st.floats(0.001, 3), st.integers(1, 9))
def test_the_first_flip_is_found_within_twice_the_logarithm(length: int, tip: int, rate: float, width: int) -> None:
    rounds = 0

    def flips(queries: list[Flips]) -> Search[list[bool]]:
        nonlocal rounds
        rounds += 1
        return [margin >= 0 for margin in (yield from ask(queries))]

    found = run(find_first_flip(length, rate, lambda n: n, flips, width), lambda batch: [n >= tip > 0 for n in batch])  # type: ignore[arg-type]
    assert found == (tip if 0 < tip <= length else None)
    assert rounds <= 2 * length.bit_length() + 2


@given(st.sets(st.integers(0, 29), min_size=1), st.integers(0, 2**30 - 1))
def test_focus_translates_back_and_forth(features: set[int], flips: int) -> None:
    focus = Focus.on_none(30).widened(sorted(features, reverse=True))
    inner = focus.inner(flips)
    assert focus.outer(inner) == flips & flips_of(features)
    assert focus.block == flips_of(set(range(30)) - features)
    assert Focus.on_all(30).inner(flips) == Focus.on_all(30).outer(flips) == flips


def test_beliefs_learn_an_additive_model_from_margins() -> None:
    rng = Random(1)
    weights = [rng.uniform(0, 2) for _ in range(8)]
    beliefs = Beliefs(8)
    for _ in range(40):
        query = rng.randrange(256)
        beliefs.learn(query, sum(w for i, w in enumerate(weights) if query >> i & 1) - 3.3)
    assert not beliefs.labels
    assert beliefs.mean[-1] == pytest.approx(-3.3, abs=0.1)
    assert beliefs.mean[:-1] == pytest.approx(weights, abs=0.1)


def test_beliefs_learn_order_from_labels() -> None:
    rng = Random(2)
    beliefs = Beliefs(6)
    for _ in range(150):
        query = rng.randrange(64)
        beliefs.learn(query, 1.0 if 3 * (query & 1) + (query >> 1).bit_count() >= 4 else -1.0)
    assert beliefs.labels
    assert max(range(6), key=lambda i: beliefs.mean[i]) == 0
    assert below(0.0) == 0.5


def test_trust_falls_when_forecasts_fail_and_growing_must_pay() -> None:
    record = Record()
    assert record.trust() == 1.0
    for _ in range(12):
        record.guessed(0.8, succeeded=False)
    assert record.trust() < 0.1
    assert record.growing_pays(1000)
    assert not record.growing_pays(3)


def test_credit_is_the_difference_of_the_two_bounds_and_grows() -> None:
    for d, c, r, size in [(10, 1, 1, 1), (100, 5, 9, 3), (10_000, 12, 40, 2)]:
        assert credit(d, c, r, size) == worst_case(d, c, r, size) - worst_case(d, c, r, size, probes=1)
        assert credit(d, c + 1, r + 1, size) > credit(d, c, r, size)
        assert credit(d, c, r, size + 1) >= credit(d, c, r, size)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "one entry per feature: 3, got 2"),
        ([1, 0, 2], r"weights\[1\] is 0; expected a positive"),
        ([1, -1, 2], r"weights\[1\] is -1"),
        ([1, float("nan"), 2], r"weights\[1\] is nan"),
        ([1, float("inf"), 2], r"weights\[1\] is inf"),
        ([1, "a", 2], r"weights\[1\] is 'a'"),
    ],
)
def test_weights_that_cannot_be_right(weights: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_weights(weights, 3)


def test_decimal_weights_tie_as_they_read() -> None:
    weights = read_weights([0.1, 0.2, 0.3], 3)
    assert weights.of(0b011) == weights.of(0b100)
    assert read_weights([2.5, 2.5], 2).each is None
