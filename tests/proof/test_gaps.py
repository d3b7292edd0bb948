"""The search for a gap, against all sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import NotDecided
from flipset.boundary.step_budget import StepBudget
from flipset.proof.gaps import meet_all, members, needed_weight, words_of

D = 6
SETS = st.integers(0, (1 << D) - 1)


def weight_of(flips: int, weights: list[int] | None) -> int:
    return flips.bit_count() if weights is None else sum(weights[i] for i in range(D) if flips >> i & 1)


@given(st.lists(SETS, max_size=6), st.none() | st.lists(st.integers(1, 4), min_size=D, max_size=D), st.integers(0, 12))
def test_a_set_is_found_exactly_if_there_is_one(reasons: list[int], weights: list[int] | None, most: int) -> None:
    found = meet_all(reasons, (), weights, most, StepBudget())
    there = [
        flips
        for flips in range(1 << D)
        if weight_of(flips, weights) <= most and all(flips & reason for reason in reasons)
    ]
    assert (found is not None) == bool(there)
    assert found is None or found in there
    meeting = [weight_of(flips, weights) for flips in range(1 << D) if all(map(flips.__and__, reasons))]
    assert needed_weight([reason for reason in reasons if reason], weights) <= min(meeting, default=99)


@given(st.lists(SETS, max_size=6), st.lists(SETS, min_size=1, max_size=3))
def test_ones_are_not_gaps(reasons: list[int], ones: list[int]) -> None:
    least = min(one.bit_count() for one in ones)
    ones = [one for one in ones if one.bit_count() == least]
    found = meet_all(reasons, ones, None, least, StepBudget())
    there = [
        flips
        for flips in range(1 << D)
        if flips.bit_count() <= least and flips not in ones and all(flips & reason for reason in reasons)
    ]
    assert (found is not None) == bool(there)
    assert found is None or found in there


def test_it_ends_when_the_steps_do() -> None:
    with pytest.raises(NotDecided):
        meet_all([0b11, 0b110], (), None, 2, StepBudget(0))


def test_sets_are_listed_in_order() -> None:
    assert members(0) == []
    assert members(1 << 100_000 | 5) == [0, 2, 100_000]
    assert (words_of(10), words_of(8192)) == (1, 3)
