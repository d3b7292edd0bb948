"""When two rows are the same: exactly when the model is given the same values of the same types.

In Python, 1, 1.0 and True are equal, and reading a table cell by cell turns both NaN and null into None. A model may
tell all of these apart. So everything that rows share (one result for equal rows of a table, one answer for equal rows
of a call, an answer on disk) is found by the keys made here. They go by type and value; NaN equals itself, and -0.0
differs from 0.0.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Key = Hashable

WORD = 8
"""The most bytes of a cell that is compared as a whole number."""

MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose bits look random, for hashes of rows; collisions are noticed."""

WRITTEN_PLAINLY = frozenset({"float64", "int64", "bool", "object", "str", "Float64", "Int64", "Boolean", "String"})
"""Column types whose cells JSON writes without loss. The types of other columns are written before the cells."""


def cell_key(cell: Any) -> tuple[type, Hashable]:
    """Return a key that is equal for the same cells, and only for them.

    Examples
    --------
    >>> cell_key(1) == cell_key(True), cell_key(0.0) == cell_key(-0.0), cell_key(float("nan")) == cell_key(float("nan"))
    (False, False, True)
    """
    kind = type(cell)
    if kind is float:  # nearly all cells are of these types, so they come first
        # NaN does not equal itself, and 0.0 equals -0.0. Their texts compare as they should.
        return (kind, cell) if cell == cell and cell != 0.0 else (kind, repr(cell))
    if kind is int or kind is str or kind is bool or cell is None:
        return kind, cell
    return kind, repr(cell)


def row_key(cells: Sequence[Any]) -> Key:
    """Return a key that is equal for the same rows, and only for them."""
    # Flat, because the rows of a table are kept by these keys: a tuple for each cell would take three times the memory.
    return tuple([part for cell in cells for part in cell_key(cell)])


def table_keys(table: Any) -> list[Key]:
    """Return a key for each row of a frame or an array."""
    # The bytes of a row are the fastest key. They do where all cells of a column have one fixed-width type.
    if isinstance(table, np.ndarray):
        return list(map(row_key, table.tolist())) if table.dtype == object else _bytes_of_rows(table)
    if hasattr(table, "iloc") and len(kinds := set(table.dtypes)) == 1 and _is_plain(kinds.pop()):
        return _bytes_of_rows(table.to_numpy())
    numbers: list[NDArray[Any]] = []
    others: list[list[Key]] = []
    for column in _columns(table):
        plain = _as_numbers(column)
        if plain is None:
            others.append(list(map(cell_key, _cells(column))))
        else:
            numbers.append(plain)
    keys: list[Key] = []
    if numbers:
        fields = [(f"c{i}", column.dtype) for i, column in enumerate(numbers)]
        # A structured array stores each row in one piece, so the bytes of a row are its key.
        packed = np.empty(len(numbers[0]), dtype=fields)
        for (name, _), column in zip(fields, numbers, strict=True):
            packed[name] = column
        keys = _bytes_of_rows(packed)
    if not others:
        return keys
    return list(zip(keys, *others, strict=True)) if numbers else list(zip(*others, strict=True))


def row_texts(table: Any) -> list[str]:
    """Return a text for each row of a frame or an array, with its values and types, to be kept in a file.

    Examples
    --------
    >>> row_texts(np.array([[1.0, 2.5]])), row_texts(np.array([[1, True, None]], dtype=object))
    (['[1.0, 2.5]'], ['[1, true, null]'])
    """
    if isinstance(table, np.ndarray):
        types = [str(table.dtype)]
        cells: list[Any] = table.tolist()
    else:
        columns = _columns(table)
        types = [str(getattr(column, "dtype", None) or column.type) for column in columns]
        types = [_tagged(kind, column) for kind, column in zip(types, columns, strict=True)]
        cells = list(zip(*map(_cells, columns), strict=True))
    # The usual types are left out: these texts are the keys of journals, and most tables have no others.
    before = "" if WRITTEN_PLAINLY.issuperset(types) else json.dumps(types) + " "
    return [before + json.dumps(list(map(_json, row))) for row in cells]


def each_row_once(ask: Callable[[Any], NDArray[np.float64]]) -> Callable[[Any], NDArray[np.float64]]:
    """Return a function that scores a table like `ask`, but passes each of several equal rows on only once."""

    def ask_once(table: Any) -> NDArray[np.float64]:
        different, which = different_rows(table)
        return ask(different) if which is None else ask(different)[which]

    return ask_once


def different_rows(table: Any) -> tuple[Any, NDArray[np.intp] | None]:
    """Return the distinct rows of a table, and for each row of the table its position among them.

    Where all rows are distinct, return the table itself, and None.
    """
    # Every row that is scored passes here, so there is no loop over rows in Python.
    words = _as_words(table)
    if words is not None:
        first, which = np.unique(first_of_equal(words), return_inverse=True)
        return (table, None) if len(first) == len(which) else (take_rows(table, first.tolist()), which)
    keys = table_keys(table)
    distinct = dict.fromkeys(keys)
    if len(distinct) == len(keys):
        return table, None
    position = dict(zip(distinct, range(len(distinct)), strict=True))
    which = np.fromiter(map(position.__getitem__, keys), dtype=np.intp, count=len(keys))
    # Positions are given in the order of the rows. So a row is the first of its kind where they reach a new maximum.
    is_first = np.diff(np.maximum.accumulate(which), prepend=-1) > 0
    return take_rows(table, np.flatnonzero(is_first).tolist()), which


def _as_words(table: Any) -> NDArray[np.uint64] | None:
    """Return whole numbers that tell the cells of each column apart; None where a column has another kind of cells."""
    columns: list[NDArray[Any]] = []
    if isinstance(table, np.ndarray):
        columns = [table]
    elif hasattr(table, "iloc") and len(kinds := set(table.dtypes)) == 1 and _is_plain(kinds.pop()):
        columns = [table.to_numpy()]
    else:
        for column in _columns(table):
            plain = _as_numbers(column)
            if plain is None:
                return None
            columns.append(plain.reshape(-1, 1))
    if not columns or any(column.dtype.kind not in "biuf" or column.dtype.itemsize > WORD for column in columns):
        return None
    # Bytes tell 0.0 from -0.0, and find NaN equal to itself.
    parts = [np.ascontiguousarray(one).view(f"u{one.dtype.itemsize}").astype(np.uint64, copy=False) for one in columns]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def first_of_equal(lines: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return for each line of an array the number of the first line that is equal to it."""
    hashes = np.zeros(len(lines), dtype=np.uint64)
    for column in lines.T:
        hashes = (hashes ^ column) * MIX
        hashes ^= hashes >> np.uint64(29)
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    firsts: NDArray[np.intp] = first[which]
    if (lines[firsts] == lines).all():
        return firsts
    # Two different lines have the same hash: compare all lines in full.
    _, first, which = np.unique(lines, axis=0, return_index=True, return_inverse=True)
    return np.asarray(first[which.reshape(-1)], dtype=np.intp)


def take_rows(table: Any, places: list[int]) -> Any:
    """Return some rows of a frame or an array, as an object of the same kind."""
    if hasattr(table, "iloc"):
        return table.iloc[places]
    return table.take(places) if hasattr(table, "schema") and hasattr(table, "take") else table[places]


def _bytes_of_rows(array: NDArray[Any]) -> list[Key]:
    """Return the bytes of each row of an array."""
    # A slice of a larger array has other cells between its rows.
    whole = np.ascontiguousarray(array)
    width = whole.nbytes // max(len(whole), 1)
    if not width:
        return [b""] * len(whole)
    keys: list[Key] = whole.view(f"V{width}").reshape(-1).tolist()
    return keys


def _columns(frame: Any) -> list[Any]:
    """Return the columns of a pandas, polars or Arrow frame."""
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, i] for i in range(frame.shape[1])]
    return list(frame.get_columns() if hasattr(frame, "get_columns") else frame.columns)


def _as_numbers(column: Any) -> NDArray[Any] | None:
    """Return a column as an array whose bytes tell its cells apart; None where there is no such array."""
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype):
        return column.to_numpy() if _is_plain(dtype) else None
    # A null has some bytes, too, which could be those of another cell.
    if dtype is not None and hasattr(column, "null_count") and not column.null_count() and dtype.is_numeric():
        made: NDArray[Any] = column.to_numpy()
        return made if _is_plain(made.dtype) else None
    return None


def _is_plain(dtype: Any) -> bool:
    """Say whether the bytes of an array of this type tell its cells apart."""
    return isinstance(dtype, np.dtype) and dtype.kind != "O"


def _cells(column: Any) -> list[Any]:
    cells: list[Any] = column.to_pylist() if hasattr(column, "to_pylist") else list(column.to_list())
    return cells


def _tagged(kind: str, column: Any) -> str:
    """Return the name of a column's type; the extension types of pandas get a prefix, as polars has the same names."""
    own = hasattr(column, "iloc") and not isinstance(column.dtype, np.dtype) and kind in WRITTEN_PLAINLY
    return f"pandas {kind}" if own and kind != "str" else kind


def _json(cell: Any) -> Any:
    """Return a cell for JSON; a cell that JSON has no type for is written with its type."""
    if cell is None or type(cell) in (bool, int, float, str):
        return cell
    return {type(cell).__name__: str(cell)}
