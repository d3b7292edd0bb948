"""Exact weights of features: whole numbers that add and compare like the decimals a person wrote.

The optimal flip sets are *all* sets of the least total weight, so ties matter. To a person 0.1 + 0.2 equals 0.3; in
floating point it does not. Weights are therefore read as the decimals they print as, and scaled to whole numbers
without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm
from numbers import Real
from typing import TYPE_CHECKING

from flipset.boundary.reading import WEIGHTS, is_weight, shown
from flipset.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flipset.protocol import Flips


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the features as whole numbers."""

    each: tuple[int, ...] | None = None  # None if all features weigh the same

    def of(self, flips: Flips) -> int:
        """Return the total weight of a set, which is its size if all features weigh the same."""
        if self.each is None:
            return flips.bit_count()
        total = 0
        while flips:
            lowest = flips & -flips
            total += self.each[lowest.bit_length() - 1]
            flips ^= lowest
        return total


UNIT_WEIGHTS = Weights()


def read_weights(weights: Sequence[float] | None, d: int) -> Weights:
    """Read one positive weight per feature; None gives every feature the weight 1.

    Examples
    --------
    >>> read_weights([0.1, 0.2, 0.3], 3).each
    (1, 2, 3)
    """
    if weights is None:
        return UNIT_WEIGHTS
    given = list(weights)
    if len(given) != d:
        raise InputError(f"weights must have one entry per feature: {d}, got {len(given)}")
    exact = [_decimal(i, weight) for i, weight in enumerate(given)]
    scale = lcm(*(weight.denominator for weight in exact))
    whole = [int(weight * scale) for weight in exact]
    common = gcd(*whole)
    each = tuple(weight // common for weight in whole)
    return Weights(None if set(each) == {1} else each)


def as_given(total: int, weights: Sequence[float] | None) -> int | float:
    """Convert a total of whole-number weights back to the scale of the weights that `read_weights` was given.

    Examples
    --------
    >>> as_given(3, [0.1, 0.2, 0.3])
    0.3
    """
    if weights is None:
        return total
    each = read_weights(weights, len(weights)).each
    # All weights were scaled by the same factor, so the first one gives it.
    exact = total * _decimal(0, weights[0]) / (1 if each is None else each[0])
    return int(exact) if exact.denominator == 1 else float(exact)


def plain_weights(weights: Iterable[float] | None, d: int) -> tuple[float, ...] | None:
    """Check weights, in any kind of sequence and of any kind of number, and return them as floats."""
    if weights is None:
        return None
    try:
        given = tuple(weights)
    except TypeError:
        raise InputError(f"weights must be one number per feature, got {weights!r}") from None
    read_weights(given, d)
    return tuple(float(weight) for weight in given)


def _decimal(i: int, weight: float) -> Fraction:
    # The range is checked before the number is made exact: the fraction of 1e100000000 takes hours.
    is_number = isinstance(weight, (Real, Decimal)) and not isinstance(weight, bool)
    if not is_number or not is_weight(weight):
        raise InputError(f"weights[{i}] is {shown(weight)}; expected a positive, finite number, {WEIGHTS}")
    return Fraction(str(weight))
