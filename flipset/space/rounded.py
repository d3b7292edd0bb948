"""Paths in columns whose type holds fewer numbers than Python's floats, such as float32.

Every value must reach the model as it is reported. So each point becomes a number that the type holds: the nearest one
at or beyond it on the way to the best value, so that it is still enough, and no further than the last one within the
bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

if TYPE_CHECKING:
    from flipset.space.path import Path


class Rounded(Sequence[float]):
    """The values of a path, rounded when asked for."""

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
        return min(value, self._last) if self._rising else max(value, self._last)


def held_by(path: Path, dtype: np.dtype[Any]) -> Path | None:
    """Return the path in values that a type of floats holds; None where it holds none beyond the value before."""
    last = nearest(path.values[-1], dtype, up=not path.rising)
    if path.feature.is_ordinary(path.before) and (last <= path.before if path.rising else last >= path.before):
        return None
    values: Sequence[float] = Rounded(path.values, dtype, last, rising=path.rising)
    return replace(path, values=list(values) if isinstance(path.values, list) else values)


def nearest(value: float, dtype: np.dtype[Any], *, up: bool) -> float:
    """Return the least number of a type at or above a value, or the greatest at or below it; finite in either case.

    Examples
    --------
    >>> nearest(0.1, np.dtype("float32"), up=True), nearest(0.1, np.dtype("float32"), up=False)
    (0.10000000149011612, 0.09999999403953552)
    >>> nearest(1e6, np.dtype("float16"), up=True)
    65504.0
    """
    with np.errstate(over="ignore"):
        found = dtype.type(value)
    if (float(found) < value) if up else (float(found) > value):
        found = np.nextafter(found, dtype.type(np.inf if up else -np.inf))
    most = float(np.finfo(dtype).max)
    return min(max(float(found), -most), most)
