from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given

from flipset.testing import DRAWS, Predicate, is_minimal_certificate, smallest
from tests.strategies import Function, functions


@given(functions(max_d=6))
def test_every_draw_is_monotone(function: Function) -> None:
    g, d, _ = function
    assert all(not g(q) or g(q | 1 << i) for q in range(1 << d) for i in range(d))


@pytest.mark.parametrize("draw", DRAWS)
def test_draws_are_varied(draw: Callable[[Random, int], Predicate]) -> None:
    # A generator that drew the same easy function each time would make every comparison vacuous.
    answers = {smallest(draw(Random(seed), 6), 6) for seed in range(300)}
    assert len(answers) > 50
    assert len({answer[0].bit_count() for answer in answers if answer}) >= 3


def test_smallest_finds_all_of_the_least_size() -> None:
    assert smallest(lambda q: q.bit_count() >= 2, 3) == (0b011, 0b101, 0b110)
    assert smallest(lambda q: False, 3) == ()
    assert smallest(lambda q: True, 3) == (0,)


def test_is_minimal_certificate_rejects_too_little_and_too_much() -> None:
    def both(q: int) -> bool:
        return q & 0b11 == 0b11

    assert is_minimal_certificate(both, 0b001, 3)
    assert not is_minimal_certificate(both, 0b011, 3)
    assert not is_minimal_certificate(both, 0b100, 3)
