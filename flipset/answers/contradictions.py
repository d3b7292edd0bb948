"""Pairs of answers about one row that no model with the declared directions can give.

Two rows are comparable when one is at least as far as the other in every ordered column, in the helpful direction, and
equal to it in every other column. If the nearer row flips and the further one stays, the directions do not hold.
Searches notice such pairs only among the sets they ask about and along the paths they follow. Here all rows that were
scored are compared, whatever they were scored for, so that no answer contradicts a result unnoticed.

The comparison works with bitsets. For each column and each value it keeps the set of rows that are at least as far.
Comparing one row with all others then takes one AND for each column in which the row differs. After a million queries
that is a minute of computation, so the comparison is a flow with checkpoints, where its driver can stop it.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from flipset.protocol import Steps, checkpoint
from flipset.space.identity import cell_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flipset.protocol import Flow
    from flipset.space import Feature
    from flipset.space.cells import Cells

MOST = 16
"""The most pairs that are listed. One pair is enough to know that the directions do not hold."""


def contradictions(
    features: Sequence[Feature],
    row: Sequence[Any],
    flipping: Iterable[Cells],
    staying: Sequence[Cells],
    *,
    raise_score: bool,
    most: int = MOST,
) -> Flow[Any, list[tuple[Cells, Cells]]]:
    """Return pairs of rows in the wrong order: one that flips, and one that is at least as far and stays.

    Rows are given by the cells in which they differ from `row`. There is one pair for each flipping row that has any,
    up to `most` pairs.
    """
    rows = _StayingRows(features, row, staying, raise_score)
    pairs: list[tuple[Cells, Cells]] = []
    steps = Steps()
    words = 1 + len(staying) // 4096  # a step looks at one set of up to 4,096 rows
    for cells in flipping:
        if steps.due((1 + len(cells)) * words):
            yield from checkpoint()
        if beyond := rows.beyond(cells):
            pairs.append((cells, staying[_first(beyond)]))
            if len(pairs) == most:
                break
    return pairs


def _first(places: int) -> int:
    return (places & -places).bit_length() - 1


class _StayingRows:
    """The rows that do not flip, to be compared with others column by column.

    A set of rows is a bitmask: bit `i` stands for the row at place `i` of `staying`.
    """

    def __init__(
        self, features: Sequence[Feature], row: Sequence[Any], staying: Sequence[Cells], raise_score: bool
    ) -> None:
        self._features, self._row, self._raise_score = features, row, raise_score
        self._columns: dict[int, _Column] = {}
        self._all = (1 << len(staying)) - 1
        for place, cells in enumerate(staying):
            for i, value in cells:
                self._column(i).add(value, 1 << place)
        for i, column in self._columns.items():
            column.close(row[i], self._all)
        # A flipping row keeps the row's own value in most columns. Usually every staying row is at least as far there,
        # because changes only go the helpful way, and the column need not be looked at. Kept here are the columns in
        # which some staying row has a value that cannot be compared with the row's own, such as a special code.
        as_far = {i: column.as_far_as(row[i]) for i, column in self._columns.items()}
        self._comparable = {i: rows for i, rows in as_far.items() if rows != self._all}

    def _column(self, i: int) -> _Column:
        if i not in self._columns:
            feature = self._features[i]
            self._columns[i] = _Column(feature, rising=(feature.direction == 1) == self._raise_score)
        return self._columns[i]

    def beyond(self, cells: Cells) -> int:
        """Return the rows that are at least as far as one with these cells, in every column."""
        # Invariant: `left` holds the rows that are at least as far in every column looked at so far.
        left = self._all
        for i, value in cells:
            if i not in self._columns:
                return 0  # every staying row has its own value here, and is nearer
            left &= self._columns[i].as_far_as(value)
            if not left:
                return 0
        changed = {i for i, _ in cells}
        for i, rows in self._comparable.items():
            if i not in changed:
                left &= rows
        return left


class _Column:
    """For one column, the staying rows that are at least as far as a value.

    Call `add` for the rows that change the column, then `close` once; `as_far_as` may be called after that.
    """

    def __init__(self, feature: Feature, *, rising: bool) -> None:
        # The place of a value in the order: the position of a level, or the number itself.
        self._place: Callable[[Any], Any] = feature.levels.index if feature.levels else _itself
        self._feature = feature
        self._sign = 1 if rising else -1
        self._same: dict[Any, int] = {}  # rows by value, for values outside the order
        # Places in the order are multiplied by the sign, so that further in the helpful direction is always greater.
        self._at: dict[Any, int] = {}  # rows by place
        self._changed = 0
        self._places: list[Any] = []  # ascending
        self._from: list[int] = []  # the rows at or beyond each of these places

    def _in_order(self, value: Any) -> bool:
        return self._feature.ordered and self._feature.is_ordinary(value)

    def add(self, value: Any, rows: int) -> None:
        """Note that some rows have a value."""
        self._changed |= rows
        if self._in_order(value):
            place = self._sign * self._place(value)
            self._at[place] = self._at.get(place, 0) | rows
        else:
            key = cell_key(value)
            self._same[key] = self._same.get(key, 0) | rows

    def close(self, own: Any, all_rows: int) -> None:
        """Note that all other rows have the row's own value, and prepare for `as_far_as`."""
        self.add(own, all_rows & ~self._changed)
        self._places = sorted(self._at)
        rows = 0
        for place in reversed(self._places):
            rows |= self._at[place]
            self._from.append(rows)
        self._from.reverse()

    def as_far_as(self, value: Any) -> int:
        """Return the rows with this value or, in an ordered column, with one beyond it."""
        # A value outside the order, such as a missing one, is comparable with itself alone.
        if not self._in_order(value):
            return self._same.get(cell_key(value), 0)
        first = bisect_left(self._places, self._sign * self._place(value))
        return self._from[first] if first < len(self._from) else 0


def _itself(value: Any) -> Any:
    return value
