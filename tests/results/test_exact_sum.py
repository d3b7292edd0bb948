"""Sums of floats are exact, in any order."""

from fractions import Fraction
from math import fsum
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from flipset.results.exact_sum import DIGITS, LOW, add_up, divide

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite)
def test_a_float_is_the_sum_of_its_parts(value: float) -> None:
    assert add_up(divide(value)) == Fraction(value)
    assert all(abs(part) <= 1 << max(LOW, DIGITS - LOW) for _, part in divide(value))


@given(st.lists(finite, max_size=20), st.randoms(use_true_random=False))
def test_sums_are_exact_in_any_order(values: list[float], rng: Random) -> None:
    parts = [part for value in values for part in divide(value)]
    rng.shuffle(parts)
    assert add_up(parts) == sum(map(Fraction, values), Fraction(0))


def test_a_sum_that_floats_lose() -> None:
    values = [1e16, 1.0, -1e16, 1e-3]
    assert float(add_up(part for value in values for part in divide(value))) == fsum(values) != sum(values)
