"""Paths without a step in columns whose type has fewer numbers than Python's floats, such as float32.

Invariant: every value reaches the model exactly as it is reported. So each point of a path is rounded to a number of
the column's type, outwards: to the nearest one at or beyond the point. Rounding inwards could undo the flip. The last
point alone is rounded inwards, because the bound must not be crossed, and no other point goes beyond it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.space.computed import Computed

if TYPE_CHECKING:
    from collections.abc import Sequence


class Rounded(Computed[float]):
    """The values of a path, rounded when they are needed."""

    def __init__(self, values: Sequence[float], dtype: np.dtype[Any], last: float, *, rising: bool) -> None:
        self._values, self._dtype, self._last, self._rising = values, dtype, last, rising

    def __len__(self) -> int:
        return len(self._values)

    def _at(self, j: int) -> float:
        value = nearest(self._values[j], self._dtype, up=self._rising)
        # Near the bound, rounding outwards may cross it.
        return min(value, self._last) if self._rising else max(value, self._last)


def nearest(value: float, dtype: np.dtype[Any], *, up: bool) -> float:
    """Return the least number of a float type at or above a value, or the greatest at or below it.

    A value beyond the range of the type becomes the largest finite number.

    Examples
    --------
    >>> nearest(0.1, np.dtype("float32"), up=True), nearest(0.1, np.dtype("float32"), up=False)
    (0.10000000149011612, 0.09999999403953552)
    >>> nearest(1e6, np.dtype("float16"), up=True)
    65504.0
    """
    with np.errstate(over="ignore"):
        rounded = dtype.type(value)
    # NumPy rounds to the nearest number, which may lie on the wrong side.
    if (float(rounded) < value) if up else (float(rounded) > value):
        rounded = np.nextafter(rounded, dtype.type(np.inf if up else -np.inf))
    most = float(np.finfo(dtype).max)
    return min(max(float(rounded), -most), most)
