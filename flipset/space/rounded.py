"""Paths in columns whose type has fewer numbers than Python's floats, such as float32.

Invariant: every value reaches the model exactly as it is reported. So each point of a path is rounded to a number of
the column's type, outwards: to the nearest one at or beyond the point. Rounding inwards could undo the flip. The last
point alone is rounded inwards, because the bound must not be crossed, and no other point goes beyond it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

if TYPE_CHECKING:
    from flipset.space.path import Path


class Rounded(Sequence[float]):
    """The values of a path, rounded when they are needed."""

    def __init__(self, values: Sequence[float], dtype: np.dtype[Any], last: float, *, rising: bool) -> None:
        self._values, self._dtype, self._last, self._rising = values, dtype, last, rising

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, j: int) -> float: ...
    @overload
    def __getitem__(self, j: slice) -> list[float]: ...
    def __getitem__(self, j: int | slice) -> float | list[float]:
        if isinstance(j, slice):
            return [self[i] for i in range(*j.indices(len(self)))]
        value = nearest(self._values[j], self._dtype, up=self._rising)
        # Near the bound, rounding outwards may cross it.
        return min(value, self._last) if self._rising else max(value, self._last)


def held_by(path: Path, dtype: np.dtype[Any]) -> Path | None:
    """Return a path with values of a float type; None where the type has no value between the row's and the bound."""
    last = nearest(path.values[-1], dtype, up=not path.rising)
    # The bound, rounded inwards, may fall back to the value of the row, or behind it. Then nothing is left to move to.
    if path.feature.is_ordinary(path.before) and (last <= path.before if path.rising else last >= path.before):
        return None
    values: Sequence[float] = Rounded(path.values, dtype, last, rising=path.rising)
    return replace(path, values=list(values) if isinstance(path.values, list) else values)


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
