"""One row, as people hand it over, and many rows, as a model takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError
from flipset.space.feature import plain

if TYPE_CHECKING:
    from flipset.moves import Cells
    from flipset.space import Space
    from flipset.space.feature import Value


def read_row(row: Any, names: Sequence[str]) -> tuple[Value, ...]:
    """Read a mapping, a series, a list, a one-dimensional array, or a frame or array of one row."""
    if hasattr(row, "columns") and hasattr(row, "shape"):  # a frame
        row = _only_row(row)
    if hasattr(row, "to_dict") and hasattr(row, "index"):  # a pandas Series
        row = row.to_dict()
    if isinstance(row, Mapping):
        missing = [name for name in names if name not in row]
        if missing:
            raise InputError(f"the row has no {missing[0]!r}; it needs {', '.join(map(repr, names))}")
        return tuple(plain(row[name]) for name in names)
    if isinstance(row, (str, bytes)) or not isinstance(row, (Sequence, np.ndarray)):
        raise InputError(f"a row must be a mapping, a series, a list or an array, got {type(row).__name__}")
    cells = list(row)
    if len(cells) == 1 and len(names) > 1 and isinstance(cells[0], (Sequence, np.ndarray)):
        cells = list(cells[0])
    if len(cells) != len(names):
        raise InputError(f"the row has {len(cells)} values; expected {len(names)}: {', '.join(map(repr, names))}")
    return tuple(map(plain, cells))


def make_table(space: Space, rows: Sequence[tuple[Sequence[Value], Cells]]) -> Any:
    """Return rows, each with some other cells: a frame like the reference, or an array without one."""
    columns: list[list[Value]] = [list(column) for column in zip(*(row for row, _ in rows), strict=True)]
    for j, (_, cells) in enumerate(rows):
        for column, value in cells:
            columns[column][j] = value
    if space.reference is not None:
        return space.reference.table(columns)
    # Text needs an array of objects; numbers are given as models expect them, with NaN where nothing is.
    numbers = all(value is None or isinstance(value, (bool, int, float)) for column in columns for value in column)
    table = np.empty((len(rows), len(columns)), dtype=np.float64 if numbers else object)
    for i, cells_of in enumerate(columns):
        table[:, i] = [np.nan if value is None else value for value in cells_of]
    return table


def read_rows(table: Any, names: Sequence[str]) -> list[tuple[Value, ...]]:
    """Read all rows of a frame, by its names, or of a two-dimensional array, by position."""
    if hasattr(table, "columns") and hasattr(table, "shape"):
        import narwhals as nw

        try:
            frame = nw.from_native(table, eager_only=True)
        except TypeError:
            raise InputError(f"expected a frame or an array of rows, got {type(table).__name__}") from None
        missing = [name for name in names if name not in frame.columns]
        if missing:
            raise InputError(f"the table has no column {missing[0]!r}; it needs {', '.join(map(repr, names))}")
        return list(zip(*([plain(value) for value in frame[name].to_list()] for name in names), strict=True))
    if isinstance(table, (str, bytes, Mapping)) or not isinstance(table, (Sequence, np.ndarray)):
        raise InputError(f"expected a frame or an array of rows, got {type(table).__name__}")
    return [read_row(row, names) for row in table]


def _only_row(frame: Any) -> dict[str, Value]:
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    if table.shape[0] != 1:
        raise InputError(f"one row was expected, the frame has {table.shape[0]}")
    return {name: table[name].to_list()[0] for name in table.columns}
