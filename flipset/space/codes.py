"""Numbers that look like codes for "unknown" or "never" rather than amounts, such as -9 or 999.

This is a guess for people to check. Nothing is taken to be a code unless the space says so.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_CODES = 10
"""A column with more different negative numbers has amounts below 0."""

BELOW = frozenset([*range(-9, 0), *(-digit * ones for digit in range(1, 10) for ones in (11, 111, 1111, 11111))])
"""Negative numbers that are used as codes: -1 to -9, and numbers of one repeated digit."""

ABOVE = frozenset(10**digits - k for digits in range(2, 8) for k in range(1, 5))
"""Positive numbers that are used as codes: 96 to 99, 996 to 999, and so on."""


def suspected_codes(ascending: Sequence[float]) -> list[int]:
    """Return the numbers of a column that look like codes, ascending.

    Below 0 these are few whole numbers in a column that otherwise has none. Above, these are numbers such as 99 at the
    top, more than twice as large as all others.

    Examples
    --------
    >>> suspected_codes([-9, -9, -7, 0, 3, 12, 40]), suspected_codes([-3.5, -2, 4]), suspected_codes([0, 1, 2, 98])
    ([-9, -7], [], [98])
    """
    first = bisect_left(ascending, 0)
    below = sorted(set(ascending[:first]))
    is_few = len(below) <= MOST_CODES and first <= len(ascending) // 2
    codes = [int(number) for number in below] if is_few and BELOW.issuperset(below) else []
    above: list[int] = []
    top = len(ascending)
    while top > first and ascending[top - 1] in ABOVE:
        above.append(int(ascending[top - 1]))
        top = bisect_left(ascending, ascending[top - 1])
    # Without a gap these are amounts: 99 follows 95 in a column of percentages.
    has_gap = top > first and above and ascending[top - 1] * 2 < above[-1]
    return [*codes, *(sorted(above) if has_gap else [])]


def code_hints(name: str, ascending: Sequence[float]) -> list[str]:
    """Return commented lines for a space file: that a column seems to have codes, and what to write if so."""
    codes = suspected_codes(ascending)
    if not codes:
        return []
    seen = set(codes)
    left = [number for number in ascending if number not in seen]
    listed = ", ".join(map(str, codes))
    ends = f", and lower and upper within {left[0]:g} and {left[-1]:g}" if left else ""
    looks = "looks like a code, not an amount" if len(codes) == 1 else "look like codes, not amounts"
    return [f"in {name}, {listed} {looks}; if so, write this{ends}:", f"special = [{listed}]"]
