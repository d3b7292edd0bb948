"""Columns bound by rules, for the table search: what they become, for many queries at once.

Without rules, a flipped column takes its best value, whatever else is flipped. With them, its value depends on which
other columns of the same part are flipped: columns are in one part if some constraint or formula has both. So for each
row and each combination of flipped columns of a part, the values are computed once. The rest is done in arrays.

Invariant: a query becomes the same row here as in `flipset.space.row_rules` and `flipset.space.computed_columns`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.moves import Moves
    from flipset.space.rows import Row

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Bools: TypeAlias = NDArray[np.bool_]

MOST_COLUMNS = 40
"""The most columns of a part: a combination of them, with the place of a row, must be a number of 64 bits."""


class BoundColumns:
    """The values of columns that are bound by rules, by place of a row and flipped columns."""

    def __init__(self, space: Space, columns: Sequence[int]) -> None:
        self._space = space
        self._parts: list[_Part] = []
        place = {space.names[column]: j for j, column in enumerate(columns)}
        for names in () if space.rules is None else space.rules.parts:
            flipped = [place[name] for name in names if name in place]
            if flipped:
                bound = sorted(space.position(name) for name in names)
                self._parts.append(_Part(np.array(flipped), np.array(bound), [columns[j] for j in flipped]))

    def enter(self, place: int, row: Row, moves: Moves) -> None:
        """Take a row at a place."""
        for part in self._parts:
            part.rows[place] = row, moves, dict(moves.best_cells or ())
            part.kept[place] = {}

    def apply(self, places: Ints, flips: Bools, numbers: Floats, changed: Bools) -> None:
        """Write the values of bound columns into the rows of queries, and which of them change.

        `flips` has the columns as the search numbers them; `numbers` and `changed` have all columns of the space.
        """
        for part in self._parts:
            codes = flips[:, part.flipped] @ (1 << np.arange(len(part.flipped), dtype=np.int64))
            keys, which = np.unique(codes + (places.astype(np.int64) << len(part.flipped)), return_inverse=True)
            found = [part.values(int(key), self._space) for key in keys]
            numbers[:, part.bound] = np.array([values for values, _ in found])[which]
            changed[:, part.bound] = np.array([is_new for _, is_new in found])[which]


class _Part:
    """Columns that are bound together: which of them the search can flip, and all of them."""

    def __init__(self, flipped: Ints, bound: Ints, columns: Sequence[int]) -> None:
        self.flipped, self.bound, self.columns = flipped, bound, columns
        # By place: the row, its moves, and the best values of its columns.
        self.rows: dict[int, tuple[Row, Moves, dict[int, float]]] = {}
        self.kept: dict[int, dict[int, tuple[list[float], list[bool]]]] = {}

    def values(self, key: int, space: Space) -> tuple[list[float], list[bool]]:
        """Return the numbers of the bound columns, and which of them change."""
        place, code = key >> len(self.columns), key & ((1 << len(self.columns)) - 1)
        kept = self.kept[place]
        if code not in kept:
            kept[code] = self._computed(place, code, space)
        return kept[code]

    def _computed(self, place: int, code: int, space: Space) -> tuple[list[float], list[bool]]:
        row, moves, best = self.rows[place]
        flipped = [column for j, column in enumerate(self.columns) if code >> j & 1]
        cells: Cells = tuple(sorted((column, best[column]) for column in flipped))
        if moves.rules is not None:
            (cells,) = moves.rules.rows(cells)  # `moves_fit_arrays` has checked that there is one
        if space.computed is not None:
            cells = space.computed.complete(row, cells)
        after = dict(cells)
        values = [after.get(column, row[column]) for column in self.bound.tolist()]
        return [_number(value) for value in values], [column in after for column in self.bound.tolist()]


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else np.nan
