"""A step for a column, from its values: 1, 2 or 5 times a power of ten.

Nobody should be told "at least 30808.88" because some row of a table happens to have that value. So a column that has
no step of its own gets one from the table, by this rule:

1. The *granularity* of the column is the largest 1, 2 or 5 × 10^k of which nine in ten of its different values are
   multiples: 1 for whole dollars, 100 for loans in hundreds, 0.01 for cents.
2. The *spread* is the distance between its quartiles, so that a few extreme values do not count. If the quartiles are
   equal, they are taken of the different values. A spread is at most the distance between the bounds.
3. The step is the largest 1, 2 or 5 × 10^k that is at most a hundredth of the spread and a multiple of the
   granularity. If there is none, it is the granularity: steps finer than the data are no better.
4. In a column with at most 20 different values, the step is also at most the smallest distance between two of them,
   down to a ten-thousandth of the spread, so that it does not skip values: 0, 1 and 666 get a step of 1.
5. A step is at least 10^-12 of the distance between the bounds. If fewer than two multiples lie between them, the next
   smaller step is taken until they do.

All of it is exact: whole numbers above 2^53 count as they are, and 0.1 means a tenth.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from flipset.space.multiples import first_and_last
from flipset.space.room import decimal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

PARTS = 100
"""Into how many steps the distance between the quartiles is divided, at least."""

FEW_VALUES = 20
"""Up to this many different values, the step must not skip any of them."""

FINEST = 10_000
"""Into how many steps the spread of a column with few values is divided, at most."""

MOST_MULTIPLES = 10**12
"""Into how many steps the distance between the bounds is divided, at most."""

MOST_VALUES = 1_000
"""The most different values that the granularity is read from, in pairs that are evenly chosen."""

EXACT = 1 << 53
"""A step up to here is written as a whole number if it is one."""


def step_from_values(
    ascending: Sequence[Any], lower: Any, upper: Any, dtype: np.dtype[Any] | None = None
) -> int | float | None:
    """Return a step for a column with these numbers and bounds; None where it has no two different values.

    `dtype` is the type of a column of narrow floats, whose digits are those of the type.

    Examples
    --------
    >>> step_from_values(range(0, 100_001), 0, 100_000), step_from_values([1, 2, 2, 3, 4, 5, 6], 1, 6)
    (500, 1)
    >>> step_from_values([k / 1000 for k in range(1001)], 0.0, 1.0)
    0.005
    """
    distinct = sorted(set(ascending))
    if len(distinct) < 2 or lower >= upper:
        return None
    spread = _quartile_distance(ascending) or _quartile_distance(distinct)
    most = min(spread, decimal(upper) - decimal(lower)) / PARTS
    if len(distinct) <= FEW_VALUES:
        most = min(most, max(min(Fraction(b) - Fraction(a) for a, b in pairwise(distinct)), spread / FINEST))
    step = round_down(most)
    finest = granularity(distinct, dtype)
    while finest < step and step % finest:
        step = _next_smaller(step)
    step = max(step, finest, round_down((decimal(upper) - decimal(lower)) / MOST_MULTIPLES))
    while True:
        first, last = first_and_last(lower, upper, step)
        if first < last:
            break
        step = _next_smaller(step)
    return int(step) if step.denominator == 1 and step < EXACT else float(step)


def granularity(distinct: Sequence[Any], dtype: np.dtype[Any] | None = None) -> Fraction:
    """Return the largest 1, 2 or 5 × 10^k of which nine in ten of these numbers are multiples.

    Examples
    --------
    >>> granularity([1, 2, 3, 7]), granularity([1100, 2300, 5000, 89900]), granularity([0, 0.25, 0.5, 0.75])
    (Fraction(1, 1), Fraction(100, 1), Fraction(1, 20))
    """
    # In pairs of neighbours: of thousandths, every second one is a multiple of 0.002.
    apart = 2 * -(-len(distinct) // MOST_VALUES)
    chosen = (value for i in range(0, len(distinct), apart) for value in distinct[i : i + 2])
    numbers = [_digits(value, dtype) for value in chosen if value]
    allowed = len(numbers) // 10  # so many may be off: a mean put in for missing values, a typing error
    exponent = sorted(power for _, power in numbers)[allowed]
    unit = Fraction(10) ** exponent
    for digit in (5, 2):
        others = sum((number * Fraction(10) ** power) % (digit * unit) != 0 for number, power in numbers)
        if others <= allowed:
            return digit * unit
    return unit


def _digits(value: Any, dtype: np.dtype[Any] | None) -> tuple[int, int]:
    """Return a number, not 0, as a whole number times a power of ten, the whole number being no multiple of ten."""
    text = str(value) if dtype is None else str(dtype.type(value))
    _, digits, power = Decimal(text).as_tuple()
    written = "".join(map(str, digits))
    short = written.rstrip("0")
    return int(short), int(power) + len(written) - len(short)


def _quartile_distance(ascending: Sequence[Any]) -> Fraction:
    return quantile(ascending, 0.75) - quantile(ascending, 0.25)


def quantile(ascending: Sequence[Any], share: float) -> Fraction:
    """Interpolate between the two nearest numbers, in exact arithmetic."""
    # Floats would round whole numbers above 2^53. And a share of 0.05 means 1/20, not the nearest float.
    place = decimal(share) * (len(ascending) - 1)
    below, above = Fraction(ascending[floor(place)]), Fraction(ascending[ceil(place)])
    return below + (above - below) * (place - floor(place))


def round_down(number: Fraction) -> Fraction:
    """Return the largest 1, 2 or 5 × 10^k that is at most a number.

    Examples
    --------
    >>> round_down(Fraction(450)), round_down(Fraction(99, 100)), round_down(Fraction(1))
    (Fraction(200, 1), Fraction(1, 2), Fraction(1, 1))
    """
    # The number of digits is right within one.
    power = len(str(number.numerator)) - len(str(number.denominator))
    unit = Fraction(10) ** (power if Fraction(10) ** power <= number else power - 1)
    return next(digit * unit for digit in (5, 2, 1) if digit * unit <= number)


def _next_smaller(step: Fraction) -> Fraction:
    """Return the next smaller of the numbers 1, 2 or 5 × 10^k."""
    return round_down(step * Fraction(3, 4))
