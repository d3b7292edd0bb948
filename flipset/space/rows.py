"""Rows as users give them: read into plain values, compared by value and type, and checked against the space."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.boundary.printable import shortened
from flipset.boundary.reading import shown
from flipset.errors import InputError, first_line
from flipset.space.feature import is_number, plain
from flipset.space.identity import row_key
from flipset.space.reference import read_frame
from flipset.space.row_id import place_text

if TYPE_CHECKING:
    from flipset.space import Space
    from flipset.space.feature import Value
    from flipset.space.row_id import RowId


class Row(tuple[Any, ...]):
    """The plain values of a row; `raw` has the cells as given, to pass on those that do not change.

    `own_bounds` has the bounds of the row's own, by the column of the table that gives them; the model does not see
    them. Rows are equal only if their cells and these bounds are, types included: 1, 1.0 and True differ, and so do NaN
    and null.
    """

    raw: tuple[Any, ...]
    own_bounds: Mapping[str, Value]
    _key: Hashable

    @classmethod
    def of(cls, cells: Iterable[Any], own_bounds: Mapping[str, Any] | None = None) -> Row:
        """Read cells; a masked cell is missing. Objects that cannot be read, compared or shown are refused."""
        raw = tuple([None if cell is np.ma.masked else cell for cell in cells])
        try:
            # The search computes with plain values. The model is given the raw ones where nothing changes.
            row = cls(map(plain, raw))
            row.raw, row._key, row.own_bounds = raw, row_key(raw), {}
            if own_bounds:
                row.own_bounds = {name: plain(bound) for name, bound in own_bounds.items()}
                row._key = row._key, row_key(tuple(row.own_bounds.values()))
            _try_out((*row, *row.own_bounds.values()))
        except Exception as error:  # the cells may be objects of any class, whose methods may raise anything
            raise InputError(f"a cell cannot be read: {type(error).__name__}: {first_line(error)}") from None
        return row

    def read_as(self, cells: Iterable[Any]) -> Row:
        """Return the same row with other plain values for its cells."""
        row = Row(cells)
        row.raw, row._key, row.own_bounds = self.raw, self._key, self.own_bounds
        return row

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and self._key == other._key

    def __ne__(self, other: object) -> bool:
        # The __ne__ of tuple would compare plain values.
        return not self == other

    def __hash__(self) -> int:
        return hash(self._key)


def _try_out(row: Sequence[Any]) -> None:
    """Hash, compare and show unusual cells once, so that this cannot fail later, in the middle of a table."""
    for cell in row:
        if type(cell) not in _USUAL and not _has_parts(cell):
            hash(cell)
            bool(cell == 0)
            repr(cell)


_USUAL = frozenset({type(None), bool, int, float, str})


def read_row(row: Any, names: Sequence[str], own: Sequence[str] = ()) -> Row:
    """Read a mapping, a series, a list, a one-dimensional array, or a frame or array of one row.

    `own` has the columns with bounds of the row's own, which are read beside those of the space.
    """
    if is_frame(row):
        row = _only_row(row)
    if hasattr(row, "to_dict") and hasattr(row, "index"):  # a pandas Series
        row = row.to_dict()
    if isinstance(row, Mapping):
        missing = [name for name in (*names, *own) if name not in row]
        if missing:
            raise InputError(f"the row has no {missing[0]!r}; it needs {', '.join(map(repr, (*names, *own)))}")
        return Row.of((row[name] for name in names), {name: row[name] for name in own})
    if isinstance(row, Row):
        return row
    _refuse_unnamed(own)
    # A text is a sequence of letters, which nobody means.
    if isinstance(row, (str, bytes)) or not isinstance(row, (Sequence, np.ndarray)):
        raise InputError(f"a row must be a mapping, a series, a list or an array, got {type(row).__name__}")
    cells = list(row)
    if len(cells) == 1 and _has_parts(cells[0]):  # a table of one row, such as [[40, 30]]
        cells = list(cells[0])
    if len(cells) != len(names):
        raise InputError(f"the row has {len(cells)} values; expected {len(names)}: {', '.join(map(repr, names))}")
    if len(cells) > 1 and all(map(_has_parts, cells)):
        raise InputError("one row was expected, not several; explain_table takes a table")
    return Row.of(cells)


def _refuse_unnamed(own: Sequence[str]) -> None:
    """Refuse rows whose cells have no names where bounds come from a column beside those of the space."""
    if own:
        needed = "so rows need names: give a mapping, a series or a frame that has it"
        raise InputError(f"bounds come from the column {own[0]!r}, {needed}")


def read_rows(table: Any, names: Sequence[str], own: Sequence[str] = ()) -> list[Row | InputError]:
    """Read all rows of a frame, by name, or of a two-dimensional array, by position.

    A row that cannot be read is returned as its error, so that the other rows can still be explained.
    """
    if is_frame(table):
        frame = read_frame(table)
        needed = (*names, *own)
        missing = [name for name in needed if name not in frame.columns]
        if missing:
            raise InputError(f"the table has no column {missing[0]!r}; it needs {', '.join(map(repr, needed))}")
        rows = zip(*(frame[name].to_list() for name in names), strict=True)
        if not own:
            return [_readable(cells, names) for cells in rows]
        bounds = zip(*(frame[name].to_list() for name in own), strict=True)
        return [
            _readable(cells, names, dict(zip(own, some, strict=True))) for cells, some in zip(rows, bounds, strict=True)
        ]
    if isinstance(table, (str, bytes, Mapping)) or not isinstance(table, (Sequence, np.ndarray)):
        raise InputError(f"expected a frame or an array of rows, got {type(table).__name__}")
    if isinstance(table, np.ndarray) and table.ndim != 2:
        raise InputError(f"expected a table of two dimensions, got an array of shape {table.shape}")
    if isinstance(table, np.ndarray):
        _refuse_unnamed(own)
    return [_readable(row, names, own=own) for row in table]


def _readable(
    row: Any, names: Sequence[str], own_bounds: Mapping[str, Any] | None = None, own: Sequence[str] = ()
) -> Row | InputError:
    try:
        # The rows of a frame are tuples of the right length: there is nothing to sort out.
        if type(row) is tuple and len(row) == len(names) and not own:
            return Row.of(row, own_bounds)
        return read_row(row, names, own)
    except InputError as error:
        return error


def check_rows(space: Space, rows: Iterable[Row | InputError]) -> list[Row]:
    """Check rows all of which are needed; raise for the first one that the space does not allow."""
    checked, errors = sort_out(space, rows)
    if errors:
        raise errors[0]
    return checked


def sort_out(space: Space, rows: Iterable[Row | InputError]) -> tuple[list[Row], list[InputError]]:
    """Check rows; return those that the space allows, and an error for each of the others."""
    checked: list[Row] = []
    errors: list[InputError] = []
    for i, row in enumerate(rows):
        try:
            if isinstance(row, InputError):
                raise row
            checked.append(check_row(space, row))
        except InputError as error:
            errors.append(about_row(i, error))
    return checked, errors


def about_row(i: int, error: InputError, own: RowId | None = None) -> InputError:
    """Return an error that says which row of a table it is about, by its number and its identifier."""
    return InputError(f"{place_text(i, own)}: {error}")


def check_row(space: Space, row: Row) -> Row:
    """Refuse cells that a feature or the type of its column cannot hold; True and False become numbers where needed."""
    cells = list(row)
    reference = space.reference
    for i, feature in enumerate(space.features):
        value = row[i]
        if _has_parts(value):
            raise feature.error(
                f"the row has {shortened(repr(value), 80)} ({type(value).__name__}); expected one value"
            )
        if feature.ordered and not feature.fixed and not feature.levels and feature.is_ordinary(value):
            if not is_number(value) or not isinstance(value, (int, float)):
                what = "expected a finite number, a missing value or a special code"
                raise feature.error(f"the row has {shown(value)}; {what}")
            cells[i] = int(value) if isinstance(value, bool) else value
        if reference is not None:
            reference.check_cell(i, row.raw[i])
            if value is None and reference.tells_nan[i] and isinstance(row.raw[i], float):
                cells[i] = row.raw[i]  # this column tells NaN from null, so NaN must be passed on as NaN
    if space.computed is not None:
        space.computed.check(cells)
    return row.read_as(cells)


def _has_parts(cell: Any) -> bool:
    """Say whether a cell holds several values: a list, an array, a series, a set or a mapping."""
    if type(cell) in _USUAL or isinstance(cell, (str, bytes)) or not hasattr(type(cell), "__len__"):
        return False
    return getattr(cell, "ndim", 1) != 0


def is_frame(table: Any) -> bool:
    """Say whether a table looks like a frame."""
    return hasattr(table, "columns") and hasattr(table, "shape")


def _only_row(frame: Any) -> dict[str, Value]:
    table = read_frame(frame)
    if table.shape[0] != 1:
        raise InputError(f"one row was expected, the frame has {table.shape[0]}")
    return {name: table[name].to_list()[0] for name in table.columns}
