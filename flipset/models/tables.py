"""Rows, as a model takes them: a frame like the reference, or an array where there is none.

What a model is given for a row depends on that row alone. So an array of numbers never becomes one of objects because
another row in the same call has text: rows of numbers and other rows go into calls of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.space.feature import plain
from flipset.space.reference import EXACT, read_frame
from flipset.space.rows import Row, is_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flipset.space.feature import Value
    from flipset.space.moves import Cells
    from flipset.space.reference import Reference

Question = tuple[Sequence[Any], "Cells"]
"""A row, and the cells in which the row to be asked differs from it."""


def ask_rows(
    score: Callable[[Any], NDArray[np.float64]],
    width: int,
    reference: Reference | None,
    questions: Sequence[Question],
) -> list[float]:
    """Ask about rows, each with some other cells, of whoever scores tables; return one score each."""
    scores = np.empty(len(questions))
    for places, table in make_tables(width, reference, questions):
        scores[places] = score(table)
    found: list[float] = scores.tolist()
    return found


def make_tables(
    width: int, reference: Reference | None, questions: Sequence[Question]
) -> list[tuple[Sequence[int] | slice, Any]]:
    """Return tables of rows, each with the places of its rows: one frame like the reference, or arrays without one."""
    numbers = _numbers(questions, _numeric(width, reference), reference)
    if reference is not None:
        return [(slice(None), _like(reference, numbers, partial(_column, questions)))]
    if numbers is not None:
        return [(slice(None), numbers)]
    # Rows with text in the same columns go together: what a column of a call holds must not depend on other rows.
    alike: dict[tuple[str, ...], list[int]] = {}
    for i, (row, cells) in enumerate(questions):
        values = list(row)
        for column, value in cells:
            values[column] = value
        kinds = tuple(map(_sort_of, values))
        alike.setdefault(kinds if "text" in kinds else (), []).append(i)
    tables: list[tuple[Sequence[int] | slice, Any]] = []
    for kinds, places in alike.items():
        some = [questions[i] for i in places]
        made = None if kinds else _numbers(some, [True] * width, None)
        tables.append((places, _objects(width, some) if made is None else made))
    return tables


def _sort_of(value: Any) -> str:
    """Say what sort of cell this is, where there is no column to say it."""
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    return "float" if _are_numbers([value]) else "text"


def _objects(width: int, questions: Sequence[Question]) -> NDArray[np.object_]:
    """Return rows with cells that are not all numbers."""
    table = np.empty((len(questions), width), dtype=object)
    for i in range(width):
        for j, value in enumerate(_column(questions, i, raw=False)):
            table[j, i] = np.nan if plain(value) is None else value
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
    def of(cls, width: int, reference: Reference | None, rows: list[Row]) -> Pile:
        """Pile up rows for which `can_be_piled` is true."""
        base = _numbers([(row, ()) for row in rows], _numeric(width, reference), reference)
        assert base is not None, "only rows that can be piled are"
        return cls(reference, rows, base)

    def table(self, which: NDArray[np.intp], changed: NDArray[np.bool_], values: NDArray[np.float64]) -> Any:
        """Return rows by number, with the changed cells at their values."""
        numbers = np.where(changed, values[which], self.base[which])
        if self.reference is None:
            return numbers

        def cells(column: int) -> list[Any]:
            if _numeric(numbers.shape[1], self.reference)[column]:  # of a type that takes them one by one
                changes = zip(which.tolist(), changed[:, column].tolist(), numbers[:, column].tolist(), strict=True)
                return [number if is_new else self.rows[i].raw[column] for i, is_new, number in changes]
            return [self.rows[i].raw[column] for i in which.tolist()]

        return _like(self.reference, numbers, cells)


def takes_cells(cells: Cells, width: int, reference: Reference | None) -> bool:
    """Say whether cells of a pile may become these values."""
    numeric = _numeric(width, reference)
    return all(numeric[column] for column, _ in cells) and _are_numbers([value for _, value in cells])


def can_be_piled(row: Row, reference: Reference | None) -> bool:
    """Say whether a row has numbers wherever a table of numbers wants them; this is about no other row."""
    if reference is None:
        return _are_numbers(row)
    return _are_numbers([cell for cell, is_numeric in zip(row.raw, reference.numeric, strict=True) if is_numeric])


def _numbers(
    questions: Sequence[Question], numeric: Sequence[bool], reference: Reference | None
) -> NDArray[np.float64] | None:
    """Return the columns that hold numbers as one matrix, NaN where nothing is; None if some cell is no number."""
    width = len(numeric)
    bases: list[Sequence[Any]] = []
    of_base: list[int] = []
    places: list[int] = []
    values: list[Any] = []
    before: Any = None
    for j, (row, cells) in enumerate(questions):
        if row is not before:  # the questions about a row come together
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
    matrix = base.take(of_base, axis=0)
    matrix.reshape(-1)[places] = values
    return matrix


_NUMBERS = (int, float, np.integer, np.floating, np.bool_, type(None))


def _are_numbers(values: Sequence[Any]) -> bool:
    """Say whether all are numbers that a float holds exactly, or missing; NumPy would take text for numbers, too."""
    kinds = set(map(type, values))
    if kinds <= {float}:
        return True
    if not all(issubclass(kind, _NUMBERS) and kind is not np.longdouble for kind in kinds):
        return False
    return all(-EXACT <= value <= EXACT for value in values if isinstance(value, (int, np.integer)))


def _column(questions: Sequence[Question], column: int, *, raw: bool = True) -> list[Any]:
    """Return one column of the rows, cell by cell."""
    return [
        next((value for i, value in cells if i == column), _cells(row, raw=raw)[column]) for row, cells in questions
    ]


def _cells(row: Sequence[Value], *, raw: bool) -> Sequence[Any]:
    """Return the cells of a row: as they came, for frames that have types for them, or else plain."""
    return row.raw if raw and isinstance(row, Row) else row


def plain_rows(table: Any) -> list[list[Value]]:
    """Return the cells of a frame or an array as plain values, row by row."""
    if is_frame(table):
        return [[plain(cell) for cell in row] for row in read_frame(table).rows()]
    return [[plain(cell) for cell in row] for row in np.asarray(table).tolist()]


def kinds_of(table: Any) -> list[str]:
    """Return what the columns of a frame or an array hold: "bool", "int", "float" or "text".

    That is by their types, not by their cells, so that all parts of a table are alike; but for arrays of objects.
    """
    if is_frame(table):
        return [_kind(dtype) for dtype in read_frame(table).schema.values()]
    array = np.asarray(table)
    kinds = {"b": "bool", "i": "int", "u": "int", "f": "float"}
    if array.dtype.kind in kinds:
        return [kinds[array.dtype.kind]] * array.shape[1]
    sorts = [{_sort_of(plain(cell)) for cell in column} for column in array.T.tolist()]
    return ["text" if "text" in found else "bool" if found == {"bool"} else "float" for found in sorts]


def _kind(dtype: Any) -> str:
    """Return what a column of a type, as narwhals has it, holds."""
    if dtype.is_integer():
        return "int"
    if dtype.is_numeric():
        return "float"
    return "bool" if str(dtype) == "Boolean" else "text"
