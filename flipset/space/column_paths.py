"""Where the columns of many rows may move, in arrays.

All paths of a column towards its best value are the ends of one list: the values that a row at the far end passes. So
the path of a row is a position on that list, and its best value is the last one of it. That holds for ordered columns
whose bounds are the same for all rows, and whose only way to move is along their order. For a space that has others,
such as columns with options or groups, there are no column paths.

Invariant: `paths.places` and `paths.lists` describe the same moves as `flipset.space.moves`, value by value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from flipset.space.held import is_held_fixed, why_held
from flipset.space.multiples import EXACT, Multiples
from flipset.space.path import find_path
from flipset.space.row_limits import has_limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flipset.space import Feature, Space
    from flipset.space.reference import Reference

    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]

MOST_VALUES = 65_536
"""The most values of a column that are listed."""


_MADE: WeakKeyDictionary[Reference, dict[tuple[Feature, bool], ColumnPath | None]] = WeakKeyDictionary()
"""The paths that were made with a reference, for as long as there is the reference. Listing and counting the values of
all columns takes much longer than explaining a row."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnPath:
    """The values that a column may move to, in the order in which they help, and how many cells were seen before each.

    Attributes
    ----------
    feature
        The feature.
    values
        All values; the path of a row is an end of them.
    rising
        Whether they rise.
    passed
        For each value, how many numbers seen in the reference lie below it, or, if values rise, below or at it. Empty
        where none was seen.
    """

    feature: Feature
    values: Floats
    rising: bool
    passed: Ints

    def places(self, cells: Floats) -> Ints:
        """Return where the path of each cell begins: the place of the first value that is strictly better.

        The number of values stands for cells that stay where they are; -1 for cells whose moves are of another kind.
        """
        sign = 1.0 if self.rising else -1.0
        places = np.searchsorted(sign * self.values, sign * cells, "right").astype(np.int64)
        if not (self.feature.may_rise if self.rising else self.feature.may_fall):
            places[:] = len(self.values)
        for cell in np.unique(cells[self._is_special(cells)]).tolist():
            is_held = why_held(self.feature, None if np.isnan(cell) else cell) is not None
            places[np.isnan(cells) if np.isnan(cell) else cells == cell] = len(self.values) if is_held else -1
        return places

    def _is_special(self, cells: Floats) -> Bools:
        """Say which cells are outside the order."""
        special = np.isnan(cells)
        codes = [code for code in self.feature.special if isinstance(code, (int, float))]
        if codes:
            special |= np.isin(cells, np.array(codes, dtype=np.float64))
        if self.feature.levels:
            special |= ~np.isin(cells, np.array(self.feature.levels, dtype=np.float64))
        return special

    def seen_before(self, cells: Floats, reference: Reference) -> Ints:
        """Return what `passed` would be for the cells themselves: the start of the costs along their paths."""
        unique, which = np.unique(cells, return_inverse=True)
        return _passed(self.feature, reference, unique, rising=self.rising)[which]


@dataclass(frozen=True, slots=True)
class ColumnPaths:
    """The paths of all columns that can move, for rows whose score is to rise and for rows whose score is to fall.

    Attributes
    ----------
    columns
        The numbers of the columns.
    falling, rising
        The paths of each of them, towards a lower or a higher score.
    seen
        How many numbers of each column were seen in the reference.
    """

    columns: tuple[int, ...]
    falling: tuple[ColumnPath, ...]
    rising: tuple[ColumnPath, ...]
    seen: tuple[int, ...]

    def towards(self, *, raise_score: bool) -> tuple[ColumnPath, ...]:
        """Return the paths towards a higher or a lower score."""
        return self.rising if raise_score else self.falling


def column_paths(space: Space) -> ColumnPaths | None:
    """Return the paths of all columns that can move; None where some column moves in another way."""
    if space.groups or space.rules is not None or space.computed is not None:
        return None
    columns = [i for i, feature in enumerate(space.features) if not is_held_fixed(feature)]
    falling, rising = (_paths(space, columns, raise_score=raise_score) for raise_score in (False, True))
    if falling is None or rising is None:
        return None
    seen = [0 if space.reference is None else len(space.reference.scale(space.features[i])) for i in columns]
    return ColumnPaths(tuple(columns), falling, rising, tuple(seen))


def _paths(space: Space, columns: Sequence[int], *, raise_score: bool) -> tuple[ColumnPath, ...] | None:
    found = [_column_path(space, space.features[i], raise_score) for i in columns]
    paths = tuple(path for path in found if path is not None)
    return paths if paths and len(paths) == len(found) else None


def _column_path(space: Space, feature: Feature, raise_score: bool) -> ColumnPath | None:
    """Return the path of a column; with a reference, it is made once."""
    if space.reference is None:
        return _made(space, feature, raise_score)
    made = _MADE.setdefault(space.reference, {})
    key = feature, raise_score
    if key not in made:
        made[key] = _made(space, feature, raise_score)
    return made[key]


def _made(space: Space, feature: Feature, raise_score: bool) -> ColumnPath | None:
    reference = space.reference
    is_plain = feature.ordered and feature.group is None and not has_limits(feature)
    if not is_plain or feature.may_become or feature.may_go_missing:
        return None
    if reference is not None and not reference.numeric[space.position(feature.name)]:
        return None
    if reference is not None and reference.float_type(feature.name) is not None:
        return None  # values are rounded to the type of the column, each path by itself
    # From outside the order, every allowed value can be reached.
    path = find_path(feature, None, raise_score=raise_score, reference=reference)
    if path is None or len(path.values) > MOST_VALUES:
        return None
    values = _as_floats(path.values)
    if values is None or _as_floats(feature.levels) is None:
        return None
    rising = path.rising
    if not (np.diff(values if rising else -values) > 0).all():
        return None
    passed = np.zeros(0, dtype=np.int64)
    if reference is not None and reference.scale(feature):
        passed = _passed(feature, reference, values, rising=rising)
    return ColumnPath(feature, values, rising, passed)


def _as_floats(values: Sequence[Any]) -> Floats | None:
    """Return numbers as floats; None if some are not numbers, or not exact as floats."""
    floats = values.floats() if isinstance(values, Multiples) else None
    if floats is not None:
        return floats
    if not all(isinstance(value, (int, float)) and abs(value) <= EXACT for value in values):
        return None
    return np.array(list(values), dtype=np.float64)


def _passed(feature: Feature, reference: Reference, values: Floats, *, rising: bool) -> Ints:
    """Return how many numbers seen lie below each value, or, if values rise, below or at it."""
    if feature.levels:  # what counts is the place of a level
        place = {float(level): i for i, level in enumerate(feature.levels)}
        places = [place.get(value, 0) for value in values.tolist()]
        return np.searchsorted(reference.scale(feature), places, "right" if rising else "left").astype(np.int64)
    return np.array(reference.counts(feature, values.tolist(), included=rising), dtype=np.int64)
