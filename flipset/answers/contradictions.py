"""Answers about one row that no model with the declared directions can give.

Two rows are comparable when one is at least as far as the other in every ordered column, in the helpful direction, and
equal to it in every other column. If the nearer one has the other decision and the further one has not, the directions
do not hold. Searches look for such pairs among the sets they ask about and along the paths they follow; here all rows
that were asked about are compared, whatever they were asked for. So nothing that was asked can contradict a result
unseen.

For each column and value there is a bitset of the rows that are as far as that, so a row is compared with all others by
one AND for each column in which it differs.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, Any

from flipset.space.identity import cell_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from flipset.space import Feature
    from flipset.space.moves import Cells

MOST = 16
"""Pairs that are listed at most: one is enough to know."""


def contradictions(
    features: Sequence[Feature],
    row: Sequence[Any],
    turned: Iterable[Cells],
    stays: Sequence[Cells],
    *,
    raise_score: bool,
) -> Iterator[tuple[Cells, Cells]]:
    """Yield pairs of rows in the wrong order: one that is turned, and one at least as far that is not.

    Rows are given by the cells in which they differ from `row`. There is a pair for each turned row that has one, up to
    `MOST`.
    """
    rows = _Rows(features, row, stays, raise_score)
    pairs = ((cells, stays[_first(beyond)]) for cells in turned if (beyond := rows.beyond(cells)))
    return islice(pairs, MOST)


def _first(places: int) -> int:
    return (places & -places).bit_length() - 1


class _Rows:
    """Rows that stay, to be compared with others column by column."""

    def __init__(
        self, features: Sequence[Feature], row: Sequence[Any], stays: Sequence[Cells], raise_score: bool
    ) -> None:
        self._features, self._row, self._raise_score = features, row, raise_score
        self._columns: dict[int, _Column] = {}
        self._all = (1 << len(stays)) - 1
        for place, cells in enumerate(stays):
            for i, value in cells:
                self._column(i).add(value, 1 << place)
        for i, column in self._columns.items():
            column.close(row[i], self._all)
        # In a column left as it is a row is nearer than all others, but for those that have something incomparable.
        far = {i: column.as_far_as(row[i]) for i, column in self._columns.items()}
        self._comparable = {i: rows for i, rows in far.items() if rows != self._all}

    def _column(self, i: int) -> _Column:
        if i not in self._columns:
            feature = self._features[i]
            self._columns[i] = _Column(feature, rising=(feature.direction == 1) == self._raise_score)
        return self._columns[i]

    def beyond(self, cells: Cells) -> int:
        """Return the places of the rows that are at least as far as one with these cells, in every column."""
        left = self._all
        for i, value in cells:
            if i not in self._columns:
                return 0  # no other row moves there
            left &= self._columns[i].as_far_as(value)
            if not left:
                return 0
        changed = {i for i, _ in cells}
        for i, rows in self._comparable.items():
            if i not in changed:
                left &= rows
        return left


class _Column:
    """Which of the rows that stay are as far in one column as some value."""

    def __init__(self, feature: Feature, *, rising: bool) -> None:
        self._place: Callable[[Any], Any] = feature.levels.index if feature.levels else _itself
        self._feature = feature
        self._sign = 1 if rising else -1
        self._same: dict[Any, int] = {}  # rows by values that have no order
        self._at: dict[Any, int] = {}  # rows by places in the order, further ones greater
        self._changed = 0
        self._places: list[Any] = []
        self._from: list[int] = []  # rows at or beyond each of the places

    def _in_order(self, value: Any) -> bool:
        return self._feature.ordered and self._feature.is_ordinary(value)

    def add(self, value: Any, rows: int) -> None:
        """Say that rows have a value."""
        self._changed |= rows
        if self._in_order(value):
            place = self._sign * self._place(value)
            self._at[place] = self._at.get(place, 0) | rows
        else:
            key = cell_key(value)
            self._same[key] = self._same.get(key, 0) | rows

    def close(self, own: Any, everyone: int) -> None:
        """Say that all other rows have the row's own value, and that nothing is to be added."""
        self.add(own, everyone & ~self._changed)
        self._places = sorted(self._at)
        rows = 0
        for place in reversed(self._places):
            rows |= self._at[place]
            self._from.append(rows)
        self._from.reverse()

    def as_far_as(self, value: Any) -> int:
        """Return the rows with this value, or one beyond it in the order."""
        if not self._in_order(value):
            return self._same.get(cell_key(value), 0)
        first = bisect_left(self._places, self._sign * self._place(value))
        return self._from[first] if first < len(self._from) else 0


def _itself(value: Any) -> Any:
    return value
