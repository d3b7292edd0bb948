"""The values that an expression computes with: for each row a number, a text, a point in time, or nothing.

A column may hold values of several kinds, such as numbers and a word in between. Each kind has an array of its own with
the places where it holds, so operations on a kind ignore the cells of another as if they were missing.

Numbers are float64. Only whole numbers that a float64 cannot hold stay Python's integers, so that comparisons are
exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    View = tuple[NDArray[Any], NDArray[np.bool_]]

MOST_DIGITS = 300
"""A decimal with more digits before its point is compared as a float."""

EXACT = 1 << 53
"""Whole numbers up to this size are float64 without loss."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The values of all rows.

    Attributes
    ----------
    what
        What they are, for messages.
    views
        For each kind ("number", "text", "time") an array, and where it holds a value. Arrays have a value for each row,
        or one value for all rows.
    is_truth
        Whether all values are true or false. Their numbers are then 1 and 0.
    """

    what: str
    views: Mapping[str, View]
    is_truth: bool = False

    def missing(self) -> NDArray[np.bool_]:
        """Return where there is no value of any kind."""
        found = np.zeros(1, dtype=bool)
        for _, holds in self.views.values():
            found = found | holds
        return ~found

    def truth(self) -> NDArray[np.bool_]:
        """Return where the value is true; a missing one is not."""
        if not self.is_truth:
            raise InputError(f"{self.what} is not a condition: compare it with something, as in x == 1")
        if not self.views:  # a column without any value
            return np.zeros(1, dtype=bool)
        values, holds = self.views["number"]
        return np.asarray(holds & (values == 1), dtype=bool)

    def numbers(self) -> View:
        """Return the numbers as float64, and where they are."""
        if "number" not in self.views:
            if self.views:
                raise InputError(f"{self.what} is not a number, which arithmetic needs")
            return np.zeros(1), np.zeros(1, dtype=bool)
        values, holds = self.views["number"]
        return (values if values.dtype == np.float64 else np.array([_float(one) for one in values])), holds


def negated(cells: Cells) -> Cells:
    """Return the numbers with the other sign; whole numbers of any size stay exact."""
    if "number" not in cells.views:
        return of_numbers(*cells.numbers())  # raises where there is something else than numbers
    values, holds = cells.views["number"]
    return Cells("a computed number", {"number": (-values, holds)})


def of_condition(values: NDArray[np.bool_]) -> Cells:
    """Return the result of a comparison."""
    return Cells("a condition", {"number": (values.astype(np.float64), np.ones(len(values), dtype=bool))}, True)


def of_numbers(values: NDArray[np.float64], holds: NDArray[np.bool_]) -> Cells:
    """Return the result of arithmetic; what is not a number is missing."""
    return Cells("a computed number", {"number": (values, holds & ~np.isnan(values))})


def of_literal(value: bool | int | float | str) -> Cells:
    """Return one value for all rows."""
    holds = np.ones(1, dtype=bool)
    if isinstance(value, str):
        return Cells(f"the text {value!r}", {"text": (np.array([value], dtype=object), holds)})
    what = ("true" if value else "false") if isinstance(value, bool) else f"the number {value}"
    return Cells(what, {"number": (_numbers([value]), holds)}, isinstance(value, bool))


def of_column(name: str, cells: Any) -> Cells:
    """Return the values of a column, given as an array, a list, or a column of pandas, polars or Arrow."""
    what = f"the column {name!r}"
    array = np.asarray(cells)
    if array.ndim != 1:
        raise InputError(f"there are several columns {name!r}")
    if isinstance(cells, np.ma.MaskedArray) or (array.dtype.kind == "f" and _holds_whole_numbers(cells)):
        # As an array, a masked cell would have some value, and a whole number beside a missing one would be rounded.
        return _of_objects(what, _listed(cells))
    if array.dtype.kind in "biuf":
        holds = ~np.isnan(array) if array.dtype.kind == "f" else np.ones(len(array), dtype=bool)
        return Cells(what, {"number": (_as_numbers(array), holds)}, array.dtype.kind == "b")
    if array.dtype.kind == "M":
        micro = array.astype("M8[us]")
        # Microseconds, as Python's dates have. Finer times keep their own unit: rounded, they might be equal.
        holds = ~np.isnat(array)
        return Cells(what, {"time": (array if (micro != array)[holds].any() else micro, holds)})
    return _of_objects(what, array.astype(object).tolist())


def as_time(cells: Cells) -> Cells:
    """Return a literal text as a point in time, to be compared with a column of dates."""
    (text,) = cells.views["text"][0]
    try:
        time = _time(datetime.fromisoformat(text))
    except ValueError:
        raise InputError(f"{cells.what} is not a date, such as '2026-01-31'") from None
    return Cells(cells.what, {"time": (np.array([time]), np.ones(1, dtype=bool))})


def differ(left: Cells, right: Cells) -> InputError:
    """Return the error about two kinds of values that cannot be compared; it names the column first."""
    if right.what.startswith("the column") and not left.what.startswith("the column"):
        left, right = right, left
    also = f", which {_held(right)}" if right.what.startswith("the column") else ""
    return InputError(f"{left.what} {_held(left)} and cannot be compared with {right.what}{also}")


def _held(cells: Cells) -> str:
    kinds = {"number": "numbers", "text": "texts", "time": "dates"}
    return f"holds {' and '.join(kinds[kind] for kind in cells.views)}"


# --- reading cells ----------------------------------------------------------------------------------------------------


def _of_objects(what: str, cells: list[Any]) -> Cells:
    kinds = [_kind(what, cell) for cell in cells]
    views: dict[str, View] = {}
    for kind in ("number", "text", "time"):
        holds = np.array([one in (kind, "truth") if kind == "number" else one == kind for one in kinds], dtype=bool)
        if holds.any():
            made = [cell if here else None for cell, here in zip(cells, holds, strict=True)]
            views[kind] = _made(kind, made), holds
    return Cells(what, views, not views or (views.keys() == {"number"} and "number" not in kinds))


def _holds_whole_numbers(column: Any) -> bool:
    """Say whether a column is one of whole numbers by its own type, in pandas, polars or Arrow."""
    return str(getattr(column, "dtype", getattr(column, "type", ""))).lower().startswith(("int", "uint"))


def _listed(column: Any) -> list[Any]:
    """Return the cells of a column one by one, as they are; missing ones are None or pandas' NA."""
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow; polars and pandas; NumPy, where masked cells become None
        if hasattr(column, method):
            cells: list[Any] = getattr(column, method)()
            return cells
    return list(column)


def _kind(what: str, cell: Any) -> str:
    if isinstance(cell, str):
        return "text"
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(cell, (bool, np.bool_)):
        return "truth"
    if isinstance(cell, Decimal):
        return "" if cell.is_nan() else "number"
    if isinstance(cell, (int, float, np.integer, np.floating)):
        return "number" if cell == cell else ""
    if isinstance(cell, (date, np.datetime64)):
        return "time" if cell == cell else ""
    raise InputError(f"{what} holds a {type(cell).__name__}, which cannot be compared")


def _made(kind: str, cells: list[Any]) -> NDArray[Any]:
    if kind == "number":
        return _numbers([0 if cell is None else cell for cell in cells])
    if kind == "time":
        return np.array([np.datetime64(0, "us") if cell is None else _time(cell) for cell in cells])
    return np.array(cells, dtype=object)


def _as_numbers(array: NDArray[Any]) -> NDArray[Any]:
    big = array.dtype.kind in "iu" and len(array) and (int(array.max()) > EXACT or int(array.min()) < -EXACT)
    return np.array(array.tolist(), dtype=object) if big else array.astype(np.float64)


def _numbers(cells: list[Any]) -> NDArray[Any]:
    plain = [_plain(cell) for cell in cells]
    if any(isinstance(cell, int) and abs(cell) > EXACT for cell in plain):
        return np.array(plain, dtype=object)
    return np.array(plain, dtype=np.float64)


def _plain(cell: Any) -> int | float:
    if isinstance(cell, Decimal):
        # A float holds the sizes beyond as infinity; as whole numbers they could have a billion digits.
        whole = cell.is_finite() and cell.adjusted() <= MOST_DIGITS and cell == cell.to_integral_value()
        return int(cell) if whole else float(cell)
    if isinstance(cell, (bool, np.bool_)):
        return int(cell)
    return int(cell) if isinstance(cell, (int, np.integer)) else float(cell)


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def _time(cell: Any) -> np.datetime64[Any]:
    # NumPy has no time zones. In UTC, points in time compare as they should.
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(cell.isoformat() if isinstance(cell, date) else cell, "us")
