"""The walk over gaps: it finds each gap that is left, and a copy goes its own way."""

from random import Random

import pytest
from hypothesis import given

from flipset import run
from flipset.proof import Proof
from flipset.search.gap_walk import GapWalk
from flipset.testing import smallest
from tests.strategies import Function, functions


def next_gap(walk: GapWalk) -> int | None:
    return run(walk.next_gap(), lambda _: [])


@given(functions(max_d=6))
def test_the_walk_ends_when_every_gap_has_a_zero(function: Function) -> None:
    g, d, _ = function
    ones = smallest(g, d)
    for rank in (None, list(range(d)), Random(d).sample(range(d), d)):
        walk, zeros = GapWalk(Proof(d, (), ones), None, rank=rank), []
        while (gap := next_gap(walk)) is not None:
            assert not g(gap)
            assert gap not in zeros  # no gap comes twice
            assert next_gap(walk) == gap  # it stays until a zero contains it
            zeros.append(gap)
            walk.add(gap)
        assert Proof(d, tuple(zeros), ones).check(d)


@given(functions(max_d=6))
def test_a_copy_does_not_change_the_walk(function: Function) -> None:
    g, d, _ = function
    ones = smallest(g, d)
    walk, undisturbed = GapWalk(Proof(d, (), ones), None), GapWalk(Proof(d, (), ones), None)
    while (gap := next_gap(walk)) is not None:
        assert gap == next_gap(undisturbed)
        ahead = walk.copy()
        ahead.add(gap)
        for _ in range(2):  # the copy goes on by itself
            further = next_gap(ahead)
            if further is None:
                break
            ahead.add(further)
        walk.add(gap)
        undisturbed.add(gap)
    assert next_gap(undisturbed) is None


def test_nothing_is_left_when_nothing_flips() -> None:
    walk = GapWalk(Proof(3, (), ()), None, zeros=[0b111])
    assert next_gap(walk) is None


def test_features_of_high_rank_come_first() -> None:
    walk = GapWalk(Proof(3, (), (0b111,)), None, zeros=[0b000], rank=[0, 2, 1])
    assert next_gap(walk) == 0b010


@pytest.mark.parametrize(("at_most", "gap"), [(1, None), (2, 0b011)])
def test_gaps_are_within_the_limit(at_most: int, gap: int | None) -> None:
    walk = GapWalk(Proof(2, (), ()), at_most, zeros=[0b01, 0b10])
    assert next_gap(walk) == gap
