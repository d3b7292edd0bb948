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


def make_table(space: Space, row: Sequence[Value], changes: Sequence[Cells]) -> Any:
    """Return rows that differ from `row` in these cells: a frame like the reference, or an array without one."""
    if space.reference is None:
        return _array(row, changes)
    columns: list[list[Value]] = [[value] * len(changes) for value in row]
    for j, cells in enumerate(changes):
        for column, value in cells:
            columns[column][j] = value
    return space.reference.table(columns)


def _array(row: Sequence[Value], changes: Sequence[Cells]) -> Any:
    numbers = all(value is None or isinstance(value, (bool, int, float)) for value in row) and all(
        value is None or isinstance(value, (bool, int, float)) for cells in changes for _, value in cells
    )
    # Text needs an array of objects; numbers are given as models expect them, with NaN where nothing is.
    table = np.empty((len(changes), len(row)), dtype=np.float64 if numbers else object)
    table[:] = np.array([np.nan if value is None else value for value in row], dtype=table.dtype)
    for j, cells in enumerate(changes):
        for column, value in cells:
            table[j, column] = np.nan if value is None else value
    return table


def _only_row(frame: Any) -> dict[str, Value]:
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    if table.shape[0] != 1:
        raise InputError(f"one row was expected, the frame has {table.shape[0]}")
    return {name: table[name].to_list()[0] for name in table.columns}
