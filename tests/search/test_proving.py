"""From answers to a small proof: it holds, it is no larger than need be, and what is not proved is refused."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset.errors import ProtocolError
from flipset.proof import Proof
from flipset.protocol import flips_of
from flipset.search.proving import STOPPED_MOST, bound_below, build_proof, partial_proof
from flipset.sets.known import Known
from flipset.sets.weights import read_weights
from flipset.testing import smallest
from tests.strategies import Function, functions


def know_everything(function: Function) -> Known:
    known = Known()
    for query in range(1 << function.d):
        known.learn(query, function.g(query))
    return known


def lightest(function: Function, weights: list[float] | None) -> tuple[int, ...]:
    """All lightest sets that flip, by looking at every set."""
    weigh = read_weights(weights, function.d).of
    flipping = [query for query in range(1 << function.d) if function.g(query)]
    least = min(map(weigh, flipping), default=0)
    return tuple(query for query in flipping if weigh(query) == least)


@given(functions(max_d=7))
def test_what_is_built_is_a_proof_of_different_zeros(function: Function) -> None:
    g, d, _ = function
    proof = build_proof(Proof(d, (), smallest(g, d)), know_everything(function))
    assert proof.check(d)
    assert not any(g(zero) for zero in proof.zeros)
    assert len(set(proof.zeros)) == len(proof.zeros)


@given(functions(max_d=6), st.randoms(use_true_random=False))
def test_weights_count_instead_of_sizes(function: Function, rng: Random) -> None:
    g, d, _ = function
    weights = [rng.choice([1, 2, 2.5, 4]) for _ in range(d)]
    claim = Proof(d, (), lightest(function, weights), tuple(weights))
    proof = build_proof(claim, know_everything(function))
    assert proof.check(d)
    assert not any(map(g, proof.zeros))


def test_a_claim_that_the_answers_do_not_prove_is_refused() -> None:
    known = Known()
    known.learn(0b011, True)
    known.learn(0b001, False)
    with pytest.raises(ProtocolError, match="without settling every smaller set"):
        build_proof(Proof(3, (), (0b011,)), known)  # nothing is known of the other pairs
    with pytest.raises(ProtocolError, match="never saw flip"):
        build_proof(Proof(3, (), (0b110,)), known)


def test_that_no_set_of_some_size_flips_is_proved_by_zeros_of_that_size() -> None:
    known = Known()
    for pair in combinations(range(4), 2):
        known.learn(flips_of(pair), False)
    proof = build_proof(Proof(4, (), ()), known, at_most=2)
    assert set(proof.zeros) == set(known.zeros)
    with pytest.raises(ProtocolError):
        build_proof(Proof(4, (), ()), known, at_most=3)


@given(st.integers(2, 7), st.data())
def test_a_stopped_search_proves_a_bound_that_holds(d: int, data: st.DataObject) -> None:
    function = data.draw(functions(max_d=d))
    known = Known()
    for query in data.draw(st.lists(st.integers(0, (1 << function.d) - 1), max_size=10)):
        known.learn(query, function.g(query))
    proof = partial_proof(Proof(function.d, (), ()), known)
    assert set(proof.zeros) == set(known.zeros)
    sizes = {one.bit_count() for one in known.ones}
    assert {one.bit_count() for one in proof.ones} == ({min(sizes)} if sizes else set())
    bound = bound_below(proof)
    open_sizes = [
        query.bit_count() for query in range(1 << function.d) if not any(query & ~zero == 0 for zero in proof.zeros)
    ]
    assert bound == (min(open_sizes) if open_sizes else None)  # the best that the zeros prove
    truth = smallest(function.g, function.d)
    if truth and bound is not None:
        assert bound <= truth[0].bit_count()


def test_what_was_settled_before_is_not_forgotten() -> None:
    proof = Proof(6, (), ())
    assert bound_below(proof) == 0
    assert bound_below(proof, settled=3) == 3


def test_a_stopped_search_lists_some_of_very_many_flip_sets() -> None:
    known = Known()
    for pair in combinations(range(50), 2):
        known.learn(flips_of(pair), True)
    assert len(known.ones) > STOPPED_MOST
    assert len(partial_proof(Proof(50, (), ()), known).ones) == STOPPED_MOST


def test_a_bound_in_weights_is_told_in_the_weights_given() -> None:
    weights = (0.5, 0.25, 1.0)
    proof = Proof(3, (0b001, 0b010), (), weights)
    assert bound_below(proof) == 0.75  # two of the light ones together, or the heavy one
