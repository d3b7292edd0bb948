"""Weights are the decimals that a person wrote."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from flipset import InputError
from flipset.sets.weights import as_given, plain_weights, read_weights


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


@pytest.mark.parametrize(
    ("weights", "flips", "total"),
    [
        ([0.1, 0.2, 0.4], 0b011, 0.3),
        ([2, 4, 6], 0b110, 10),
        ([5, 5, 5], 0b011, 10),
        (None, 0b111, 3),
        ([0.5] * 4, 3, 1),
    ],
)
def test_a_total_is_told_in_the_weights_that_were_given(weights: list[float] | None, flips: int, total: float) -> None:
    each = read_weights(weights, 3 if weights is None else len(weights))
    assert as_given(each.of(flips), weights) == total


def test_plain_weights_are_floats_whatever_they_came_as() -> None:
    assert plain_weights((w for w in (1, 2)), 2) == (1.0, 2.0)
    assert plain_weights(None, 2) is None
    with pytest.raises(InputError, match="one number per feature"):
        plain_weights(3, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "weight",
    ["1e100000000", *map(Decimal, ("1e100000000", "1e-100000000", "NaN", "sNaN")), 1e300, 10**400, True],
)
def test_c2_weights_that_take_hours_are_refused_at_once(weight: Any) -> None:
    with pytest.raises(InputError, match=r"weights\[1\] is .* expected a positive, finite number, between 1e-100 and"):
        read_weights([1, weight], 2)


def test_decimals_are_weights_too() -> None:
    assert read_weights([Decimal("0.1"), Fraction(1, 5)], 2).each == (1, 2)  # type: ignore[list-item]
