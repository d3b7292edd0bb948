"""How far a value may move from where it is: by an amount, such as 5000, or by a share of itself, such as "20 %".

Invariant: arithmetic is exact, in decimals as people write them. 20 % of 0.1 is 0.02, whatever the nearest floats are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, nextafter
from typing import Any

_SHARE = re.compile(r"\s*([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*%\s*")


@dataclass(frozen=True, slots=True)
class Room:
    """The most that a value may move.

    Attributes
    ----------
    amount
        The amount; for a share, 1 is all of the value.
    is_share
        Whether the amount is a share of the value it starts from.
    """

    amount: Fraction
    is_share: bool

    def beyond(self, value: float, sign: int) -> Fraction:
        """Return the furthest value: upwards for a `sign` of 1, downwards for -1."""
        start = decimal(value)
        # A share of the distance from 0: 20 % more than -50 is -40.
        return start + sign * self.amount * (abs(start) if self.is_share else 1)


def read_room(given: Any) -> Room | None:
    """Read an amount of at least 0, or a share as a text with a percent sign; None for anything else.

    Examples
    --------
    >>> read_room("20 %")
    Room(amount=Fraction(1, 5), is_share=True)
    >>> read_room(-3) is None
    True
    """
    if isinstance(given, str):
        found = _SHARE.fullmatch(given)
        return None if found is None else Room(Fraction(found[1]) / 100, is_share=True)
    if isinstance(given, bool) or not isinstance(given, (int, float)) or given < 0:
        return None
    return Room(decimal(given), is_share=False) if isinstance(given, int) or isfinite(given) else None


def decimal(number: float | Fraction) -> Fraction:
    """Return the decimal that a person means by a number: 0.1 is a tenth, not the nearest float."""
    return Fraction(number) if isinstance(number, (int, Fraction)) else Fraction(repr(float(number)))


def exact(number: float | Fraction) -> Fraction | int:
    """Return the decimal that a person means by a number; a whole one as an int, because these add up much faster."""
    whole = int(number)
    if whole == number:
        return whole
    return decimal(number)


def float_within(limit: Fraction, sign: int) -> float:
    """Return the float nearest to a limit that does not go beyond it, upwards for a `sign` of 1, downwards for -1.

    Floats are read as decimals here, too: the limit 0.3 is within itself.
    """
    nearest = float(limit)
    return nextafter(nearest, -inf * sign) if sign * (decimal(nearest) - limit) > 0 else nearest
