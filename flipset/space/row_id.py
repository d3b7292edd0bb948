"""The identifier of a row: what a person calls a case, and by what a result is joined to other tables.

It is written exactly as it is. Where a row has none, its number, counted from 0, takes its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.space.feature import Value

RowId: TypeAlias = "Mapping[str, Value]"
"""Cells by the names of their columns: several where the index of a frame has several levels."""


def id_text(own: RowId) -> str:
    """Write an identifier for people, exactly as it is: no separators, no rounding.

    Examples
    --------
    >>> id_text({"client": "00123"}), id_text({"client": 1234567}), id_text({"region": "north", "client": 7})
    ('client 00123', 'client 1234567', 'region north, client 7')
    """
    return ", ".join(f"{name} {cell_text(cell)}" for name, cell in own.items())


def case_text(own: RowId) -> str:
    """Write an identifier after the word "Case": the name of its column is left out where it says the same.

    Examples
    --------
    >>> case_text({"client": "00123"}), case_text({"case": "00123"})
    ('client 00123', '00123')
    """
    return id_text(own) if [name.lower() for name in own] != ["case"] else cell_text(*own.values())


def cell_text(cell: Value) -> str:
    """Write one cell of an identifier."""
    if cell is None:
        return "missing"
    # A column of whole numbers with gaps is a column of floats in pandas, and its 7.0 is a 7.
    return repr(cell).removesuffix(".0") if isinstance(cell, float) else str(cell)


def row_text(row: int, own: RowId | None) -> str:
    """Name a row for people: by its identifier, or by its number where it has none.

    Examples
    --------
    >>> row_text(3, {"client": "00123"}), row_text(3, {"client": None}), row_text(3, None)
    ('client 00123', 'row 3', 'row 3')
    """
    return id_text(own) if is_known(own) and own is not None else f"row {row}"


def place_text(row: int, own: RowId | None) -> str:
    """Name a row by its number and, if it has one, its identifier: "row 3 (client 00123)"."""
    return f"row {row} ({id_text(own)})" if is_known(own) and own is not None else f"row {row}"


def is_known(own: RowId | None) -> bool:
    """Say whether a row has an identifier: at least one of its cells is not missing."""
    return own is not None and any(cell is not None for cell in own.values())
