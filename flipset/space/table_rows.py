"""The rows of a table, kept as columns: a `Row` is made when somebody asks for one.

Most rows of a table are searched in arrays and never looked at one by one. So a table is read into one matrix of
numbers, with the types of its columns beside it. Everything is copied: what the caller does to the table afterwards
changes no row here.

A table is read in this way where no cell can be refused: each column has exactly the type of the same column of the
reference, so it holds nothing that the reference does not, or the table is an array of numbers and there is no
reference. Other tables are read row by row, and `matrix` is None.

Invariants:

- `rows[i]` is the row that `read_rows` returns, to the type of each cell.
- Two rows have the same number in `first_of_equal` exactly if they are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from flipset.errors import InputError
from flipset.space.identity import cell_key, first_of_equal
from flipset.space.multiples import EXACT
from flipset.space.reference import read_frame
from flipset.space.rows import Row, is_frame, read_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flipset.space.reference import Reference

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]


class TableRows(Sequence["Row | InputError"]):
    """The rows of a table in order; a row that cannot be read is its error.

    Attributes
    ----------
    matrix
        The numbers of all cells, one line for each row, with NaN for missing ones and 0 in columns that hold no
        numbers. None where rows were read one by one.
    """

    def __init__(
        self, listed: list[Row | InputError] | None, columns: Sequence[_Column], matrix: Floats | None
    ) -> None:
        self._listed = listed
        self._columns = columns
        self.matrix = matrix

    def __len__(self) -> int:
        if self._listed is not None:
            return len(self._listed)
        assert self.matrix is not None, "a table is a list of rows or a matrix"
        return len(self.matrix)

    @overload
    def __getitem__(self, i: int) -> Row | InputError: ...
    @overload
    def __getitem__(self, i: slice) -> list[Row | InputError]: ...
    def __getitem__(self, i: int | slice) -> Row | InputError | list[Row | InputError]:
        """Return a row, or a list of some."""
        if self._listed is not None:
            return self._listed[i]
        if isinstance(i, slice):
            return [self._made(k) for k in range(*i.indices(len(self)))]
        return self._made(range(len(self))[i])

    def __iter__(self) -> Iterator[Row | InputError]:
        return map(self.__getitem__, range(len(self)))

    def _made(self, i: int) -> Row:
        return Row.of([column.cell(i) for column in self._columns])

    def row(self, i: int) -> Row:
        """Return a row that can be read; raise its error otherwise."""
        row = self[i]
        if isinstance(row, InputError):
            raise row
        return row

    def cell(self, i: int, column: int) -> Any:
        """Return a cell of a table that is a matrix, as it was given."""
        return self._columns[column].cell(i)

    def readable(self) -> Ints:
        """Return the numbers of the rows that can be read."""
        if self._listed is None:
            return np.arange(len(self))
        return np.flatnonzero([not isinstance(row, InputError) for row in self._listed])

    def pieces(self, size: int) -> list[TableRows]:
        """Return the rows as tables of at most `size` rows, in order."""
        return [self.part(np.arange(start, min(start + size, len(self)))) for start in range(0, len(self), size)]

    def part(self, rows: Ints) -> TableRows:
        """Return some rows, by their numbers, as a table of their own."""
        if self._listed is not None:
            return TableRows([self._listed[i] for i in rows.tolist()], (), None)
        assert self.matrix is not None, "a table is a list of rows or a matrix"
        return TableRows(None, [column.part(rows) for column in self._columns], self.matrix[rows])

    def first_of_equal(self) -> Ints:
        """Return for each row the number of the first row that is equal to it."""
        if self._listed is None:
            assert self.matrix is not None, "a table is a list of rows or a matrix"
            return first_of_equal(np.stack([column.codes() for column in self._columns], axis=1))
        first: dict[Any, int] = {}
        # An error is equal to no other row.
        return np.array(
            [i if isinstance(row, InputError) else first.setdefault(row, i) for i, row in enumerate(self._listed)],
            dtype=np.intp,
        )


class _Column:
    """A column of numbers of one type, or of other cells as they are."""

    def __init__(
        self, numbers: NDArray[Any] | None, cells: Sequence[Any] | None, missing: NDArray[np.bool_] | None
    ) -> None:
        self.numbers = numbers  # of the column's own type; None where it does not hold numbers
        self.cells = cells  # where it does not
        self.missing = missing  # cells without a value, apart from NaN

    def cell(self, i: int) -> Any:
        if self.numbers is None:
            assert self.cells is not None, "a column has numbers or cells"
            return self.cells[i]
        return None if self.missing is not None and self.missing[i] else self.numbers[i].item()

    def part(self, rows: Ints) -> _Column:
        if self.numbers is None:
            assert self.cells is not None, "a column has numbers or cells"
            return _Column(None, [self.cells[i] for i in rows.tolist()], None)
        return _Column(self.numbers[rows], None, None if self.missing is None else self.missing[rows])

    def codes(self) -> NDArray[np.uint64]:
        """Return a number for each cell; cells have the same one exactly if they are the same cell."""
        if self.numbers is None:
            assert self.cells is not None, "a column has numbers or cells"
            seen: dict[Any, int] = {}
            keys = (cell_key(cell) for cell in self.cells)
            return np.fromiter((seen.setdefault(key, len(seen)) for key in keys), np.uint64, len(self.cells))
        if self.numbers.dtype.kind != "f":
            return self.numbers.astype(np.int64).view(np.uint64)
        # All NaN are one cell, and 0.0 differs from -0.0. A missing cell has bits that no other number has.
        numbers = np.where(np.isnan(self.numbers), np.nan, self.numbers.astype(np.float64))
        bits = numbers.view(np.uint64)
        return bits if self.missing is None else np.where(self.missing, np.uint64(0xFFF8000000000001), bits)


def read_table(table: Any, names: Sequence[str], own: Sequence[str], reference: Reference | None) -> TableRows:
    """Read a table into columns where its types allow it, and otherwise row by row."""
    if not own:
        read = _read_array(table, len(names)) if reference is None else _read_like(table, names, reference)
        if read is not None:
            return read
    return TableRows(read_rows(table, names, own), (), None)


def _read_array(table: Any, width: int) -> TableRows | None:
    """Read an array of numbers that a float holds exactly; None for anything else."""
    if type(table) is not np.ndarray or table.ndim != 2 or table.shape[1] != width or not len(table):
        return None
    if not _is_exact(table):
        return None
    own = table.copy()
    return TableRows(None, [_Column(column, None, None) for column in own.T], np.ascontiguousarray(own, np.float64))


def _read_like(table: Any, names: Sequence[str], reference: Reference) -> TableRows | None:
    """Read a frame whose columns have the types of the reference; None for anything else."""
    if not is_frame(table):
        return None
    frame = read_frame(table)
    if not len(frame) or not reference.has_types_of(frame):
        return None
    columns: list[_Column] = []
    matrix = np.zeros((len(frame), len(names)))
    for i, name in enumerate(names):
        made = _read_column(frame[name], is_numeric=reference.numeric[i])
        if made is None:
            return None
        columns.append(made)
        if made.numbers is not None:
            matrix[:, i] = made.numbers
            if made.missing is not None:
                matrix[made.missing, i] = np.nan
    return TableRows(None, columns, matrix)


def _read_column(series: Any, *, is_numeric: bool) -> _Column | None:
    if not is_numeric:
        cells = series.to_list()
        # Cells of other kinds may be refused one by one: those that hold several values, or cannot be compared.
        return _Column(None, cells, None) if _PLAIN.issuperset(map(type, cells)) else None
    numbers = np.array(series.to_numpy())
    if numbers.dtype.kind not in "fiu" or not _is_exact(numbers):
        return None
    missing = None
    if series.dtype.is_float() and series.null_count() and not hasattr(series.to_native(), "iloc"):
        missing = series.is_null().to_numpy()
    return _Column(numbers, None, missing)


_PLAIN = frozenset({str, bool, int, float, type(None)})


def _is_exact(numbers: NDArray[Any]) -> bool:
    """Say whether a float holds every number of an array exactly."""
    kind, size = numbers.dtype.kind, numbers.dtype.itemsize
    if kind == "f":
        return size <= 8
    return kind in "iu" and (size < 8 or not len(numbers) or bool((abs(numbers) <= EXACT).all()))
