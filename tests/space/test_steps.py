"""The step of a column from its values: round, exact, and not misled by extreme or repeated values."""

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset.space.steps import FINEST, granularity, quantile, round_down, step_from_values


def step(values: Any, lower: Any = None, upper: Any = None, dtype: Any = None) -> Any:
    ascending = sorted(values)
    return step_from_values(
        ascending, ascending[0] if lower is None else lower, ascending[-1] if upper is None else upper, dtype
    )


def test_columns_as_people_have_them() -> None:
    rng = Random(7)
    assert step(rng.randrange(100_001) for _ in range(5_000)) in (200, 500)  # whole dollars
    assert step(round(rng.random(), 6) for _ in range(5_000)) in (0.002, 0.005)  # ratios
    assert step([1, 2, 3, 4, 5, 6] * 9) == 1
    assert step(100 * rng.randrange(11, 400) for _ in range(3_000)) == 100  # loans in hundreds
    assert step(1_000 * rng.randrange(20, 90) for _ in range(3_000)) == 1_000
    assert step([0, 0.25, 0.5, 0.75, 1.0]) == 0.05
    assert step([0, 1, 1, 1, 666]) == 1  # a code that was not declared
    assert step([30808.88, 41210.5, 29999.99, 51000.25]) == 100


def test_heavy_tails_and_repeated_values_do_not_make_the_step_useless() -> None:
    rng = Random(8)
    tail = [round(rng.lognormvariate(0, 1), 4) for _ in range(2_000)]
    assert step(tail) == step([*tail, 1e9, 5e9]) == 0.01
    many_zeros = [0.0] * 9_000 + [float(rng.randrange(1, 20_000)) for _ in range(1_000)]
    assert step(many_zeros) == 50  # of the different values, because both quartiles are 0


def test_the_step_fits_the_bounds() -> None:
    values = [1_000 * k for k in range(100)]
    assert step(values) == 1_000
    assert step(values, 101, 149) == 20  # 120 and 140
    assert step(values, 0, 1) == 1
    assert step([3.7, 3.7]) is None
    assert step([1.0, 2.0], 2.0, 2.0) is None


def test_values_of_any_size_have_a_step_that_can_be_counted() -> None:
    assert step([0.0, 0.5, 1.0, 1.5, 2.0, 1e300]) == 1e288


def test_values_that_only_rounding_tells_apart_make_no_tiny_step() -> None:
    assert step([0.3, 0.1 + 0.2, 0.7, 0.9]) >= 0.1 / FINEST


def test_nine_in_ten_values_decide_the_granularity() -> None:
    assert granularity([*range(1, 20), 9.4731]) == 1
    assert granularity([*range(1, 9), 4.4731]) == Fraction(1, 10_000)
    assert granularity([5, 15, 25]) == 5
    assert granularity([2, 4, 6]) == 2
    assert granularity([-300, 0, 300]) == 100


def test_a_step_is_a_multiple_of_the_granularity() -> None:
    values = range(0, 1_001, 2)  # 5 would be a hundredth of the spread
    assert step(values) == 2


def test_whole_numbers_beyond_the_floats_count_as_they_are() -> None:
    big = 1 << 62
    assert step([big + k for k in range(8)]) == 1
    assert step([big * 10 + 50 * k for k in range(1_000)]) == 200
    assert quantile([big, big + 1, big + 3], 0.5) == big + 1


def test_the_digits_of_a_narrow_type_count() -> None:
    narrow = np.dtype("float32")
    values = [float(np.float32(k / 10)) for k in range(1, 9)]
    assert granularity(values, narrow) == Fraction(1, 10)
    assert step(values, dtype=narrow) == 0.1


@given(st.fractions(Fraction(1, 10**9), 10**9))
def test_rounding_down_to_one_two_or_five(number: Fraction) -> None:
    rounded = round_down(number)
    assert rounded <= number < Fraction(5, 2) * rounded
    digits = str(int(rounded * 10**12)).rstrip("0")
    assert digits in ("1", "2", "5")


@given(
    st.lists(st.floats(-1e12, 1e12).map(lambda v: round(v, 3)), min_size=2, max_size=40),
    st.sampled_from([1, 10**6, 1e-6]),
)
def test_a_step_is_one_two_or_five_and_at_least_two_multiples_fit(values: list[float], scale: float) -> None:
    found = step([value * scale for value in values])
    if found is None:
        assert len({value * scale for value in values}) == 1
        return
    exact = Fraction(str(found))
    assert round_down(exact) == exact
    low, high = min(values) * scale, max(values) * scale
    assert int(Fraction(str(high)) // exact) > -int(-Fraction(str(low)) // exact)


@pytest.mark.parametrize("count", [30, 3_000])
def test_order_and_repetition_of_rows_do_not_matter_where_quartiles_agree(count: int) -> None:
    rng = Random(count)
    values = [rng.randrange(10**6) / 100 for _ in range(count)]
    shuffled = rng.sample(values, count)
    assert step(values) == step(shuffled)
