"""The smallest flip sets of many rows at once: the table search, as a flow over the rows of a table.

The flow first queries each row as it is, and then searches some hundreds of rows together. When a row is done, another
takes its place. A query is a row and the columns that are flipped in it. Queries and scores are arrays. The flow does
no I/O: a driver turns queries into rows of the model's own kind, with `RowQueries.rows_for`, and answers NaN where the
model failed on a row.

Rows that do not fit (`flipset.explain.choice` says which do) are reported without a result. The guided search explains
them later, one by one.

Invariants:

- Every row is reported exactly once, whatever happens to it.
- The queries about a row, and what is learned from them, do not depend on the other rows of the table.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from flipset.errors import BudgetExhausted, FlipsetError
from flipset.explain.bound_columns import BoundColumns
from flipset.explain.choice import moves_fit_arrays
from flipset.models.scores import margins_of
from flipset.models.tables import NumericRows, is_numeric_row
from flipset.protocol import Flow, ask, features_of, flips_of
from flipset.search.table.log import as_words
from flipset.search.table.one import conclude_search
from flipset.search.table.search import MOST_FEATURES, TableSearch
from flipset.space.moves import MoveFinder
from flipset.space.rows import Row, check_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flipset.protocol import Flips
    from flipset.search.result import Flipsets
    from flipset.search.table.log import Outcome
    from flipset.search.table.search import SetQueries
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.moves import Moves
    from flipset.space.table_rows import TableRows

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Bools: TypeAlias = NDArray[np.bool_]

Query: TypeAlias = "tuple[int, Flips]"
"""The number of a row, and the columns of it that are flipped, as a bitmask."""


@dataclass(frozen=True, slots=True, eq=False)
class RowQueries(Sequence[Query]):
    """A batch of queries, in arrays.

    Attributes
    ----------
    rows
        For each query the number of its row.
    flips
        For each query the columns that it flips.
    rows_for
        Turns some of these queries, given by their places, into rows for the model.
    """

    rows: Ints
    flips: Bools
    rows_for: Callable[[Ints], Any]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> Query: ...
    @overload
    def __getitem__(self, at: slice) -> RowQueries: ...
    def __getitem__(self, at: int | slice) -> Query | RowQueries:
        """Return one query, or some as a batch of their own."""
        if isinstance(at, slice):
            places = np.arange(len(self))[at]
            return RowQueries(self.rows[at], self.flips[at], lambda part: self.rows_for(places[part]))
        return int(self.rows[at]), flips_of(np.flatnonzero(self.flips[at]).tolist())

    def read_answers(self, given: Any) -> Floats:
        """Return scores as an array. Drivers let the batch read its own answers."""
        return np.asarray(given, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class RowSets:
    """What was learned about a row before it is explained: by the table search, or by a recheck.

    Attributes
    ----------
    row
        The row, checked.
    moves
        What may change in it.
    scores
        The scores that are needed again, by the cells in which a row differs from this one: those of the row itself
        and of its flip sets. If sets have several rows each, all of them.
    result
        The smallest flip sets, with their proof; None where the search did not get that far.
    asked
        Lists all sets that were asked about, each with the score of its first row and its margin.
    contradiction
        A set that flips and a larger one that does not; None where there is no such pair.
    queries, rounds
        The cost of the search, including the query about the row itself.
    has_values
        Whether some scores are of rows that are not at their best values. No search notices what these say about the
        directions, so all scores are compared at the end.
    """

    row: Row
    moves: Moves
    scores: Mapping[Cells, float]
    result: Flipsets | None
    asked: Callable[[], Iterable[tuple[Flips, float, float]]]
    contradiction: tuple[Flips, Flips] | None
    queries: int
    rounds: int
    has_values: bool = False

    def scores_of_sets(self) -> dict[Cells, float]:
        """Return the scores of all sets that were asked about, by the first row of each."""
        # The table search runs only where a set is one row. A recheck lists the rows of other sets in `scores`.
        rows = ((self.moves.rows(flips), score) for flips, score, _ in self.asked())
        return {block[0]: score for block, score in rows if block}


Report: TypeAlias = Callable[[tuple[int, RowSets | None]], None]
"""Takes the number of a row and what was learned about it."""


def _only_scored(row: Row, moves: Moves, score: float) -> RowSets:
    """Return what is known about a row of which only its own score is known."""
    return RowSets(row, moves, {(): score}, None, tuple, None, queries=1, rounds=1)


@dataclass(frozen=True, slots=True, eq=False)
class _ScoredRow:
    """A row that fits the table search: its number, the row checked and as numbers, its score, its moves."""

    number: int
    row: Row
    numbers: Floats
    score: float
    moves: Moves


def search_rows(
    space: Space,
    rows: TableRows,
    threshold: float,
    report: Report,
    *,
    places: int,
    batch: int,
    reasons: bool,
    only_decision: bool | None = None,
    most: int | None = None,
) -> Flow[Query, None]:
    """Search rows together, at most `places` at a time; pass each number to `report` with what was learned.

    A row that has more than `most` flip sets has no result: which of them are listed is not decided here.

    Rows are reported in any order. Nothing, that is None, is reported for rows that do not fit and for rows on which
    the model fails. Rows with another decision than `only_decision` are scored and not searched. When a budget ends,
    the rows under way are reported with what is known of them, and those not begun with None.
    """
    columns = [i for i, feature in enumerate(space.features) if feature.ordered and not feature.fixed]
    if not 0 < len(columns) <= MOST_FEATURES:
        for i in range(len(rows)):
            report((i, None))
        return
    # Rows wait until a place is free. So the arrays have a fixed size, and calls stay large until the last rows.
    active = _ActiveRows(space, threshold, columns, min(places, len(rows)), batch, reasons, most)
    waiting = _WaitingRows(MoveFinder(space), rows, threshold, places, only_decision)
    try:
        while True:
            yield from waiting.score(active.free(), report)
            # Scored before they are admitted: whether a row fits, and which way it moves, follows from its score.
            active.admit(waiting.take(active.free()))
            if active.is_empty():
                return
            yield from active.ask_next(report)
    except BudgetExhausted:
        active.give_up(report)
        waiting.give_up(report)


class _WaitingRows:
    """The rows that have not joined the search: first those that are scored and wait, then the others, in order."""

    def __init__(
        self, finder: MoveFinder, rows: TableRows, threshold: float, part: int, only_decision: bool | None
    ) -> None:
        self.finder, self.rows, self.threshold = finder, rows, threshold
        self.only_decision = only_decision
        self.part = part  # how many rows to score in one call
        self.scored: deque[_ScoredRow] = deque()
        self.next = 0  # the first row that is not scored

    def take(self, most: int) -> list[_ScoredRow]:
        """Remove and return up to `most` scored rows."""
        return [self.scored.popleft() for _ in range(min(len(self.scored), most))]

    def score(self, wanted: int, report: Report) -> Flow[Query, None]:
        """Query further rows as they are, until `wanted` of them wait; report those that do not fit."""
        while len(self.scored) < wanted and self.next < len(self.rows):
            part = range(self.next, min(self.next + self.part, len(self.rows)))
            # A budget that ends here is raised only after the rows that were answered are sorted in: they are paid for.
            outcomes, stop = yield from _score(self.finder, self.rows, part, self.threshold)
            self.next = part.stop
            for i, outcome in zip(part, outcomes, strict=True):
                if isinstance(outcome, _ScoredRow) and self._is_left_out(outcome):
                    report((i, _only_scored(outcome.row, outcome.moves, outcome.score)))
                elif isinstance(outcome, _ScoredRow):
                    self.scored.append(outcome)
                else:
                    report((i, outcome))
            if stop is not None:
                raise stop

    def _is_left_out(self, one: _ScoredRow) -> bool:
        """Say whether a row has another decision than those that were asked about."""
        return self.only_decision not in (None, one.score >= self.threshold)

    def give_up(self, report: Report) -> None:
        """Report all rows that never joined."""
        for one in self.scored:
            report((one.number, _only_scored(one.row, one.moves, one.score)))
        for i in range(self.next, len(self.rows)):
            report((i, None))


def _score(
    finder: MoveFinder, rows: TableRows, part: range, threshold: float
) -> Flow[Query, tuple[list[_ScoredRow | RowSets | None], BudgetExhausted | None]]:
    """Query rows as they are; return those that fit as `_ScoredRow`, and what is known about the others.

    If a budget ends meanwhile, that is returned too: the answers that arrived before are paid for.
    """
    space = finder.space
    outcomes: list[_ScoredRow | RowSets | None] = [None] * len(part)
    checked: list[tuple[int, Row]] = []
    for k, i in enumerate(part):
        try:
            row = check_row(space, rows.row(i))
        except FlipsetError:
            continue  # the error is raised again, and reported, when this row is explained by itself
        if is_numeric_row(row, space.reference):
            checked.append((k, row))
    if not checked:
        return outcomes, None
    numeric = NumericRows.of(len(space.names), space.reference, [row for _, row in checked])
    unchanged = np.zeros(numeric.base.shape, dtype=bool)
    numbers = np.array([part[k] for k, _ in checked])
    queries = RowQueries(numbers, unchanged, lambda some: numeric.table(some, unchanged[some], numeric.base[some]))
    ended: BudgetExhausted | None = None
    try:
        scores = np.asarray((yield from ask(queries)))
    except BudgetExhausted as stop:
        ended, scores = stop, _arrived(stop, len(queries))
    for (k, row), base, score in zip(checked, numeric.base, scores.tolist(), strict=True):
        if np.isnan(score):
            continue  # the model failed on this row
        try:
            moves = finder.moves(row, raise_score=score < threshold)
        except FlipsetError:
            continue
        fits = moves_fit_arrays(space, moves)  # the numbers of the row itself are checked above
        outcomes[k] = _ScoredRow(part[k], row, base, score, moves) if fits else _only_scored(row, moves, score)
    return outcomes, ended


def _arrived(stop: BudgetExhausted, count: int) -> Floats:
    """Return the answers to a batch that arrived before a budget ended, NaN for the others."""
    scores = np.full(count, np.nan)
    for i, answer in enumerate(stop.answers):
        scores[i] = np.nan if answer is None else answer
    return scores


class _ActiveRows:
    """The rows that are searched together.

    The arrays have one line for each place of the search: `numeric` holds the rows as they are, `best` the same rows
    with every movable column at its best value, `rise` whether the score is to rise, and `numbers` the row's number.
    Invariant: the lines of a place describe `members[place]`; those of a free place are stale and never read.
    """

    def __init__(
        self,
        space: Space,
        threshold: float,
        columns: Sequence[int],
        places: int,
        batch: int,
        reasons: bool,
        most: int | None,
    ) -> None:
        self.most = most
        self.threshold = threshold
        self.columns = np.array(columns)
        self.column_place = {column: j for j, column in enumerate(columns)}
        self.bound = BoundColumns(space, columns)
        self.search = TableSearch(places, len(columns), batch=batch, reasons=reasons)
        self.members: dict[int, _ScoredRow] = {}
        width = len(space.names)
        self.numeric = NumericRows(space.reference, [Row()] * places, np.zeros((places, width)))
        self.best = np.zeros((places, width))
        self.rise = np.zeros(places, dtype=bool)
        self.numbers = np.zeros(places, dtype=np.intp)

    def free(self) -> int:
        """Return how many rows may join."""
        return len(self.numeric.rows) - len(self.members)

    def is_empty(self) -> bool:
        """Say whether no row is under way."""
        return not self.members

    def admit(self, rows: Sequence[_ScoredRow]) -> None:
        """Add rows to the search, at free places."""
        # The search decides which places are free. `members` has one entry for each place that is not.
        places = self.search.free()[: len(rows)]
        movable = np.zeros((len(rows), len(self.columns)), dtype=bool)
        for k, (place, one) in enumerate(zip(places.tolist(), rows, strict=True)):
            self.members[place] = one
            self.numbers[place] = one.number
            self.numeric.rows[place] = one.row
            self.numeric.base[place] = self.best[place] = one.numbers
            self.rise[place] = one.score < self.threshold
            self.bound.enter(place, one.row, one.moves)
            # They are never None here: `moves_fit_arrays` has checked it.
            for column, value in one.moves.best_cells or ():
                movable[k, self.column_place[column]] = True
                self.best[place, column] = value
        scores = np.array([one.score for one in rows])
        self.search.enter(places, movable, margins_of(scores, self.threshold, self.rise[places]))

    def ask_next(self, report: Report) -> Flow[Query, None]:
        """Make the next queries of all rows; report the rows that are done and those on which the model fails."""
        queries = self.search.queries()
        if len(queries.places):
            # The search counts only the columns that can move; the model sees all columns of the space.
            changed = np.zeros((len(queries.places), self.best.shape[1]), dtype=bool)
            changed[:, self.columns] = queries.flips

            def rows_for(part: Ints) -> Any:
                places, of_part = queries.places[part], changed[part]
                numbers = np.where(of_part, self.best[places], self.numeric.base[places])
                self.bound.apply(places, queries.flips[part], numbers, of_part)
                return self.numeric.table(places, of_part, numbers)

            try:
                answers = yield from ask(RowQueries(self.numbers[queries.places], changed, rows_for))
            except BudgetExhausted as stop:
                self._note(queries, _arrived(stop, len(queries.places)))
                raise
            scores = np.asarray(answers)
            failed = set(queries.places[np.isnan(scores)].tolist())
            # A row on which the model failed once is dropped, with all of its answers. Until then its NaN must be a
            # number, because the search learns from all answers at once.
            scores = np.nan_to_num(scores, nan=0.0, posinf=np.inf, neginf=-np.inf)
            margins = margins_of(scores, self.threshold, self.rise[queries.places])
            self.search.learn(queries, scores, margins)
            self.search.drop(failed)  # before rows are reported as finished: a failed row must not be among them
            for place in failed:
                report((self.members.pop(place).number, None))
        self._report_finished(report)

    def _note(self, queries: SetQueries, scores: Floats) -> None:
        """Keep the answers to a part of the queries, NaN for the others: the search goes no further."""
        (some,) = np.nonzero(~np.isnan(scores))
        margins = margins_of(scores[some], self.threshold, self.rise[queries.places[some]])
        self.search.log.add(queries.places[some], as_words(queries.flips[some]), scores[some], margins)

    def give_up(self, report: Report) -> None:
        """End the search of every row, and report what is known."""
        self.search.give_up(np.array(list(self.members), dtype=np.intp))
        self._report_finished(report)

    def _report_finished(self, report: Report) -> None:
        for place, outcome in self.search.leave():
            one = self.members.pop(place)
            report((one.number, self._sets_of(one, outcome)))

    def _sets_of(self, scored: _ScoredRow, outcome: Outcome) -> RowSets:
        """Return what the search learned about a row, in terms of the row's own units."""
        # The search numbers the movable columns of the table; a row numbers its own units, which may be fewer: a
        # column that is already at its best value is no unit of that row.
        moves = scored.moves
        columns = [column for column, _ in moves.best_cells or ()]
        unit = {self.column_place[column]: i for i, column in enumerate(columns)}
        same = len(columns) == len(self.columns)

        def in_units(word: int) -> Flips:
            return word if same else sum(1 << unit[place] for place in features_of(word))

        # A word is a set of columns as the search numbers them.
        pair = outcome.contradiction()
        words, scores = outcome.flips.tolist(), outcome.scores.tolist()
        flipsets = outcome.ones if pair is None else None
        if flipsets is not None and self.most is not None and len(flipsets) > self.most:
            flipsets = None
        # Only the scores of the flip sets are turned into cells: most rows have hundreds of answers, and the search
        # for values needs no others. `asked` lists all of them where they are needed after all.
        kept: dict[Cells, float] = {(): scored.score}
        wanted = set(flipsets or ())
        for word, score in zip(words, scores, strict=True):
            if word in wanted:
                kept[moves.rows(in_units(word))[0]] = score

        def asked() -> Iterator[tuple[Flips, float, float]]:
            return zip(map(in_units, words), scores, outcome.margins.tolist(), strict=True)

        queries, rounds = 1 + len(words), 1 + outcome.rounds
        d = len(moves.units)
        result = None if flipsets is None else conclude_search(outcome, d, in_units, queries, rounds)
        contradiction = None if pair is None else (in_units(pair[0]), in_units(pair[1]))
        return RowSets(scored.row, moves, kept, result, asked, contradiction, queries, rounds)
