"""Cells of explanations read from JSON: the types that `write_value` writes."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from math import copysign
from typing import TYPE_CHECKING, TypeVar

from flipset.results.to_json import is_moderate

if TYPE_CHECKING:
    from collections.abc import Callable

    from flipset.boundary.reading import Field
    from flipset.space.feature import Value

T = TypeVar("T")


def optional(field: Field | None, read: Callable[[Field], T]) -> T | None:
    """Read a member that may be null, or not there."""
    return None if field is None or field.value is None else read(field)


def if_there(field: Field | None, read: Callable[[Field], T]) -> T | None:
    """Read a member that is left out where there is nothing to say; null does not stand for that."""
    return None if field is None else read(field)


def same_cell(cell: Value, other: Value) -> Value:
    """Return the other cell if both are the same number, so that it takes memory once."""
    # 0.0 equals -0.0, and 1 equals 1.0: these are not the same.
    if not (type(cell) is type(other) is float and cell == other):
        return cell
    return other if cell or copysign(1, cell) == copysign(1, other) else cell


def read_value(field: Field) -> Value:
    """Read a cell."""
    value = field.value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return field.text()
    if not isinstance(value, dict):
        return field.number()
    tagged = _read_tagged(field)
    return field.refuse(CELL) if tagged is None else tagged


def _read_tagged(field: Field) -> Value:
    """Read a cell that is an object with the name of its type; None if it is malformed."""
    if len(field.value) != 1:
        return None
    ((tag, inner),) = field.members((), TAGS).items()
    text = inner.text()
    try:
        if tag == "datetime":
            return datetime.fromisoformat(text)
        if tag == "date":
            return date.fromisoformat(text)
        if tag == "decimal":
            number = Decimal(text)
            return number if is_moderate(number) or number.is_infinite() else None
    except (ValueError, InvalidOperation):
        return None
    return float(text) if text in ("inf", "-inf", "nan") else None


CELL = 'a cell: null, true, a number, a string, or an object such as {"float": "inf"} or {"date": "2026-01-31"}'

TAGS = ("float", "datetime", "date", "decimal")
"""The types of a cell that is an object."""
