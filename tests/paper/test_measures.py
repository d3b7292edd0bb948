from itertools import combinations

import pytest
from hypothesis import given

from flipset import InputError
from flipset.paper.measures import (
    certificate_complexity,
    certificate_complexity_at,
    sensitivity,
    sensitivity_at,
)
from flipset.protocol import flips_of
from flipset.testing import Predicate
from tests.strategies import Function, functions


def certificate_complexity_by_definition(f: Predicate, x: int, d: int) -> int:
    """The least |W| such that f agrees with f(x) on every y that agrees with x on W."""
    for size in range(d + 1):
        for features in combinations(range(d), size):
            W = flips_of(features)
            if all(f(y) == f(x) for y in range(1 << d) if y & W == x & W):
                return size
    raise AssertionError("all features together are a certificate")


@given(functions(max_d=4))
def test_certificate_complexity_is_the_definition(function: Function) -> None:
    f, d, _ = function
    by_definition = [certificate_complexity_by_definition(f, x, d) for x in range(1 << d)]
    assert [certificate_complexity_at(f, x, d) for x in range(1 << d)] == by_definition
    assert certificate_complexity(f, d) == max(by_definition)


@given(functions(max_d=7))
def test_sensitivity_equals_certificate_complexity_for_monotone_functions(function: Function) -> None:
    f, d, _ = function
    assert sensitivity(f, d) == certificate_complexity(f, d)


def test_known_values() -> None:
    def majority(x: int) -> bool:
        return x.bit_count() >= 2

    assert sensitivity_at(majority, 0b000, 3) == 0
    assert sensitivity_at(majority, 0b001, 3) == 2
    assert sensitivity(majority, 3) == 2
    assert sensitivity(lambda x: True, 3) == 0


def test_refuses_what_it_cannot_enumerate() -> None:
    with pytest.raises(InputError, match="between 1 and 20, got 21"):
        sensitivity(lambda x: True, 21)
