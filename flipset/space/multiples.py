"""The multiples of a step between two bounds, exactly.

A step, and a bound beside it, means the decimal that a person typed: 0.3 is three steps of 0.1, although the floats say
otherwise. So multiples are counted in whole numbers and fractions, and only the result becomes a number of the column.

Invariants:

- Bounds are rounded inward: the lower one up to a multiple, the upper one down.
- Every value is a multiple as the column holds it: a whole number, the nearest float, or in a column of float32 the
  nearest float32. A person who enters the multiple in such a column enters exactly this value.
- The values are in the order in which they help. Where a step is finer than the numbers of the type, neighbours may be
  equal.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from math import ceil, floor
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from flipset.space.computed import Computed
from flipset.space.room import decimal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

Number: TypeAlias = float | int

EXACT = 1 << 53
"""Whole numbers of smaller size are floats without loss, and no other whole number is rounded to one of them."""

MOST_STEPS = 1 << 62
"""The most steps of a path: Python's sequences cannot be much longer."""

LISTED = 1_024
"""Up to this many multiples are made once and kept, because costs of listed values are found faster."""


def show_step(step: Number) -> str:
    """Write a step for people.

    Examples
    --------
    >>> show_step(0.1), show_step(500.0), show_step(1_000_000)
    ('0.1', '500', '1000000')
    """
    return str(step).removesuffix(".0")


def first_and_last(lower: Number, upper: Number, step: Number | Fraction) -> tuple[int, int]:
    """Return which multiples of a step are the least and the greatest between two bounds.

    The first is greater than the last where no multiple lies between them.

    Examples
    --------
    >>> first_and_last(0.3, 1.05, 0.1), first_and_last(11, 19, 10)
    ((3, 10), (2, 1))
    """
    exact = decimal(step)
    return ceil(decimal(lower) / exact), floor(decimal(upper) / exact)


class Multiples(Computed[Number]):
    """Some multiples of a step, computed when needed: number `first`, and those after it, or before it if falling."""

    def __init__(
        self, first: int, length: int, step: Fraction, *, rising: bool, whole: bool, dtype: np.dtype[Any] | None
    ) -> None:
        self._first, self._length = first, length
        # In whole numbers, because fractions take ten times as long, and a search reads many values.
        self._above, self._below = step.numerator, step.denominator
        self._sign = 1 if rising else -1
        self._whole, self._dtype = whole, dtype

    def __len__(self) -> int:
        return self._length

    def _at(self, j: int) -> Number:
        above = (self._first + self._sign * j) * self._above
        if self._dtype is not None:
            return float(self._dtype.type(above / self._below))
        # The quotient of whole numbers is the nearest float, like that of the fraction.
        return above // self._below if self._whole and not above % self._below else above / self._below

    def floats(self) -> NDArray[np.float64] | None:
        """Return all of them as floats, each the nearest one; None where that takes more than floats can hold."""
        last = (abs(self._first) + self._length) * self._above
        if self._dtype is not None or last > EXACT or self._below > EXACT:
            return None
        # Both sides of the quotient are exact, so it is rounded once, like the quotient of whole numbers.
        above = (self._first + self._sign * np.arange(self._length)) * float(self._above)
        quotients: NDArray[np.float64] = np.divide(above, self._below, dtype=np.float64)
        return quotients

    def count_before(self, value: Number, *, and_equal: bool = False) -> int:
        """Return how many values come before one, or before it and equal to it, in the order in which they help."""

        def is_before(j: int) -> bool:
            own = self._at(j)
            return (own < value if self._sign == 1 else own > value) or (and_equal and own == value)

        # Where the value should be, as nearly as floats can say. It is there in nearly all cases.
        try:
            near = self._sign * (round(value * self._below / self._above) - self._first)
        except OverflowError:
            near = 0
        for j in (near, near + 1):
            if 0 <= j <= self._length and (j == 0 or is_before(j - 1)) and (j == self._length or not is_before(j)):
                return j
        return bisect_left(range(self._length), True, key=lambda j: not is_before(j))


def held(value: Fraction, dtype: np.dtype[Any] | None, *, whole: bool) -> Number:
    """Return a multiple as a column holds it; `dtype` is the type of a column of narrow floats."""
    if dtype is not None:
        return float(dtype.type(float(value)))
    # Integers stay integers: a float would round those above 2^53.
    return int(value) if whole and value.denominator == 1 else float(value)


def multiples_beyond(
    lower: Number,
    upper: Number,
    step: Number,
    before: Number | None,
    *,
    rising: bool,
    whole: bool = False,
    dtype: np.dtype[Any] | None = None,
) -> Sequence[Number]:
    """Return the multiples within the bounds that lie strictly beyond `before`, or all where it is None.

    There are at most `MOST_STEPS` steps between the bounds. `whole` keeps whole numbers whole.
    """
    exact = decimal(step)
    first, last = _span(lower, upper, exact, dtype)
    if last - first < LISTED:
        listed = _listed(first, last, exact, whole, dtype)
        if rising:
            return list(listed if before is None else listed[bisect_right(listed, before) :])
        return list(reversed(listed if before is None else listed[: bisect_left(listed, before)]))
    ascending = Multiples(first, last - first + 1, exact, rising=True, whole=whole, dtype=dtype)
    if rising:
        skipped = 0 if before is None else bisect_right(ascending, before)
        return Multiples(first + skipped, len(ascending) - skipped, exact, rising=True, whole=whole, dtype=dtype)
    left = len(ascending) if before is None else bisect_left(ascending, before)
    return Multiples(first + left - 1, left, exact, rising=False, whole=whole, dtype=dtype)


def _span(lower: Number, upper: Number, step: Fraction, dtype: np.dtype[Any] | None) -> tuple[int, int]:
    """Return the first and the last multiple within bounds, which are read in the column's type as multiples are."""
    if dtype is None:
        return first_and_last(lower, upper, step)
    most = float(np.finfo(dtype).max)  # beyond it, a multiple would become infinite
    lower, upper = max(lower, -most), min(upper, most)
    first, last = first_and_last(lower, upper, step)
    # In float32, a bound of 0.30000001192092896 is 0.3, and so is the third multiple of 0.1.
    with np.errstate(over="ignore"):
        if held((first - 1) * step, dtype, whole=False) >= held(decimal(lower), dtype, whole=False):
            first -= 1
        if held((last + 1) * step, dtype, whole=False) <= held(decimal(upper), dtype, whole=False):
            last += 1
    return first, last


@lru_cache(maxsize=512)
def _listed(first: int, last: int, step: Fraction, whole: bool, dtype: np.dtype[Any] | None) -> tuple[Number, ...]:
    """Return multiples in ascending order. Rows of a table share them."""
    return tuple([held(k * step, dtype, whole=whole) for k in range(first, last + 1)])
