"""Groups of rows: rows with the same value in a column. A missing value is a group, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.space.feature import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_OFFERED = 12
"""The most values of a column that is offered for comparing groups."""


def group_columns(frame: Any) -> list[str]:
    """Return the columns with few enough values for comparing groups."""
    return [name for name in frame.columns if 1 < len(list(_first_groups(frame[name]))) <= MOST_OFFERED]


def groups_of(frame: Any, by: str) -> list[str]:
    """Return the group of each row by this column."""
    if by not in frame.columns:
        raise InputError(f"there is no column {by!r} to compare by")
    return [_group(value) for value in frame[by].tolist()]


def _first_groups(column: Any) -> Iterator[str]:
    """Yield the different values of a column until there are too many."""
    seen: set[str] = set()
    for value in column.tolist():
        if (text := _group(value)) not in seen:
            seen.add(text)
            yield text
            if len(seen) > MOST_OFFERED:
                return


def _group(value: Any) -> str:
    return "missing" if plain(value) is None else str(value)
