"""The cheapest values of the flip sets of many rows, in arrays: from rows and paths to grids, and back to rows.

`flipset.values.table_values` searches the grids. This module lays the paths of all columns one after the other, so that
a position on the path of a row is a place in one long list of values, and in one of costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from flipset.protocol import Flow, relay
from flipset.values.table_values import Items, PointQueries, cheapest_points

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from flipset.explain.answer_columns import Terms
    from flipset.explain.row_queries import Query
    from flipset.space.cells import Cells
    from flipset.space.column_paths import ColumnPaths
    from flipset.space.moves import Moves
    from flipset.space.reference import Reference

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Bools: TypeAlias = NDArray[np.bool_]
    Words: TypeAlias = NDArray[np.uint64]

Ask: TypeAlias = "Callable[[Ints, Bools, Floats], Flow[Query, Floats]]"
"""Scores rows with some of their movable columns at other values."""

LEAST_QUERIES = 256
"""Flip sets with a lower limit on queries about values are left to flows of their own, which keep to it exactly."""

MOST_SEEN = 1 << 26
"""The most rows of a reference: the product of two such numbers is a number that a float holds exactly."""


def may_find_values(terms: Terms, paths: ColumnPaths) -> bool:
    """Say whether values can be found in arrays: with the default cost, which counts rows of the reference."""
    most = terms.request.value_queries
    is_counted = terms.costs.cost is None and all(0 < seen < MOST_SEEN for seen in paths.seen)
    return is_counted and (most is None or most >= LEAST_QUERIES)


@dataclass(frozen=True, slots=True, eq=False)
class LaidRows:
    """Rows of the search: their movable cells, where the paths of these begin, and which way the score is to go."""

    cells: Floats
    places: Ints
    rise: Bools
    base: Floats  # the margin of each row


@dataclass(frozen=True, slots=True, eq=False)
class _Laid:
    """The paths of all columns, for falling and for rising scores, one after the other."""

    values: Floats
    passed: Ints
    offsets: Ints  # by direction and column
    lengths: Ints
    rises: Bools  # whether values rise

    @classmethod
    def of(cls, paths: ColumnPaths) -> _Laid:
        ways = [paths.falling, paths.rising]
        lengths = np.array([[len(path.values) for path in way] for way in ways])
        offsets = (np.cumsum(lengths) - lengths.reshape(-1)).reshape(lengths.shape)
        values = np.concatenate([path.values for way in ways for path in way])
        passed = np.concatenate([path.passed for way in ways for path in way])
        return cls(values, passed, offsets, lengths, np.array([[path.rising for path in way] for way in ways]))


class PartValues:
    """The search for the cheapest values of flip sets, as far as these have one or two features.

    Parameters
    ----------
    paths, reference
        Where columns may move, and what costs are counted in.
    rows
        The rows of the search.
    which, words
        All flip sets, one after the other: the row of each, and its columns.
    best
        The margin of each flip set at the best values of its columns.
    some
        The rows whose flip sets are looked at.

    Attributes
    ----------
    positions, costs, scores
        For each flip set: the position on the path of each of its columns, its cost, and its score. A score is NaN
        where the columns stand at their best values.
    """

    def __init__(
        self,
        paths: ColumnPaths,
        reference: Reference | None,
        rows: LaidRows,
        which: Ints,
        words: Words,
        best: Floats,
        some: Bools,
    ) -> None:
        self._which = which
        self._items = np.flatnonzero(some[which])
        self.positions = np.zeros((len(words), 2), dtype=np.int64)
        self.costs, self.scores = np.full(len(words), np.nan), np.full(len(words), np.nan)
        self._is_found = np.zeros(len(words), dtype=bool)
        self._some = some
        self._contradicted = np.zeros(0, dtype=np.intp)
        # All arrays from here on have a line for each flip set that is looked at.
        self._row = which[self._items]
        self._columns = _two_columns(words[self._items])
        self._laid = _Laid.of(paths)
        way = rows.rise[self._row].astype(np.int64)[:, None]
        place = rows.places[self._row[:, None], self._columns]
        # Position p of a path is the place `start` + p in the lists.
        self._start = self._laid.offsets[way, self._columns] + place - 1
        lengths = self._laid.lengths[way, self._columns] - place
        lengths[self._columns[:, 1] == self._columns[:, 0], 1] = 0
        rises = self._laid.rises[way, self._columns]
        before = self._passed_before(paths, reference, rows, way)
        sign = np.where(rises, 1, -1)
        seen = np.array(paths.seen, dtype=np.int64)[self._columns]
        # The costs of two columns are shares of two counts. As multiples of the common share they are whole numbers.
        self._share = np.where(lengths[:, 1] > 0, np.lcm(seen[:, 0], seen[:, 1]), seen[:, 0])
        scale = self._share[:, None] // seen
        base = rows.base[self._row]
        given = lengths, self._laid.passed, self._start, sign, scale, sign * before, base, best[self._items]
        self._grids = Items(*given)
        self._asked: list[tuple[PointQueries, Floats]] = []

    def _passed_before(self, paths: ColumnPaths, reference: Reference | None, rows: LaidRows, way: Ints) -> Ints:
        """Return what was seen before the row's own cell, for the columns of each flip set."""
        before = np.zeros(self._columns.shape, dtype=np.int64)
        assert reference is not None, "costs are counted in the rows of a reference"
        for axis in (0, 1):
            columns = self._columns[:, axis]
            for direction, path in enumerate((paths.falling, paths.rising)):
                for j in np.unique(columns[way[:, 0] == direction]).tolist():
                    some = (columns == j) & (way[:, 0] == direction)
                    before[some, axis] = path[j].seen_before(rows.cells[self._row[some], j], reference)
        return before

    def run(
        self, ask: Ask, margins: Callable[[Ints, Floats], Floats], most: int | None, *, thorough: bool
    ) -> Flow[Query, None]:
        """Find the values of all flip sets; those that take more than `most` queries are not found."""
        width = len(self._laid.offsets[0])

        def answer(queries: Sequence[PointQueries]) -> Flow[Query, Any]:
            assert isinstance(queries, PointQueries), "grids ask points"
            item = queries.items
            flips = np.zeros((len(item), width), dtype=bool)
            values = np.zeros(flips.shape)
            each = np.arange(len(item))
            for axis, position in ((1, queries.second), (0, queries.first)):
                moved = position > 0
                column = self._columns[item, axis]
                at = self._start[item, axis] + position
                values[each[moved], column[moved]] = self._laid.values[at[moved]]
                flips[each[moved], column[moved]] = True
            scores = yield from ask(self._row[item], flips, values)
            self._asked.append((queries, scores))
            # A row on which the model failed is dropped at the end. Until then its answers must be numbers.
            return np.nan_to_num(margins(self._row[item], scores), nan=-1.0, posinf=np.inf, neginf=-np.inf)

        points, contradicted = yield from relay(cheapest_points(self._grids, thorough=thorough), answer)
        self._finish(points, contradicted, most)

    def _finish(self, points: Ints, contradicted: Bools, most: int | None) -> None:
        items = self._items
        self.positions[items] = points
        every = np.arange(len(items))
        cost = self._grids.cost(every, 0, points[:, 0])
        double = np.flatnonzero(points[:, 1])
        cost[double] += self._grids.cost(double, 1, points[double, 1])
        self.costs[items] = cost / self._share
        self.scores[items] = self._scores(points)
        count = np.zeros(len(items), dtype=np.int64)
        for queries, _ in self._asked:
            count += np.bincount(queries.items, minlength=len(items))
        self._contradicted = items[contradicted]
        self._is_found[items] = ~contradicted & (most is None or count <= most)

    def _scores(self, points: Ints) -> Floats:
        """Return the score of a point of each grid, NaN where it was not asked here."""
        scores = np.full(len(points), np.nan)
        for queries, answers in self._asked:
            own = points[queries.items]
            same = (own[:, 0] == queries.first) & (own[:, 1] == queries.second)
            scores[queries.items[same]] = answers[same]
        return scores

    def is_found(self, rows: int) -> Bools:
        """Say for each row of the search whether the values of all its flip sets are found."""
        found = self._some.copy()
        found[self._which[~self._is_found]] = False
        return found

    def contradicting(self, k: int, moves: Moves, columns: Ints) -> dict[Cells, float]:
        """Return the scores of all values that were asked about a row, if some of them contradict each other."""
        if k not in self._which[self._contradicted]:
            return {}
        paths = {column: path for unit in moves.units for column, path in unit.options[0].paths}
        scores: dict[Cells, float] = {}
        for queries, answers in self._asked:
            for i in np.flatnonzero(self._row[queries.items] == k).tolist():
                features = columns[self._columns[queries.items[i]]].tolist()
                point = zip(features, (int(queries.first[i]), int(queries.second[i])), strict=True)
                scores[tuple((column, paths[column].values[p - 1]) for column, p in point if p)] = float(answers[i])
        return scores


def _two_columns(words: Words) -> Ints:
    """Return the first and the last feature of each set, which has one or two."""
    features = (words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1) != 0
    return np.stack([features.argmax(axis=1), 63 - features[:, ::-1].argmax(axis=1)], axis=1).astype(np.int64)
