"""Sums of floats that do not depend on the order of addition.

Floating-point addition rounds, so the sum of a column depends on how a cluster splits it. Here, a float is divided into
two integers, each a multiple of a power of 2. Integers with the same power are added exactly, in any order, and their
sums are put together at the end.

Invariant: an integer is below 2**27, so that the sums of 2**36 rows fit the 64 bits of a cluster's column.
"""

from __future__ import annotations

from fractions import Fraction
from math import frexp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DIGITS = 53
"""Binary digits of a float."""

LOW = 26
"""Binary digits of the lower of the two integers."""


def divide(value: float) -> list[tuple[int, int]]:
    """Return integers, each after the power of 2 that it multiplies, that add up to a finite float exactly.

    Examples
    --------
    >>> divide(0.5)
    [(-27, 67108864)]
    """
    mantissa, power = frexp(value)
    whole = int(mantissa * (1 << DIGITS))
    high, low = whole >> LOW, whole & ((1 << LOW) - 1)
    parts = [(power - DIGITS + LOW, high), (power - DIGITS, low)]
    return [(exponent, part) for exponent, part in parts if part]


def add_up(parts: Iterable[tuple[int, int]]) -> Fraction:
    """Return the exact sum of integers, each after the power of 2 that it multiplies.

    Examples
    --------
    >>> add_up([*divide(0.5), *divide(0.25)])
    Fraction(3, 4)
    """
    return sum((part * Fraction(2) ** exponent for exponent, part in parts), Fraction(0))
