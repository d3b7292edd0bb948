"""Answers about one row that follow from answers about another: a row at least as good as an approved one is approved.

The rows of a table ask about many similar rows, and the model is monotone: where every column with a direction is at
least as good, and every other column is equal, the score is at least as high. So the decision on a row may be known
before it is asked. `SharedAnswers` stands between the searches and the model, keeps rows whose decision was asked, and
asks the model only about rows whose decision does not follow.

It is for models that answer with their decision alone, 0 or 1. There, what follows is the very answer that the model
would give. So searches, proofs and results are the same to the last bit, and so are their counts of queries; fewer rows
reach the model. Which ones depends on the order of the rows, the results do not. A score would not follow, only its
side of the threshold: searches that learn from scores would ask other queries, and reasons are chosen by scores.

Columns are compared only where the explanations themselves rely on the direction: columns that may move, are not
computed, and whose direction no pair of rows has contradicted. All others must be equal, and so must cells that are
special codes, missing or no numbers.

Invariants:

- No kept row follows from another one that is kept.
- A row that was asked about follows from then on, unless the memory was full.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.drivers.drive import adrive, drive
from flipset.errors import FlipsetError
from flipset.models.scores import EXACT
from flipset.space.feature import plain
from flipset.space.identity import cell_key, take_rows
from flipset.space.reference import read_frame
from flipset.space.rows import is_frame

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Generator, Hashable, Sequence

    from numpy.typing import NDArray

    from flipset.space import Feature, Space
    from flipset.space.feature import Value

    Scores = NDArray[np.float64]

MOST_ROWS = 20_000
"""The most rows that are kept for one decision. Comparing a call of 256 rows with them takes a tenth of a second."""


FIRST_COLUMNS = 5
"""Columns in which all pairs of rows are compared. Most pairs are ruled out by then."""

_ORDERED = (float, "ordered")
"""What stands in the key of a row for a cell that is compared by its order; no cell has this key."""


@dataclass(slots=True)
class LeastRows:
    """Rows of numbers, none of which lies below another: those that were added, without those above others."""

    width: int
    most: int = MOST_ROWS
    rows: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = np.empty((0, self.width))

    def are_below(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say for each point whether some row is at most as large in every column."""
        below = np.zeros(len(points), dtype=bool)
        below[_pairs(self.rows, points)[1]] = True
        return below

    def add(self, points: NDArray[np.float64]) -> None:
        """Add points; a full memory takes only as many as replace others."""
        new = np.unique(points[~self.are_below(points)], axis=0)
        lower, upper = _pairs(new, new)
        least = np.ones(len(new), dtype=bool)
        least[upper[lower != upper]] = False
        new = new[least]
        replacing, replaced = _pairs(new, self.rows)
        stay = np.ones(len(self.rows), dtype=bool)
        stay[replaced] = False
        room = self.most - int(stay.sum())
        if len(new) > room:
            others = np.ones(len(new), dtype=bool)
            others[replacing] = False
            new = new[np.argsort(others, kind="stable")[:room]]
        self.rows = np.concatenate([self.rows[stay], new])


def _pairs(low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs of rows of which the first is at most as large as the second in every column."""
    below = np.ones((len(low), len(high)), dtype=bool)
    for column in range(min(FIRST_COLUMNS, low.shape[1])):
        below &= low[:, column, None] <= high[:, column]
    i, j = np.nonzero(below)
    # Few pairs are left. They are compared one column after the other.
    for column in range(FIRST_COLUMNS, low.shape[1]):
        stay = low[i, column] <= high[j, column]
        i, j = i[stay], j[stay]
    return i, j


@dataclass(slots=True)
class _Known:
    """The rows whose decision was asked, among those that agree in all columns without an order."""

    approved: LeastRows
    declined: LeastRows  # with all numbers negated


class SharedAnswers:
    """The decisions that a model was asked for, and those that follow from them.

    Parameters
    ----------
    space
        The space, with the directions of the columns.
    names
        The columns whose directions count.
    name
        What the model is called in errors.

    Attributes
    ----------
    asked, followed
        How many rows the model was asked about, and how many decisions followed.
    """

    def __init__(self, space: Space, names: Collection[str], name: str = "the model") -> None:
        self.asked = self.followed = 0
        self._given = space, tuple(names), name
        self._name = name
        self._columns = [(i, _column(one)) for i, one in enumerate(space.features) if one.name in names]
        self._known: dict[Hashable, _Known] = {}
        self._lock = Lock()  # several calls may be under way

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process has a memory of its own.
        return type(self), self._given

    def ask(self, call: Callable[[Any], Scores], table: Any) -> Scores:
        """Return the answer to each row of a table; the model is called with those that do not follow."""
        return drive(self._answering(table), call)

    async def aask(self, call: Callable[[Any], Awaitable[Scores]], table: Any) -> Scores:
        """Do the same by awaiting the model."""
        return await adrive(self._answering(table), call)

    def _answering(self, table: Any) -> Generator[Any, Scores, Scores]:
        keys, points = self._read(table)
        with self._lock:
            scores = self._follow(keys, points)
        (new,) = np.nonzero(np.isnan(scores))
        if len(new):
            some = table if len(new) == len(scores) else take_rows(table, new.tolist())
            scores[new] = self._labels((yield some))
            with self._lock:
                self._learn([keys[i] for i in new.tolist()], points[new], scores[new])
        with self._lock:
            self.asked += len(new)
            self.followed += len(scores) - len(new)
        return scores

    def _labels(self, scores: Scores) -> Scores:
        odd = scores[(scores != 0.0) & (scores != 1.0)]
        if len(odd):
            # Not an error about rows: it ends the run at once, where those are traced to their rows by further calls.
            raise FlipsetError(
                f"share_answers needs a model that answers with its decision alone, 0 or 1; {self._name} returned "
                f"{odd[0]:g}: wrap it, such as lambda rows: model(rows) >= 0.5, or leave share_answers out"
            )
        return scores

    def _read(self, table: Any) -> tuple[list[Hashable], NDArray[np.float64]]:
        """Return for each row a key of all that must be equal, and the numbers that are ordered, upwards."""
        keys: list[Hashable] = []
        points = []
        for row in _raw_rows(table):
            key = list(map(cell_key, row))
            point = [0.0] * len(self._columns)
            for k, (place, column) in enumerate(self._columns):
                number = column(plain(row[place]))
                if number == number:
                    key[place], point[k] = _ORDERED, number
            keys.append(tuple(key))
            points.append(point)
        return keys, np.array(points, dtype=np.float64).reshape(len(keys), len(self._columns))

    def _follow(self, keys: Sequence[Hashable], points: NDArray[np.float64]) -> Scores:
        """Return the decisions that follow, and NaN for the others."""
        scores = np.full(len(keys), nan)
        for key, places in _places(keys).items():
            if (known := self._known.get(key)) is None:
                continue
            part = points[places]
            scores[places] = np.where(
                known.approved.are_below(part), 1.0, np.where(known.declined.are_below(-part), 0.0, nan)
            )
        return scores

    def _learn(self, keys: Sequence[Hashable], points: NDArray[np.float64], scores: Scores) -> None:
        for key, places in _places(keys).items():
            if (known := self._known.get(key)) is None:
                width = points.shape[1]
                known = self._known[key] = _Known(LeastRows(width), LeastRows(width))
            part, approved = points[places], scores[places] == 1.0
            known.approved.add(part[approved])
            known.declined.add(-part[~approved])


def _places(keys: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    places: dict[Hashable, list[int]] = {}
    for i, key in enumerate(keys):
        places.setdefault(key, []).append(i)
    return places


def _raw_rows(table: Any) -> list[Sequence[Any]]:
    """Return the cells of a frame or an array as they are, row by row."""
    rows: list[Sequence[Any]] = read_frame(table).rows() if is_frame(table) else np.asarray(table).tolist()
    return rows


def _column(feature: Feature) -> Callable[[Value], float]:
    """Return how the cells of a column become numbers that rise with the score, NaN for those that must be equal."""
    assert feature.direction is not None, "only columns with a direction are compared"
    sign, levels = float(feature.direction), feature.levels

    def number(cell: Value) -> float:
        if not feature.is_ordinary(cell):
            return nan
        if levels:
            return sign * levels.index(cell)
        # Whole numbers beyond 2^53 may be equal as floats although they differ.
        is_exact = isinstance(cell, float) or (isinstance(cell, int) and abs(cell) <= EXACT)
        return sign * float(cell) if is_exact else nan

    return number


def moving_columns(space: Space, contradicted: Collection[str]) -> list[str]:
    """Return the columns whose directions explanations rely on."""
    # Columns that are computed from others have no direction, or are fixed.
    moving = [feature.name for feature in space.features if feature.direction is not None and not feature.fixed]
    return [name for name in moving if name not in contradicted]
