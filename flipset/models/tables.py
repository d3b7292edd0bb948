"""Rows as a model takes them: a frame like the reference, or an array where there is none.

Invariant: what the model is given for a row depends on that row alone. Without a reference, one row with text would
turn a whole array of numbers into an array of objects, and the model might score the other rows differently. So rows
of numbers and rows with text go into separate calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.space.feature import plain
from flipset.space.multiples import EXACT
from flipset.space.reference import read_frame
from flipset.space.rows import Row, is_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flipset.space.cells import Cells
    from flipset.space.feature import Value
    from flipset.space.reference import Reference

RowQuery = tuple[Sequence[Any], "Cells"]
"""A row, and the cells in which the row to be scored differs from it."""


def ask_rows(
    score: Callable[[Any], NDArray[np.float64]],
    width: int,
    reference: Reference | None,
    queries: Sequence[RowQuery],
) -> list[float]:
    """Return the score of each query; `score` scores a table."""
    scores = np.empty(len(queries))
    for places, table in make_tables(width, reference, queries):
        scores[places] = score(table)
    listed: list[float] = scores.tolist()
    return listed


def make_tables(
    width: int, reference: Reference | None, queries: Sequence[RowQuery]
) -> list[tuple[Sequence[int] | slice, Any]]:
    """Return queries as tables, each with the places of its queries: one frame, or arrays where there is no reference.

    `width` is the number of columns.
    """
    numbers = _numbers(queries, _numeric(width, reference), reference)
    if reference is not None:
        return [(slice(None), _like(reference, numbers, partial(_column, queries)))]
    if numbers is not None:
        return [(slice(None), numbers)]
    # Some row holds something other than numbers. Rows that have the same kinds of cells, column by column, share a
    # table, and rows of numbers share one of their own.
    alike: dict[tuple[str, ...], list[int]] = {}  # places of queries, by the kinds of their cells; () for numbers
    for i, (row, cells) in enumerate(queries):
        values = list(row)
        for column, value in cells:
            values[column] = value
        kinds = tuple(map(_kind_of_cell, values))
        alike.setdefault(kinds if "text" in kinds else (), []).append(i)
    tables: list[tuple[Sequence[int] | slice, Any]] = []
    for kinds, places in alike.items():
        some = [queries[i] for i in places]
        # Numbers that a float does not hold exactly need objects, too.
        made = None if kinds else _numbers(some, [True] * width, None)
        tables.append((places, _objects(width, some) if made is None else made))
    return tables


def _kind_of_cell(value: Any) -> str:
    """Return what a cell holds, "bool", "float" or "text", where no column type says it."""
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    return "float" if _are_numbers([value]) else "text"


def _objects(width: int, queries: Sequence[RowQuery]) -> NDArray[np.object_]:
    """Return rows whose cells are not all numbers, as an array of objects; a missing value becomes NaN."""
    table = np.empty((len(queries), width), dtype=object)
    for i in range(width):
        for j, value in enumerate(_column(queries, i, raw=False)):
            table[j, i] = np.nan if plain(value) is None else value
    return table


def _numeric(width: int, reference: Reference | None) -> Sequence[bool]:
    """Say which columns can be filled from an array of numbers."""
    return [True] * width if reference is None else reference.numeric


def _like(reference: Reference, numbers: NDArray[np.float64] | None, cells: Callable[[int], list[Any]]) -> Any:
    """Return a frame with the types of the reference.

    Columns come from `numbers` where possible; for the others, `cells` returns a column cell by cell.
    """
    if numbers is not None and (whole := reference.matrix(numbers)) is not None:
        return whole  # all columns are floats of pandas: one step, by far the fastest
    columns = []
    for i, is_numeric in enumerate(reference.numeric):
        made = reference.column(i, numbers[:, i]) if numbers is not None and is_numeric else None
        columns.append(cells(i) if made is None else made)
    return reference.table(columns)


class NumericRows:
    """Rows of numbers, for the table search: many queries about them become a table in one step.

    Columns that hold something else are allowed, too, as long as they never change.

    Attributes
    ----------
    reference
        The frame whose types the tables have; None for arrays.
    base
        The rows as a matrix; columns without numbers are 0 there.
    given
        Returns the cell of a row and a column as it was given.
    """

    def __init__(
        self, reference: Reference | None, base: NDArray[np.float64], given: Callable[[int, int], Any]
    ) -> None:
        self.reference = reference
        self.base = base
        self.given = given

    @classmethod
    def of(cls, width: int, reference: Reference | None, rows: Sequence[Row]) -> NumericRows:
        """Take rows for which `is_numeric_row` is true."""
        if not rows:
            return cls(reference, np.zeros((0, width)), lambda i, column: rows[i].raw[column])
        base = _numbers([(row, ()) for row in rows], _numeric(width, reference), reference)
        assert base is not None, "the caller has checked is_numeric_row"
        return cls(reference, base, lambda i, column: rows[i].raw[column])

    def table(self, which: NDArray[np.intp], changed: NDArray[np.bool_], numbers: NDArray[np.float64]) -> Any:
        """Return one row for each number in `which`, as given in `numbers`; `changed` are the cells that differ."""
        if self.reference is None:
            return numbers

        def cells(column: int) -> list[Any]:
            # A numeric column comes here when its type cannot take the array as it is, as with a missing value in a
            # column of integers. Unchanged cells are then passed on as they were given.
            if _numeric(numbers.shape[1], self.reference)[column]:
                changes = zip(which.tolist(), changed[:, column].tolist(), numbers[:, column].tolist(), strict=True)
                # A computed number may be missing, as NaN.
                return [plain(number) if is_new else self.given(i, column) for i, is_new, number in changes]
            return [self.given(i, column) for i in which.tolist()]

        return _like(self.reference, numbers, cells)


def are_numeric_cells(cells: Cells, width: int, reference: Reference | None) -> bool:
    """Say whether `NumericRows` can change cells to these values."""
    numeric = _numeric(width, reference)
    return all(numeric[column] for column, _ in cells) and _are_numbers([value for _, value in cells])


def is_numeric_row(row: Row, reference: Reference | None) -> bool:
    """Say whether `NumericRows` can hold a row: whether there are numbers in all columns for them."""
    if reference is None:
        return _are_numbers(row)
    return _are_numbers([cell for cell, is_numeric in zip(row.raw, reference.numeric, strict=True) if is_numeric])


def _numbers(
    queries: Sequence[RowQuery], numeric: Sequence[bool], reference: Reference | None
) -> NDArray[np.float64] | None:
    """Return the numeric columns as one matrix, with NaN for missing values; None if some cell is not a number.

    Columns that are not numeric are left at 0.
    """
    width = len(numeric)
    # Queries about the same row follow each other, so each row is read once (`bases`), copied for each of its queries
    # (`of_base`), and the changed cells are written on top, all in one step: `places` counts cells row by row.
    bases: list[Sequence[Any]] = []
    of_base: list[int] = []
    places: list[int] = []
    values: list[Any] = []
    before: Any = None
    for j, (row, cells) in enumerate(queries):
        if row is not before:
            before = row
            bases.append(_cells(row, raw=reference is not None))
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
    # One copy and one assignment: for small models, a loop over queries would take longer than the model.
    matrix = base.take(of_base, axis=0)
    matrix.reshape(-1)[places] = values
    return matrix


_NUMBERS = (int, float, np.integer, np.floating, np.bool_, type(None))


def _are_numbers(values: Sequence[Any]) -> bool:
    """Say whether all values are missing or numbers that a float holds exactly."""
    # NumPy alone cannot tell: it would read the text "1" as a number, and round integers above 2^53.
    kinds = set(map(type, values))
    if kinds <= {float}:  # the usual case
        return True
    if not all(issubclass(kind, _NUMBERS) and kind is not np.longdouble for kind in kinds):
        return False
    return all(-EXACT <= value <= EXACT for value in values if isinstance(value, (int, np.integer)))


def _column(queries: Sequence[RowQuery], column: int, *, raw: bool = True) -> list[Any]:
    """Return one column of the rows, cell by cell."""
    return [next((value for i, value in cells if i == column), _cells(row, raw=raw)[column]) for row, cells in queries]


def _cells(row: Sequence[Value], *, raw: bool) -> Sequence[Any]:
    """Return the cells of a row: as given, for frames whose types can hold them, or else as plain values."""
    return row.raw if raw and isinstance(row, Row) else row


def plain_rows(table: Any) -> list[list[Value]]:
    """Return the cells of a frame or an array as plain values, row by row."""
    if is_frame(table):
        return [[plain(cell) for cell in row] for row in read_frame(table).rows()]
    return [[plain(cell) for cell in row] for row in np.asarray(table).tolist()]


def kinds_of(table: Any) -> list[str]:
    """Return what each column of a frame or an array holds: "bool", "int", "float" or "text".

    The type of a column decides, not its cells, so that all parts of a table agree. Only in an array of objects, which
    has no types, do the cells decide.
    """
    if is_frame(table):
        return [_kind(dtype) for dtype in read_frame(table).schema.values()]
    array = np.asarray(table)
    kinds = {"b": "bool", "i": "int", "u": "int", "f": "float"}
    if array.dtype.kind in kinds:
        return [kinds[array.dtype.kind]] * array.shape[1]
    of_cells = [{_kind_of_cell(plain(cell)) for cell in column} for column in array.T.tolist()]
    return ["text" if "text" in seen else "bool" if seen == {"bool"} else "float" for seen in of_cells]


def _kind(dtype: Any) -> str:
    """Return what a column of one of narwhals' types holds."""
    if dtype.is_integer():
        return "int"
    if dtype.is_numeric():
        return "float"
    return "bool" if str(dtype) == "Boolean" else "text"
