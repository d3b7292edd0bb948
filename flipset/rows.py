"""One row, as people hand it over, and many rows, as a model takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError
from flipset.scores import read_scores
from flipset.space.feature import is_number, plain
from flipset.space.reference import read_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flipset.moves import Cells
    from flipset.space import Space
    from flipset.space.feature import Value
    from flipset.space.reference import Reference


class Row(tuple[Any, ...]):
    """The plain values of a row; `raw` has the cells as they came, for the columns that do not change."""

    raw: tuple[Any, ...]

    @classmethod
    def of(cls, cells: Iterable[Any]) -> Row:
        """Read cells."""
        raw = tuple(cells)
        row = cls(map(plain, raw))
        row.raw = raw
        return row


def read_row(row: Any, names: Sequence[str]) -> Row:
    """Read a mapping, a series, a list, a one-dimensional array, or a frame or array of one row."""
    if _is_frame(row):
        row = _only_row(row)
    if hasattr(row, "to_dict") and hasattr(row, "index"):  # a pandas Series
        row = row.to_dict()
    if isinstance(row, Mapping):
        missing = [name for name in names if name not in row]
        if missing:
            raise InputError(f"the row has no {missing[0]!r}; it needs {', '.join(map(repr, names))}")
        return Row.of(row[name] for name in names)
    if isinstance(row, Row):
        return row
    if isinstance(row, (str, bytes)) or not isinstance(row, (Sequence, np.ndarray)):
        raise InputError(f"a row must be a mapping, a series, a list or an array, got {type(row).__name__}")
    cells = list(row)
    if len(cells) == 1 and _is_row(cells[0]):
        cells = list(cells[0])
    if len(cells) != len(names):
        raise InputError(f"the row has {len(cells)} values; expected {len(names)}: {', '.join(map(repr, names))}")
    if any(map(_is_row, cells)):
        raise InputError("one row was expected, not several; explain_table takes a table")
    return Row.of(cells)


def check_row(space: Space, row: Row) -> Row:
    """Refuse cells that a feature cannot have; True and False in a column of numbers are 1 and 0."""
    cells = list(row)
    for i, feature in enumerate(space.features):
        value = row[i]
        if feature.fixed or feature.levels or not feature.ordered or not feature.is_ordinary(value):
            continue
        if not is_number(value):
            raise feature.error(f"the row has {value!r}; expected a finite number, a missing value or a special code")
        cells[i] = int(value) if isinstance(value, bool) else value
    checked = Row(cells)
    checked.raw = row.raw
    return checked


def _is_row(cell: Any) -> bool:
    return isinstance(cell, (Sequence, np.ndarray)) and not isinstance(cell, (str, bytes)) and np.ndim(cell) > 0


def make_table(width: int, reference: Reference | None, rows: Sequence[tuple[Sequence[Value], Cells]]) -> Any:
    """Return rows, each with some other cells: a frame like the reference, or an array without one."""
    numbers = _numbers(rows, _numeric(width, reference))
    if reference is not None:
        return _like(reference, numbers, partial(_column, rows))
    if numbers is not None:
        return numbers
    # Text needs an array of objects.
    table = np.empty((len(rows), width), dtype=object)
    for i in range(width):
        table[:, i] = [np.nan if value is None else value for value in _column(rows, i)]
    return table


def _numeric(width: int, reference: Reference | None) -> Sequence[bool]:
    """Say which columns can be made of numbers at once."""
    return [True] * width if reference is None else reference.numeric


def _like(reference: Reference, numbers: NDArray[np.float64] | None, cells: Callable[[int], list[Any]]) -> Any:
    """Return a frame of numbers, as far as there are, and of other cells, column by column."""
    if numbers is not None and (whole := reference.matrix(numbers)) is not None:
        return whole
    columns = []
    for i, is_numeric in enumerate(reference.numeric):
        made = reference.column(i, numbers[:, i]) if numbers is not None and is_numeric else None
        columns.append(cells(i) if made is None else made)
    return reference.table(columns)


class Pile:
    """Rows of numbers, some of which change: many questions about them become a table at once.

    Columns that hold anything else may be there too, as long as they do not change.
    """

    def __init__(self, reference: Reference | None, rows: list[Row], base: NDArray[np.float64]) -> None:
        self.reference = reference
        self.rows = rows
        self.base = base

    @classmethod
    def of(cls, width: int, reference: Reference | None, rows: list[Row]) -> Pile | None:
        """Pile rows up; None where some cell of a column of numbers is none."""
        base = _numbers([(row, ()) for row in rows], _numeric(width, reference))
        return None if base is None else cls(reference, rows, base)

    def takes(self, cells: Cells) -> bool:
        """Say whether these cells are such as may change."""
        numeric = _numeric(self.base.shape[1], self.reference)
        return all(numeric[column] for column, _ in cells) and _are_numbers([value for _, value in cells])

    def table(self, which: NDArray[np.intp], changed: NDArray[np.bool_], values: NDArray[np.float64]) -> Any:
        """Return rows by number, with the changed cells at their values."""
        numbers = np.where(changed, values[which], self.base[which])
        if self.reference is None:
            return numbers

        def cells(column: int) -> list[Any]:
            if _numeric(numbers.shape[1], self.reference)[column]:  # of a type that takes them one by one
                changes = zip(which.tolist(), changed[:, column].tolist(), numbers[:, column].tolist(), strict=True)
                return [number if is_new else _raw(self.rows[i])[column] for i, is_new, number in changes]
            return [_raw(self.rows[i])[column] for i in which.tolist()]

        return _like(self.reference, numbers, cells)


def ask_rows(
    predict: Callable[[Any], Any],
    width: int,
    reference: Reference | None,
    rows: Sequence[tuple[Sequence[Value], Cells]],
) -> list[float]:
    """Ask a model rows, each with some other cells; return one score each."""
    scores: list[float] = read_scores(predict, make_table(width, reference, rows)).tolist()
    return scores


def _numbers(rows: Sequence[tuple[Sequence[Value], Cells]], numeric: Sequence[bool]) -> NDArray[np.float64] | None:
    """Return the columns that hold numbers as one matrix, NaN where nothing is; None if some cell is no number."""
    width = len(numeric)
    bases: list[Sequence[Any]] = []
    of_base: list[int] = []
    places: list[int] = []
    values: list[Any] = []
    before: Any = None
    for j, (row, cells) in enumerate(rows):
        if row is not before:  # the questions about a row come together
            before = row
            bases.append(_raw(row))
        of_base.append(len(bases) - 1)
        start = j * width
        for column, value in cells:
            if numeric[column]:
                places.append(start + column)
                values.append(value)
    columns = list(zip(*bases, strict=True))
    base = np.zeros((len(bases), width))
    for i, is_numeric in enumerate(numeric):
        if is_numeric:
            if not _are_numbers(columns[i]):
                return None
            base[:, i] = columns[i]
    if not _are_numbers(values):
        return None
    matrix = base.take(of_base, axis=0)
    matrix.reshape(-1)[places] = values
    return matrix


def _are_numbers(values: Sequence[Any]) -> bool:
    """Say whether all are numbers that a float holds exactly, or missing; NumPy would take text for numbers, too."""
    kinds = set(map(type, values))
    if kinds <= {float}:
        return True
    if not all(kind is type(None) or issubclass(kind, (Real, np.bool_)) for kind in kinds):
        return False
    return all(-EXACT <= value <= EXACT for value in values if isinstance(value, (int, np.integer)))


EXACT = 1 << 53
"""Whole numbers up to this are floats without loss."""


def _column(rows: Sequence[tuple[Sequence[Value], Cells]], column: int) -> list[Any]:
    """Return one column of the rows, cell by cell."""
    return [next((value for i, value in cells if i == column), _raw(row)[column]) for row, cells in rows]


def _raw(row: Sequence[Value]) -> Sequence[Any]:
    return row.raw if isinstance(row, Row) else row


def read_rows(table: Any, names: Sequence[str]) -> list[Row]:
    """Read all rows of a frame, by its names, or of a two-dimensional array, by position."""
    if _is_frame(table):
        frame = read_frame(table)
        missing = [name for name in names if name not in frame.columns]
        if missing:
            raise InputError(f"the table has no column {missing[0]!r}; it needs {', '.join(map(repr, names))}")
        return [Row.of(cells) for cells in zip(*(frame[name].to_list() for name in names), strict=True)]
    if isinstance(table, (str, bytes, Mapping)) or not isinstance(table, (Sequence, np.ndarray)):
        raise InputError(f"expected a frame or an array of rows, got {type(table).__name__}")
    return [read_row(row, names) for row in table]


def plain_rows(table: Any) -> list[list[Value]]:
    """Return the cells of a frame or an array as plain values, row by row."""
    if _is_frame(table):
        return [[plain(cell) for cell in row] for row in read_frame(table).rows()]
    return [[plain(cell) for cell in row] for row in np.asarray(table).tolist()]


def kinds_of(table: Any) -> list[str]:
    """Return what the columns of a frame or an array hold: "bool", "int", "float" or "text".

    That is by their types, not by their cells, so that all parts of a table are alike; but for arrays of objects.
    """
    if _is_frame(table):
        return [_kind(dtype) for dtype in read_frame(table).schema.values()]
    array = np.asarray(table)
    kinds = {"b": "bool", "i": "int", "u": "int", "f": "float"}
    if array.dtype.kind in kinds:
        return [kinds[array.dtype.kind]] * array.shape[1]
    return ["float" if _are_numbers([plain(cell) for cell in column]) else "text" for column in array.T.tolist()]


def _kind(dtype: Any) -> str:
    """Return what a column of a type, as narwhals has it, holds."""
    if dtype.is_integer():
        return "int"
    if dtype.is_numeric():
        return "float"
    return "bool" if str(dtype) == "Boolean" else "text"


def _is_frame(table: Any) -> bool:
    return hasattr(table, "columns") and hasattr(table, "shape")


def _only_row(frame: Any) -> dict[str, Value]:
    table = read_frame(frame)
    if table.shape[0] != 1:
        raise InputError(f"one row was expected, the frame has {table.shape[0]}")
    return {name: table[name].to_list()[0] for name in table.columns}
