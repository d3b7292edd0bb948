"""Weights of features, made exact: whole numbers that compare and add as the decimals a person wrote.

"Optimal" means least total weight, and ties count: 0.1 + 0.2 and 0.3 are the same weight to whoever wrote them, though
not to floating point. So weights are read as the decimals they print as, and scaled to whole numbers without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING

from flipset.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flipset.protocol import Flips


@dataclass(frozen=True, slots=True)
class Weights:
    """Whole-number weights of the features, or None where all weigh the same."""

    each: tuple[int, ...] | None = None

    def of(self, flips: Flips) -> int:
        """Return the total weight of a set; its size when all weigh 1."""
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
    """Return a total of whole-number weights in terms of the weights that `read_weights` was given.

    Examples
    --------
    >>> as_given(3, [0.1, 0.2, 0.3])
    0.3
    """
    if weights is None:
        return total
    each = read_weights(weights, len(weights)).each
    exact = total * _decimal(0, weights[0]) / (1 if each is None else each[0])
    return int(exact) if exact.denominator == 1 else float(exact)


def plain_weights(weights: Iterable[float] | None, d: int) -> tuple[float, ...] | None:
    """Return checked weights as plain floats, whatever kind of number and of sequence they came in."""
    if weights is None:
        return None
    try:
        given = tuple(weights)
    except TypeError:
        raise InputError(f"weights must be one number per feature, got {weights!r}") from None
    read_weights(given, d)
    return tuple(float(weight) for weight in given)


def _decimal(i: int, weight: float) -> Fraction:
    try:
        exact = Fraction(str(weight))
    except (TypeError, ValueError, ZeroDivisionError):
        exact = Fraction(0)
    if exact <= 0:
        raise InputError(f"weights[{i}] is {weight!r}; expected a positive, finite number")
    return exact
