"""The smallest flip sets of many rows at once: the table search, as a flow over the rows of a table.

It asks the score of each row as it stands, and then searches rows together, some hundreds at a time. Rows that are done
make room for others. A query is a row and the features that are flipped in it; queries come as arrays, and so do the
scores. The flow does no I/O: a driver turns queries into rows of the model's own kind, by `Queries.rows_for`, and says
NaN where the model failed on a row.

Rows of another kind than `flipset.explain.choice` names are passed over: nothing is found out about them here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from flipset.errors import BudgetExhausted, FlipsetError
from flipset.explain.choice import fits_arrays
from flipset.models.scores import margins_of
from flipset.models.tables import Pile, can_be_piled
from flipset.protocol import Flow, ask, features_of, flips_of
from flipset.search.table.log import as_words
from flipset.search.table.one import conclude_search
from flipset.search.table.search import MOST_FEATURES, TableSearch
from flipset.space.moves import Finder
from flipset.space.rows import Row, check_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flipset.protocol import Flips
    from flipset.search.result import Flipsets
    from flipset.search.table.search import Outcome
    from flipset.search.table.search import Queries as SetQueries
    from flipset.space import Space
    from flipset.space.moves import Cells, Moves

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Bools: TypeAlias = NDArray[np.bool_]

Query: TypeAlias = "tuple[int, Flips]"
"""The number of a row, and the columns of it that are flipped, as a bitmask."""


@dataclass(frozen=True, slots=True, eq=False)
class Queries(Sequence[Query]):
    """A batch of queries, in arrays.

    Attributes
    ----------
    rows
        The number of the row that each is about.
    flips
        The columns that each flips.
    rows_for
        Makes some of these queries, by their places, into rows that the model takes.
    """

    rows: Ints
    flips: Bools
    rows_for: Callable[[Ints], Any]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> Query: ...
    @overload
    def __getitem__(self, at: slice) -> Queries: ...
    def __getitem__(self, at: int | slice) -> Query | Queries:
        """Return one query, or some as a batch of their own."""
        if isinstance(at, slice):
            places = np.arange(len(self))[at]
            return Queries(self.rows[at], self.flips[at], lambda part: self.rows_for(places[part]))
        return int(self.rows[at]), flips_of(np.flatnonzero(self.flips[at]).tolist())

    def read_answers(self, given: Any) -> Floats:
        """Return scores as an array; drivers leave it to the batch to read its answers."""
        return np.asarray(given, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class RowSets:
    """What was found out about a row among others.

    Attributes
    ----------
    row
        The row, checked.
    moves
        What it may do.
    scores
        Answers that are wanted again, by the cells in which a row differs from this one: those to the row itself and
        to its flip sets.
    found
        The smallest flip sets, if they were found.
    asked
        Lists all sets that were asked about, each with its score and its margin.
    contradiction
        A set that flips and a larger one that does not, if there were such.
    queries, rounds
        What it took, the query about the row itself included.
    """

    row: Row
    moves: Moves
    scores: Mapping[Cells, float]
    found: Flipsets | None
    asked: Callable[[], Iterable[tuple[Flips, float, float]]]
    contradiction: tuple[Flips, Flips] | None
    queries: int
    rounds: int


Found: TypeAlias = Callable[[tuple[int, RowSets | None]], None]
"""Takes the number of a row and what was found out about it."""


def _only_scored(row: Row, moves: Moves, score: float) -> RowSets:
    """Say what is known about a row that was asked about as it stands."""
    return RowSets(row, moves, {(): score}, None, tuple, None, queries=1, rounds=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Begun:
    """A row that can be searched with others: its number, the row checked and as numbers, its score, its moves."""

    number: int
    row: Row
    numbers: Floats
    score: float
    moves: Moves


def searching(
    space: Space,
    rows: Sequence[Row],
    threshold: float,
    found: Found,
    *,
    places: int,
    batch: int,
    reasons: bool,
) -> Flow[Query, None]:
    """Search rows together, so many at a time; hand each number to `found` with what was found out, in any order.

    That is None for rows that do not fit, and for those on which the model fails. When a budget ends, all rows that are
    under way are handed over with what is known of them, and those not begun with None.
    """
    columns = [i for i, feature in enumerate(space.features) if feature.ordered and not feature.fixed]
    if not 0 < len(columns) <= MOST_FEATURES:
        for i in range(len(rows)):
            found((i, None))
        return
    together = _Together(space, threshold, columns, min(places, len(rows)), batch, reasons)
    arrivals = _Arrivals(Finder(space), rows, threshold, places)
    try:
        while True:
            yield from arrivals.score(together.free(), found)
            together.admit(arrivals.take(together.free()))
            if together.is_empty():
                return
            yield from together.ask_on(found)
    except BudgetExhausted:
        together.give_up(found)
        arrivals.give_up(found)


class _Arrivals:
    """The rows that have not joined the search: some are scored and wait, the others follow in their order."""

    def __init__(self, finder: Finder, rows: Sequence[Row], threshold: float, part: int) -> None:
        self.finder, self.rows, self.threshold = finder, rows, threshold
        self.part = part
        self.waiting: deque[_Begun] = deque()
        self.at = 0

    def take(self, most: int) -> list[_Begun]:
        """Take rows that wait."""
        return [self.waiting.popleft() for _ in range(min(len(self.waiting), most))]

    def score(self, wanted: int, found: Found) -> Flow[Query, None]:
        """Ask about further rows as they stand until so many wait; hand over those that cannot be searched."""
        while len(self.waiting) < wanted and self.at < len(self.rows):
            part = range(self.at, min(self.at + self.part, len(self.rows)))
            begun, stop = yield from _score(self.finder, self.rows, part, self.threshold)
            self.at = part.stop
            for i, one in zip(part, begun, strict=True):
                if isinstance(one, _Begun):
                    self.waiting.append(one)
                else:
                    found((i, one))
            if stop is not None:
                raise stop

    def give_up(self, found: Found) -> None:
        """Hand over all rows that never joined."""
        for one in self.waiting:
            found((one.number, _only_scored(one.row, one.moves, one.score)))
        for i in range(self.at, len(self.rows)):
            found((i, None))


def _score(
    finder: Finder, rows: Sequence[Row], part: range, threshold: float
) -> Flow[Query, tuple[list[_Begun | RowSets | None], BudgetExhausted | None]]:
    """Ask about rows as they stand; return those that can be searched with others, and what is known of the rest.

    Where a budget ends meanwhile, that is returned too: the answers that arrived before are paid for.
    """
    space = finder.space
    begun: list[_Begun | RowSets | None] = [None] * len(part)
    checked: list[tuple[int, Row]] = []
    for k, i in enumerate(part):
        try:
            row = check_row(space, rows[i])
        except FlipsetError:
            continue  # it will be said when that row is looked at by itself
        if can_be_piled(row, space.reference):
            checked.append((k, row))
    if not checked:
        return begun, None
    pile = Pile.of(len(space.names), space.reference, [row for _, row in checked])
    unchanged = np.zeros(pile.base.shape, dtype=bool)
    numbers = np.array([part[k] for k, _ in checked])
    queries = Queries(numbers, unchanged, lambda some: pile.table(some, unchanged[some], pile.base))
    ended: BudgetExhausted | None = None
    try:
        scores = np.asarray((yield from ask(queries)))
    except BudgetExhausted as stop:
        ended, scores = stop, _arrived(stop, len(queries))
    for (k, row), base, score in zip(checked, pile.base, scores.tolist(), strict=True):
        if np.isnan(score):
            continue
        try:
            moves = finder.moves(row, raise_score=score < threshold)
        except FlipsetError:
            continue
        fits = fits_arrays(space, row, moves)
        begun[k] = _Begun(part[k], row, base, score, moves) if fits else _only_scored(row, moves, score)
    return begun, ended


def _arrived(stop: BudgetExhausted, count: int) -> Floats:
    """Return the answers to a batch that arrived before a budget ended, NaN for the others."""
    scores = np.full(count, np.nan)
    for i, answer in enumerate(stop.answers):
        scores[i] = np.nan if answer is None else answer
    return scores


class _Together:
    """The rows that are searched together, each at its place of the search."""

    def __init__(
        self, space: Space, threshold: float, columns: Sequence[int], places: int, batch: int, reasons: bool
    ) -> None:
        self.threshold = threshold
        self.columns = np.array(columns)
        self.column_place = {column: j for j, column in enumerate(columns)}
        self.search = TableSearch(places, len(columns), batch=batch, reasons=reasons)
        self.members: dict[int, _Begun] = {}
        width = len(space.names)
        self.pile = Pile(space.reference, [Row()] * places, np.zeros((places, width)))
        self.best = np.zeros((places, width))
        self.rise = np.zeros(places, dtype=bool)
        self.numbers = np.zeros(places, dtype=np.intp)

    def free(self) -> int:
        """How many rows may join."""
        return len(self.pile.rows) - len(self.members)

    def is_empty(self) -> bool:
        """Whether no row is under way."""
        return not self.members

    def admit(self, begun: Sequence[_Begun]) -> None:
        """Take rows in."""
        places = self.search.free()[: len(begun)]
        movable = np.zeros((len(begun), len(self.columns)), dtype=bool)
        for k, (place, one) in enumerate(zip(places.tolist(), begun, strict=True)):
            self.members[place] = one
            self.numbers[place] = one.number
            self.pile.rows[place] = one.row
            self.pile.base[place] = self.best[place] = one.numbers
            self.rise[place] = one.score < self.threshold
            for column, value in one.moves.ends or ():
                movable[k, self.column_place[column]] = True
                self.best[place, column] = value
        scores = np.array([one.score for one in begun])
        self.search.enter(places, movable, margins_of(scores, self.threshold, self.rise[places]))

    def ask_on(self, found: Found) -> Flow[Query, None]:
        """Ask the next queries of all rows; hand over those that are done, and those on which the model fails."""
        queries = self.search.queries()
        if len(queries.places):
            changed = np.zeros((len(queries.places), self.best.shape[1]), dtype=bool)
            changed[:, self.columns] = queries.flips

            def rows_for(part: Ints) -> Any:
                return self.pile.table(queries.places[part], changed[part], self.best)

            try:
                answers = yield from ask(Queries(self.numbers[queries.places], changed, rows_for))
            except BudgetExhausted as stop:
                self._note(queries, _arrived(stop, len(queries.places)))
                raise
            scores = np.asarray(answers)
            failed = set(queries.places[np.isnan(scores)].tolist())
            scores = np.nan_to_num(scores, nan=0.0, posinf=np.inf, neginf=-np.inf)
            margins = margins_of(scores, self.threshold, self.rise[queries.places])
            self.search.learn(queries, scores, margins)
            self.search.drop(failed)
            for place in failed:
                found((self.members.pop(place).number, None))
        self._hand_over(found)

    def _note(self, queries: SetQueries, scores: Floats) -> None:
        """Keep the answers to a part of the queries, NaN for the others: the search goes no further."""
        (some,) = np.nonzero(~np.isnan(scores))
        margins = margins_of(scores[some], self.threshold, self.rise[queries.places[some]])
        self.search.log.add(queries.places[some], as_words(queries.flips[some]), scores[some], margins)

    def give_up(self, found: Found) -> None:
        """End all searches with what is known."""
        self.search.give_up(np.array(list(self.members), dtype=np.intp))
        self._hand_over(found)

    def _hand_over(self, found: Found) -> None:
        for place, outcome in self.search.leave():
            one = self.members.pop(place)
            found((one.number, self._sets_of(one, outcome)))

    def _sets_of(self, begun: _Begun, outcome: Outcome) -> RowSets:
        """Say what was found out about a row, in terms of its own units."""
        moves = begun.moves
        columns = [column for column, _ in moves.ends or ()]
        unit = {self.column_place[column]: i for i, column in enumerate(columns)}
        same = len(columns) == len(self.columns)

        def read(word: int) -> Flips:
            return word if same else sum(1 << unit[place] for place in features_of(word))

        pair = outcome.contradiction()
        words, scores = outcome.flips.tolist(), outcome.scores.tolist()
        settled = outcome.ones if pair is None else None
        kept = set(settled or ())
        again: dict[Cells, float] = {(): begun.score}
        for word, score in zip(words, scores, strict=True):
            if word in kept:
                again[moves.rows(read(word))[0]] = score

        def asked() -> Iterator[tuple[Flips, float, float]]:
            return zip(map(read, words), scores, outcome.margins.tolist(), strict=True)

        queries, rounds = 1 + len(words), 1 + outcome.rounds
        found = None if settled is None else conclude_search(outcome, len(moves.units), read, queries, rounds)
        contradiction = None if pair is None else (read(pair[0]), read(pair[1]))
        return RowSets(begun.row, moves, again, found, asked, contradiction, queries, rounds)
