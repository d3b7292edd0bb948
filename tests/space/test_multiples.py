"""Multiples of a step between bounds: counted exactly, rounded inward, and held by the type of the column."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import Feature, InputError
from flipset.space.multiples import LISTED, MOST_STEPS, Multiples, first_and_last, held, multiples_beyond, show_step

STEPS = ["0.1", "0.05", "0.3", "2.5", "1", "7", "0.01"]
BOUNDS = st.integers(-300, 300).map(lambda k: k / 40)


def by_listing(lower: float, upper: float, step: str, before: float | None, rising: bool, dtype: Any) -> list[float]:
    """The stated grid, one multiple after the other, in decimals."""
    found = []
    for k in range(int(lower / float(step)) - 2, int(upper / float(step)) + 3):
        multiple = k * Decimal(step)
        value = float(str(multiple)) if dtype is None else float(dtype.type(str(multiple)))
        if dtype is None:
            inside = Decimal(str(lower)) <= multiple <= Decimal(str(upper))
        else:
            inside = float(dtype.type(lower)) <= value <= float(dtype.type(upper))
        if inside and (before is None or (value > before if rising else value < before)):
            found.append(value)
    return found if rising else found[::-1]


@pytest.mark.parametrize("dtype", [None, np.dtype("float32")], ids=str)
@given(st.tuples(BOUNDS, BOUNDS).map(sorted), st.sampled_from(STEPS), st.none() | BOUNDS, st.booleans())
def test_the_values_are_those_of_a_list_in_decimals(
    dtype: Any, bounds: list[float], step: str, before: float | None, rising: bool
) -> None:
    lower, upper = bounds
    if before is not None and dtype is not None:
        before = float(dtype.type(before))
    expected = by_listing(lower, upper, step, before, rising, dtype)
    try:
        Feature("x", direction=+1, lower=lower, upper=upper, step=float(step))
    except InputError as error:
        assert "no multiple of its step" in str(error)
        assert not by_listing(lower, upper, step, None, rising, None)
        return
    assert list(multiples_beyond(lower, upper, float(step), before, rising=rising, dtype=dtype)) == expected


@pytest.mark.parametrize("rising", [True, False])
@pytest.mark.parametrize("before", [None, 0.3, 0.30000000000000004, 55, -3.0, 1e9])
def test_values_that_are_too_many_to_list_are_the_same(rising: bool, before: float | None) -> None:
    upper = 5.05 + LISTED / 10
    listed = by_listing(-5.05, upper, "0.1", before, rising, None)
    values = multiples_beyond(-5.05, upper, 0.1, before, rising=rising)
    assert not isinstance(values, list)
    assert list(values) == listed
    assert values[: min(3, len(listed))] == listed[:3]
    with pytest.raises(IndexError):
        values[len(listed)]


def test_whole_numbers_beyond_the_floats_stay_exact() -> None:
    big = 1 << 62
    least = -(-(big - 5) // 10) * 10
    expected = {None: [least, least + 10, least + 20], least: [least + 10, least + 20]}
    for before, values in expected.items():
        assert list(multiples_beyond(big - 5, big + 25, 10, before, rising=True, whole=True)) == values
    assert list(multiples_beyond(big - 5, big + 25, 10, least + 11, rising=False, whole=True)) == [least + 10, least]


def test_a_multiple_is_the_number_that_is_read_from_its_digits() -> None:
    assert held(3 * Fraction(1, 10), None, whole=False) == 0.3
    narrow = np.dtype("float32")
    assert held(Fraction(7, 10), narrow, whole=False) == float(np.float32("0.7")) < 0.7
    assert held(Fraction(3, 10), narrow, whole=False) == float(np.float32("0.3")) > 0.3


def test_a_narrow_type_ends_the_range() -> None:
    narrow = np.dtype("float16")
    values = multiples_beyond(0, 1e6, 10_000, None, rising=True, dtype=narrow)
    assert list(values) == [float(np.float16(k * 10_000)) for k in range(7)]
    assert not multiples_beyond(1e6, 2e6, 10_000, None, rising=True, dtype=narrow)


def test_bounds_without_a_multiple_are_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"feature 'income': no multiple of its step 10 lies between its bounds 1 and"):
        Feature("income", direction=+1, lower=1, upper=9.5, step=10)
    with pytest.raises(InputError, match=r"no multiple of its step 1 lies between its bounds 0.2 and 0.8"):
        Feature("grade", "ordinal", direction=+1, lower=0.2, upper=0.8)
    Feature("income", direction=+1, lower=1, upper=9.5, step=10, fixed=True)  # it takes no value
    assert first_and_last(1, 9.5, 10) == (1, 0)


def test_too_many_steps_are_refused() -> None:
    words = f"feature 'x': there are more than {MOST_STEPS:,} steps of 1 between its bounds; give it a larger"
    for upper in (MOST_STEPS + 1, 4 * MOST_STEPS, 10**300, 10**305):  # a large number is not written out
        with pytest.raises(InputError, match=words):
            Feature("x", "integer", direction=+1, lower=0, upper=upper)
    Feature("x", "integer", direction=+1, lower=0, upper=MOST_STEPS)


def test_a_bound_that_is_not_finite_is_shown_shortly() -> None:
    for upper, said in ((10**5_000, "a whole number of more than 300 digits"), (math.inf, "inf")):
        with pytest.raises(InputError, match=f"feature 'x': upper must be a finite number, got {said}$"):
            Feature("x", "integer", direction=+1, lower=0, upper=upper)


def test_steps_in_words() -> None:
    assert [show_step(step) for step in (1e-05, 0.25, 2.0, 12345678)] == ["1e-05", "0.25", "2", "12345678"]


@given(
    st.integers(-50, 50), st.integers(1, 40), st.sampled_from(STEPS), st.booleans(), st.booleans(), st.booleans(),
    st.sampled_from([None, np.dtype("float32"), np.dtype("float16")]), st.integers(-2000, 2000), st.booleans(),
)  # fmt: skip
def test_a_value_is_counted_to_its_place(
    first: int, length: int, step: str, rising: bool, whole: bool, fine: bool, dtype: Any, at: int, and_equal: bool
) -> None:
    # A fine step in a narrow type makes neighbours equal.
    exact = Fraction(step) / (10**6 if fine else 1)
    values = Multiples(first, length, exact, rising=rising, whole=whole, dtype=dtype)
    assert list(values) == [held((first + (j if rising else -j)) * exact, dtype, whole=whole) for j in range(length)]
    value = float(at * exact / 20)
    before = [one < value if rising else one > value for one in values]
    assert values.count_before(value, and_equal=and_equal) == sum(before) + and_equal * list(values).count(value)


def test_a_value_is_counted_where_floats_are_too_small() -> None:
    values = Multiples(10**400, 9, Fraction(1), rising=True, whole=True, dtype=None)
    assert values.count_before(10**400 + 3) == 3
    assert values.count_before(math.inf) == 9
