"""Going through all sets of one size finds an uncovered set exactly if there is one."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import TYPE_CHECKING

import pytest

from flipset.boundary.step_budget import StepBudget
from flipset.errors import NotDecided
from flipset.proof import Proof
from flipset.proof.sweep import any_uncovered, is_sweep_faster

if TYPE_CHECKING:
    from collections.abc import Iterable


def mask(features: Iterable[int]) -> int:
    return sum(1 << i for i in features)


@pytest.mark.parametrize("seed", range(60))
def test_agrees_with_enumeration(seed: int) -> None:
    random = Random(seed)
    d = random.randint(1, 8)
    k = random.randint(1, d)
    zeros = {mask(random.sample(range(d), random.randint(0, d))) for _ in range(random.randint(0, 12))}
    if seed % 2:  # nearly all sets of the size, each a zero itself
        zeros |= {mask(one) for one in combinations(range(d), k)}
        if seed % 4 == 1:
            zeros.discard(mask(random.sample(range(d), k)))
    whole = (1 << d) - 1
    expected = any(all(mask(one) & ~zero for zero in zeros) for one in combinations(range(d), k))
    assert any_uncovered(d, k, [whole & ~zero for zero in zeros], StepBudget.of(10**6, None)) is expected


def test_check_size_of_many_zeros_uses_it() -> None:
    zeros = tuple(mask(one) for one in combinations(range(12), 4))
    ones = (mask(range(5)),)
    assert is_sweep_faster(12, 4, zeros)
    assert Proof(12, zeros, ones).check_size(12) is True
    assert Proof(12, zeros[1:], ones).check_size(12) is False
    assert Proof(12, zeros, ones).check(12) is False  # other sets of five features are left open
    assert Proof(12, zeros, ones).weight_below(5) is None
    assert Proof(12, zeros[1:], ones).weight_below(5) == 4


def test_check_size_refuses_what_is_no_claim_about_a_size() -> None:
    assert Proof(3, (0b110,), (0b001,)).check_size(3) is True
    assert Proof(3, (0b110,), ()).check_size(3) is False
    assert Proof(3, (0b110,), (0b001, 0b110)).check_size(3) is False  # of two sizes; one of them in a zero
    assert Proof(3, (0b110,), (0b001,)).check_size(4) is False


def test_steps_run_out() -> None:
    zeros = tuple(mask(one) for one in combinations(range(12), 4))
    assert Proof(12, zeros, (mask(range(5)),)).check_size(12, steps=10) is None
    with pytest.raises(NotDecided):
        Proof(12, zeros, (mask(range(5)),)).weight_below(5, steps=10)
