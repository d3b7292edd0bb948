"""The rows of a part of a table as numbers, and what may change in them, for many rows at once where possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from flipset.errors import FlipsetError
from flipset.explain.bound_columns import BoundColumns
from flipset.explain.choice import moves_fit_arrays
from flipset.models.tables import NumericRows, is_numeric_row
from flipset.search.table.search import MOST_FEATURES
from flipset.space.column_paths import column_paths
from flipset.space.moves import MoveFinder
from flipset.space.rows import check_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flipset.space import Space
    from flipset.space.column_paths import ColumnPaths
    from flipset.space.moves import Moves
    from flipset.space.rows import Row
    from flipset.space.table_rows import TableRows

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Bools: TypeAlias = NDArray[np.bool_]


class TableMoves:
    """What the columns of a space may do in the rows of a table.

    Attributes
    ----------
    columns
        The numbers of the columns that can move; None if arrays cannot hold a set of them.
    paths
        Where they may move, if that is the same for all rows but for where each begins; otherwise None.
    """

    def __init__(self, space: Space, rows: TableRows) -> None:
        self.space, self.rows = space, rows
        self.finder = MoveFinder(space)
        self.paths: ColumnPaths | None = column_paths(space)
        columns = [i for i, feature in enumerate(space.features) if feature.ordered and not feature.fixed]
        self.columns: Ints | None = np.array(columns) if 0 < len(columns) <= MOST_FEATURES else None

    def read(self, part: range) -> PartRows:
        """Return the rows of a part that arrays can hold."""
        if self.rows.matrix is None or self.space.computed is not None:
            return self._read_listed(part)
        rows, numbers = self.rows, np.arange(part.start, part.stop)
        base = self.rows.matrix[part.start : part.stop]
        # `check_row` refuses infinite numbers here. Everything else is checked by the types of the columns.
        ordered = [i for i, one in enumerate(self.space.features) if one.ordered and not one.fixed and not one.levels]
        fits = ~np.isinf(base[:, ordered]).any(axis=1)
        numbers = numbers[fits]
        given = lambda k, column: rows.cell(int(numbers[k]), column)  # noqa: E731
        return PartRows(numbers, NumericRows(self.space.reference, base[fits], given), None)

    def _read_listed(self, part: range) -> PartRows:
        numbers: list[int] = []
        checked: list[Row] = []
        for i in part:
            try:
                row = check_row(self.space, self.rows.row(i))
            except FlipsetError:
                continue  # the error is raised again, and reported, when this row is explained by itself
            if is_numeric_row(row, self.space.reference):
                numbers.append(i)
                checked.append(row)
        numeric = NumericRows.of(len(self.space.names), self.space.reference, checked)
        return PartRows(np.array(numbers, dtype=np.intp), numeric, checked)

    def moves(self, row: Row, *, raise_score: bool) -> Moves:
        """Return what may change in a single row."""
        return self.finder.moves(row, raise_score=raise_score)

    def find(self, part: PartRows, rise: Bools) -> PartMoves:
        """Return what may change in the rows of a part; `rise` says whether the score of each is to rise."""
        assert self.columns is not None, "arrays can hold the columns"
        if self.paths is not None:
            return self._find_together(part, rise, self.paths)
        return self._find_one_by_one(part, rise, self.columns)

    def _find_together(self, part: PartRows, rise: Bools, paths: ColumnPaths) -> PartMoves:
        shape = len(rise), len(paths.columns)
        places, best = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        lengths = np.zeros(shape, dtype=np.int64)
        for raise_score in (False, True):
            some = rise == raise_score
            for j, path in enumerate(paths.towards(raise_score=raise_score)):
                places[some, j] = path.places(part.numeric.base[some, paths.columns[j]])
                best[some, j], lengths[some, j] = path.values[-1], len(path.values)
        is_known: Bools = places >= 0
        movable: Bools = is_known & (places < lengths)
        fits = np.logical_and(is_known.all(axis=1), movable.any(axis=1))
        return PartMoves(fits, movable, best, places, None)

    def _find_one_by_one(self, part: PartRows, rise: Bools, columns: Ints) -> PartMoves:
        place = {column: j for j, column in enumerate(columns.tolist())}
        movable = np.zeros((len(rise), len(columns)), dtype=bool)
        best = np.zeros(movable.shape)
        fits = np.zeros(len(rise), dtype=bool)
        bound = BoundColumns(self.space, columns.tolist())
        for k, raise_score in enumerate(rise.tolist()):
            row = part.row(k, self.space, self.rows)
            try:
                moves = self.moves(row, raise_score=raise_score)
            except FlipsetError:
                continue
            if not moves_fit_arrays(self.space, moves):
                continue
            fits[k] = True
            bound.enter(k, row, moves)
            # They are never None here: `moves_fit_arrays` has checked it.
            for column, value in moves.best_cells or ():
                movable[k, place[column]] = True
                best[k, place[column]] = value
        return PartMoves(fits, movable, best, None, bound)


@dataclass(frozen=True, slots=True, eq=False)
class PartRows:
    """Some rows of a table as numbers: the number of each, the rows for the model, and, if they were read, the rows."""

    numbers: Ints
    numeric: NumericRows
    checked: Sequence[Row] | None

    def row(self, k: int, space: Space, rows: TableRows) -> Row:
        """Return a row, checked."""
        return check_row(space, rows.row(int(self.numbers[k]))) if self.checked is None else self.checked[k]


@dataclass(frozen=True, slots=True, eq=False)
class PartMoves:
    """What may change in some rows.

    Attributes
    ----------
    fits
        The rows that the table search can take. The other lines have no meaning.
    movable, best
        The columns that can move, and the best value of each.
    places
        Where their paths begin (`flipset.space.column_paths`); None where the rows were looked at one by one.
    bound
        What rules make of flipped columns; None where there are no rules.
    """

    fits: Bools
    movable: Bools
    best: Floats
    places: NDArray[np.int64] | None
    bound: Any
