"""The cheapest values of the flip sets of many rows, in arrays: from rows and paths to grids, and back to rows.

`flipset.values.table_values` searches the grids. This module lays the paths of all columns one after the other, so that
a position on the path of a row is a place in one long list of values, and in one of costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from flipset.protocol import Flow, relay
from flipset.search.table.memory import sizes_of
from flipset.values.table_values import CheapestPoints, Items, PointQueries, cheapest_points

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

MOST_COST = 1 << 61
"""Costs are added up as whole numbers below this one: twice as much still is one of 64 bits."""

MOST_AXES = 3
"""The most features of a flip set whose values are found in arrays, where a call counts more than the queries in it."""

AXES_TOGETHER = 2
"""The same for many rows. Grids of more features take a third of the queries, and about as much time, in flows of their
own, which ask the cheapest open point next."""


def may_find_values(terms: Terms, paths: ColumnPaths) -> bool:
    """Say whether values can be found in arrays: with the default cost, which counts rows of the reference."""
    most = terms.request.value_queries
    is_counted = terms.costs.cost is None and all(seen > 0 for seen in paths.seen)
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
    """The search for the cheapest values of flip sets, as far as these have few features.

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
    axes
        The most columns of a flip set that is looked at.

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
        *,
        axes: int = MOST_AXES,
    ) -> None:
        self._which = which
        count = sizes_of(words)
        columns = _columns(words)
        share, scale = _common_shares(columns, np.array(paths.seen, dtype=np.int64))
        small = share > 0
        small &= count <= axes
        self._items = np.flatnonzero(small)
        axes = int(count[self._items].max(initial=2))
        self.positions = np.zeros((len(words), axes), dtype=np.int64)
        self.costs, self.scores = np.full(len(words), np.nan), np.full(len(words), np.nan)
        self._is_found = np.zeros(len(words), dtype=bool)
        self._contradicted = np.zeros(0, dtype=np.intp)
        # All arrays from here on have a line for each flip set that is looked at, and a column for each of its
        # features. Further columns repeat the first feature, with a path of no length.
        self._row = which[self._items]
        self._columns = columns[self._items, :axes]
        self._share = share[self._items]
        is_used = np.arange(axes) < count[self._items, None]
        self._laid = _Laid.of(paths)
        way = rows.rise[self._row].astype(np.int64)[:, None]
        place = rows.places[self._row[:, None], self._columns]
        # Position p of a path is the place `start` + p in the lists.
        self._start = self._laid.offsets[way, self._columns] + place - 1
        lengths = np.where(is_used, self._laid.lengths[way, self._columns] - place, 0)
        start = np.where(is_used, self._start, 0)
        sign = np.where(self._laid.rises[way, self._columns], 1, -1)
        before = self._passed_before(paths, reference, rows, way)
        base = rows.base[self._row]
        given = lengths, self._laid.passed, start, sign, scale[self._items, :axes], sign * before, base
        self._grids = Items(*given, best[self._items])
        self._asked: list[tuple[PointQueries, Floats]] = []

    def _passed_before(self, paths: ColumnPaths, reference: Reference | None, rows: LaidRows, way: Ints) -> Ints:
        """Return what was seen before the row's own cell, for the columns of each flip set."""
        before = np.zeros(self._columns.shape, dtype=np.int64)
        assert reference is not None, "costs are counted in the rows of a reference"
        for direction, path in enumerate((paths.falling, paths.rising)):
            some = np.flatnonzero(way[:, 0] == direction)
            for j in np.unique(self._columns[some]).tolist():
                line, axis = np.nonzero(self._columns[some] == j)
                before[some[line], axis] = path[j].seen_before(rows.cells[self._row[some[line]], j], reference)
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
            line, axis = np.nonzero(queries.points)
            column = self._columns[item[line], axis]
            values[line, column] = self._laid.values[self._start[item[line], axis] + queries.points[line, axis]]
            flips[line, column] = True
            scores = yield from ask(self._row[item], flips, values)
            self._asked.append((queries, scores))
            # A row on which the model failed is dropped at the end. Until then its answers must be numbers.
            return np.nan_to_num(margins(self._row[item], scores), nan=-1.0, posinf=np.inf, neginf=-np.inf)

        self._finish((yield from relay(cheapest_points(self._grids, most, thorough=thorough), answer)))

    def _finish(self, found: CheapestPoints) -> None:
        items = self._items
        self.positions[items] = found.points
        costs = self._grids.cost_of(np.arange(len(items)), found.points).tolist()
        # The quotient of Python's whole numbers is the nearest float, however large they are.
        self.costs[items] = [cost / share for cost, share in zip(costs, self._share.tolist(), strict=True)]
        self.scores[items] = self._scores(found.points)
        self._contradicted = items[found.contradicted]
        self._is_found[items] = ~found.contradicted & ~found.given_up

    def _scores(self, points: Ints) -> Floats:
        """Return the score of a point of each grid, NaN where it was not asked here."""
        scores = np.full(len(points), np.nan)
        for queries, answers in self._asked:
            same = (points[queries.items] == queries.points).all(axis=1)
            scores[queries.items[same]] = answers[same]
        return scores

    def is_found(self, rows: int) -> Bools:
        """Say for each row of the search whether the values of all its flip sets are found."""
        found = np.ones(rows, dtype=bool)
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
                point = zip(features, queries.points[i].tolist(), strict=True)
                scores[tuple((column, paths[column].values[p - 1]) for column, p in point if p)] = float(answers[i])
        return scores


def _columns(words: Words) -> Ints:
    """Return up to `MOST_AXES` features of each set, in order; where there are fewer, the first one is repeated."""
    left = words.copy()
    columns = np.zeros((len(words), MOST_AXES), dtype=np.int64)
    for axis in range(MOST_AXES):
        lowest = left & (~left + np.uint64(1))
        # A power of two up to 2^63 is a float exactly, and so is its exponent.
        feature = np.log2(np.maximum(lowest, np.uint64(1)).astype(np.float64)).astype(np.int64)
        columns[:, axis] = np.where(lowest > 0, feature, columns[:, 0])
        left ^= lowest
    return columns


def _common_shares(columns: Ints, seen: Ints) -> tuple[Ints, Ints]:
    """Return what costs are counted in for each set, and by how much the counts of its columns are multiplied.

    The costs of columns are shares of different counts. As multiples of a common share they are whole numbers. It is 0
    where these may be too large.
    """
    counts = seen[columns]
    share = counts[:, 0].copy()
    for axis in range(1, counts.shape[1]):
        # What exceeds 64 bits would wrap around. Floats tell whether it comes near.
        share = np.where(share > 0, share // np.gcd(share, counts[:, axis]), 0)
        large = share.astype(np.float64) * counts[:, axis] * columns.shape[1] >= MOST_COST
        share = np.where(large, 0, share * np.where(large, 1, counts[:, axis]))
    return share, np.where(share[:, None] > 0, share[:, None], counts) // counts
