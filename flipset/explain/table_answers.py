"""Many rows answered at once: a flow over the rows of a table, in arrays.

The flow takes some hundreds of rows at a time. It queries each row as it is, finds the smallest flip sets and the
reasons of all of them (`flipset.search.table`), and then the cheapest values (`flipset.values.table_values`). Queries
and scores are arrays. The flow does no I/O: a driver turns queries into rows of the model's own kind, with
`RowQueries.rows_for`, and answers NaN where the model failed on a row.

A row for which this is the whole answer is reported as a line of `AnswerColumns`. For any other row, what was found is
reported, and a flow of its own goes on from there (`flipset.explain.row`). `flipset.explain.choice` says which rows
fit.

Invariants:

- Every row is reported exactly once, whatever happens to it.
- The queries about a row, and what is learned from them, do not depend on the other rows of the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from flipset.answers.order import is_clearly_out_of_order
from flipset.errors import BudgetExhausted, FlipsetError
from flipset.explain.answer_columns import AnswerColumns, AnswerRow, SetsOfRows
from flipset.explain.asked_sets import AskedSets
from flipset.explain.choice import is_answered_in_arrays, reasons_in_arrays
from flipset.explain.part_values import AXES_TOGETHER, MOST_AXES, LaidRows, PartValues, may_find_values
from flipset.explain.row_queries import RowQueries, arrived
from flipset.explain.row_sets import RowSets, only_scored
from flipset.explain.table_moves import TableMoves
from flipset.models.scores import margins_of
from flipset.protocol import Flow, ask, relay
from flipset.search.table.memory import as_words
from flipset.search.table.search import NONE, OPEN, SetQueries, TableSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from flipset.explain.answer_columns import Terms
    from flipset.explain.row_queries import Query
    from flipset.explain.table_moves import PartMoves, PartRows
    from flipset.protocol import Flips
    from flipset.space.cells import Cells
    from flipset.space.column_paths import ColumnPaths
    from flipset.space.moves import Moves
    from flipset.space.rows import Row

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Bools: TypeAlias = NDArray[np.bool_]

AT_A_TIME = 2_048
"""Rows that are searched together. The last of them need calls of their own, which take time; so there are many."""

Report: TypeAlias = "Callable[[tuple[int, RowSets | AnswerRow | None]], None]"
"""Takes the number of a row, and its answer or what was learned about it."""


def answer_rows(
    terms: Terms, report: Report, *, alone: bool = False, at_a_time: int | None = None
) -> Flow[Query, None]:
    """Answer the rows of a table; pass each number to `report` with its answer or what was learned.

    Rows are reported in any order. Nothing, that is None, is reported for rows that do not fit and for rows on which
    the model fails. Rows with another decision than the request wants are scored and not searched. When a budget ends,
    the rows under way are reported with what is known of them, and those not begun with None. If `alone`, a call counts
    more than the queries in it. `at_a_time` rows are under way, by default `AT_A_TIME`.
    """
    moves = TableMoves(terms.space, terms.rows)
    count = len(terms.rows)
    if moves.columns is None:
        for i in range(count):
            report((i, None))
        return
    at_a_time = at_a_time or AT_A_TIME
    for start in range(0, count, at_a_time):
        rows = range(start, min(start + at_a_time, count))
        part = _Part(terms, moves, rows, alone)
        try:
            yield from part.run()
        except BudgetExhausted:
            part.report_all(report)
            for i in range(rows.stop, count):
                report((i, None))
            return
        part.report_all(report)


class _Part:
    """Some rows of a table that are answered together.

    The lines of all arrays belong to `rows`, the rows that arrays can hold. The search takes those of them that fit:
    its row k is line `lines[k]`.
    """

    def __init__(self, terms: Terms, moves: TableMoves, part: range, alone: bool) -> None:
        self.terms, self.moves, self.part, self.alone = terms, moves, part, alone
        self.rows: PartRows = moves.read(part)
        count = len(self.rows.numbers)
        self.scores = np.full(count, np.nan)
        self.queries, self.rounds = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=np.intp)
        self.failed = np.zeros(count, dtype=bool)
        self.lines = np.zeros(0, dtype=np.intp)
        self.found: PartMoves | None = None
        self.search: TableSearch | None = None
        self.asked = AskedSets(0)
        self.values: PartValues | None = None
        self.valued: Bools | None = None  # the flip sets whose values are sought, if not all of them

    def run(self) -> Flow[Query, None]:
        """Query the rows, search them, and find values."""
        terms, columns = self.terms, self.moves.columns
        if not len(self.rows.numbers):
            return
        everyone = np.arange(len(self.rows.numbers))
        unchanged = np.zeros((len(everyone), len(terms.space.names)), dtype=bool)
        try:
            self.scores = yield from self._ask(everyone, unchanged, _write_nothing)
        except BudgetExhausted as stop:
            self.scores = arrived(stop, len(everyone))
            raise
        self.failed = np.isnan(self.scores)
        rise = self.scores < terms.threshold
        wanted = ~self.failed & self._is_wanted(~rise)
        found = self.found = self.moves.find(self.rows, rise)
        self.lines = np.flatnonzero(wanted & found.fits)
        if not self.lines.size or columns is None:
            return
        base = margins_of(self.scores[self.lines], terms.threshold, rise[self.lines])
        request = terms.request
        movable = found.movable[self.lines]
        self.search = TableSearch(
            movable, base, reasons=reasons_in_arrays(request), most=request.max_changes, alone=self.alone
        )
        self.asked = AskedSets(len(self.lines))
        try:
            yield from relay(self.search.run(), self._ask_sets)
        finally:
            self.failed[self.lines[self.search.failed]] = True
            self.asked.sort()
        if request.values and self.moves.paths is not None and may_find_values(terms, self.moves.paths):
            yield from self._find_values(self.moves.paths)

    def _find_values(self, paths: ColumnPaths) -> Flow[Query, None]:
        """Find the cheapest values of flip sets."""
        search, found, most = self.search, self.found, self.terms.request.value_queries
        assert search is not None, "the sets are found"
        assert found is not None, "the sets are found"
        assert found.places is not None, "there are paths"
        cells = self.rows.numeric.base[self.lines][:, paths.columns]
        rows = LaidRows(cells, found.places[self.lines], self.scores[self.lines] < self.terms.threshold, search.base)
        start, words = search.ones.joined(len(self.lines))
        count = np.diff(start)
        which = np.repeat(np.arange(len(self.lines)), count)
        most_sets = self.terms.request.max_flipsets
        if most_sets is not None:  # which of the others are listed is not decided here
            self.valued = count[which] <= most_sets
            words, which = words[self.valued], which[self.valued]
        best = self.asked.margin_of(which, words)
        axes = MOST_AXES if self.alone else AXES_TOGETHER
        self.values = PartValues(paths, self.terms.space.reference, rows, which, words, best, axes=axes)
        yield from self.values.run(self.ask_changed, self.margins, most, thorough=self.alone)

    def _is_wanted(self, decision: Bools) -> Bools:
        only = self.terms.request.only_decision
        return np.ones(len(decision), dtype=bool) if only is None else decision == only

    # --- queries --------------------------------------------------------------------------------------------------

    def _ask(self, lines: Ints, changed: Bools, write: Callable[[Ints, Floats, Bools], None]) -> Flow[Query, Floats]:
        """Return the scores of changed rows, NaN where there is none.

        `write` puts the changes into some of the rows, given as numbers, and notes further columns that change.
        """
        numeric = self.rows.numeric

        def rows_for(some: Ints) -> Any:
            numbers, of_some = numeric.base[lines[some]], changed[some]
            write(some, numbers, of_some)
            return numeric.table(lines[some], of_some, numbers)

        try:
            scores = np.asarray((yield from ask(RowQueries(self.rows.numbers[lines], changed, rows_for))))
        except BudgetExhausted as stop:
            self._count(lines[~np.isnan(arrived(stop, len(lines)))])
            raise
        self._count(lines)
        return scores

    def _count(self, lines: Ints) -> None:
        asked = np.bincount(lines, minlength=len(self.queries))
        self.queries += asked
        self.rounds += asked > 0

    def ask_changed(self, which: Ints, flips: Bools, values: Floats) -> Flow[Query, Floats]:
        """Return the scores of rows of the search with some of the movable columns at other values."""
        assert self.found is not None, "there is something to search"
        assert self.moves.columns is not None, "arrays can hold the columns"
        lines, bound, columns = self.lines[which], self.found.bound, self.moves.columns
        changed = np.zeros((len(lines), len(self.terms.space.names)), dtype=bool)
        changed[:, columns] = flips

        def write(some: Ints, numbers: Floats, of_some: Bools) -> None:
            numbers[:, columns] = np.where(flips[some], values[some], numbers[:, columns])
            if bound is not None:
                bound.apply(lines[some], flips[some], numbers, of_some)

        scores = yield from self._ask(lines, changed, write)
        self.failed[lines[np.isnan(scores)]] = True
        return scores

    def _ask_sets(self, queries: Sequence[Any]) -> Flow[Query, Any]:
        """Return the margins of sets, and keep the answers."""
        if not len(queries):  # a checkpoint
            yield from ask(())
            return np.zeros(0)
        assert isinstance(queries, SetQueries), "the search asks sets"
        assert self.found is not None, "the search began"
        best = self.found.best[self.lines[queries.rows]]
        try:
            scores = yield from self.ask_changed(queries.rows, queries.flips, best)
        except BudgetExhausted as stop:
            self._keep(queries, arrived(stop, len(queries)))
            raise
        return self._keep(queries, scores)

    def _keep(self, queries: SetQueries, scores: Floats) -> Floats:
        margins = self.margins(queries.rows, scores)
        self.asked.add(queries.rows, as_words(queries.flips), scores, margins)
        return margins

    def margins(self, which: Ints, scores: Floats) -> Floats:
        """Return the scores of rows of the search as margins; NaN stays NaN."""
        rise = self.scores[self.lines[which]] < self.terms.threshold
        missing = np.isnan(scores)
        if not missing.any():
            return margins_of(scores, self.terms.threshold, rise)
        margins = np.full(len(scores), np.nan)
        margins[~missing] = margins_of(scores[~missing], self.terms.threshold, rise[~missing])
        return margins

    # --- results --------------------------------------------------------------------------------------------------

    def report_all(self, report: Report) -> None:
        """Report every row of the part."""
        outcomes: dict[int, RowSets | AnswerRow | None] = dict.fromkeys(self.part)
        numbers = self.rows.numbers.tolist()
        left = ~(self.failed | np.isnan(self.scores))
        left[self.lines] = False
        for line in np.flatnonzero(left).tolist():
            outcomes[numbers[line]] = self._only_scored(line)
        if self.search is not None:
            for line, outcome in zip(self.lines.tolist(), self._searched(self.search), strict=True):
                outcomes[numbers[line]] = None if self.failed[line] else outcome
        for pair in outcomes.items():
            report(pair)

    def _only_scored(self, line: int) -> RowSets | None:
        row, score = self._row(line), float(self.scores[line])
        try:
            return only_scored(row, self._moves(line, row), score)
        except FlipsetError:
            return None  # the error is raised again, and reported, when this row is explained by itself

    def _row(self, line: int) -> Row:
        return self.rows.row(line, self.terms.space, self.terms.rows)

    def _moves(self, line: int, row: Row) -> Moves:
        return self.moves.moves(row, raise_score=bool(self.scores[line] < self.terms.threshold))

    def _searched(self, search: TableSearch) -> Iterator[RowSets | AnswerRow]:
        """Yield the outcome of each row that was searched."""
        answers = self._answers(search)
        most = self.terms.request.max_flipsets
        flipsets = np.diff(answers.flipsets.start)
        is_done = (search.size != OPEN) & (True if most is None else flipsets <= most)
        is_told = is_done & (is_answered_in_arrays(self.terms.request) & (search.size != OPEN))
        if self.terms.request.values:
            is_told &= (search.size == NONE) | (False if self.values is None else self.values.is_found(len(is_told)))
        is_told &= ~self._is_out_of_order(search)
        pairs = self.asked.contradictions()
        for k in range(len(self.lines)):
            pair = pairs.get(k)
            if is_told[k] and pair is None:
                yield AnswerRow(answers, k)
            else:
                yield self._row_sets(answers, k, pair, is_done=bool(is_done[k]) and pair is None)

    def _is_out_of_order(self, search: TableSearch) -> Bools:
        """Say in which rows nothing flips, and the score gets worse with everything at its best.

        The flow of such a row raises or records that (`MonotonicityCheck.check_best_values`).
        """
        out_of_order = np.zeros(len(search.size), dtype=bool)
        rows = np.flatnonzero((search.size == NONE) & ~search.failed)
        best = self.asked.score_of(rows, as_words(search.movable[rows]), flips=False).tolist()
        threshold = self.terms.threshold
        for k, own, changed in zip(rows.tolist(), self.scores[self.lines[rows]].tolist(), best, strict=True):
            lower, higher = (changed, own) if own >= threshold else (own, changed)
            out_of_order[k] = is_clearly_out_of_order(lower, higher, threshold)
        return out_of_order

    def _answers(self, search: TableSearch) -> AnswerColumns:
        assert self.moves.columns is not None, "there was something to search"
        count = len(self.lines)
        flipsets, reasons = SetsOfRows(*search.ones.joined(count)), SetsOfRows(*search.reasons.joined(count))
        zeros = SetsOfRows(*search.further_zeros().joined(count))
        of_row = np.repeat(np.arange(count), np.diff(flipsets.start))
        scores = self.asked.score_of(of_row, flipsets.words)
        positions = costs = None
        if self.values is not None:
            some = slice(None) if self.valued is None else self.valued
            positions = np.zeros((len(scores), self.values.positions.shape[1]), dtype=np.int64)
            costs = np.full(len(scores), np.nan)
            positions[some], costs[some] = self.values.positions, self.values.costs
            scores[some] = np.where(np.isnan(self.values.scores), scores[some], self.values.scores)
        return AnswerColumns(
            rows=self.rows.numbers[self.lines],
            columns=self.moves.columns,
            scores=self.scores[self.lines],
            flipsets=flipsets,
            flipset_scores=scores,
            positions=positions,
            costs=costs,
            reasons=reasons,
            zeros=zeros,
            queries=self.queries[self.lines],
            rounds=self.rounds[self.lines],
            terms=self.terms,
        )

    def _row_sets(self, answers: AnswerColumns, k: int, pair: tuple[int, int] | None, *, is_done: bool) -> RowSets:
        """Return what was learned about a row, in terms of its own units."""
        assert self.search is not None, "the row was searched"
        gone_through = 0 if is_done else int(self.search.gone_through[k])
        line = int(self.lines[k])
        row = self._row(line)
        moves = self._moves(line, row)
        in_units = answers.units_of(moves)
        own = self.asked.of(k)
        words = self.asked.words[own].tolist()
        scores, margins = self.asked.scores[own].tolist(), self.asked.margins[own].tolist()
        # Only the scores of the flip sets are turned into cells: the search for values needs no others. `asked` lists
        # all of them where they are needed after all.
        kept: dict[Cells, float] = {(): float(self.scores[line])}
        wanted = set(answers.flipsets.of(k)) if is_done else set()
        for word, score in zip(words, scores, strict=True):
            if word in wanted:
                kept[moves.rows(in_units(word))[0]] = score

        def asked() -> Iterator[tuple[Flips, float, float]]:
            return zip(map(in_units, words), scores, margins, strict=True)

        # Values that contradict each other are kept too, so that this is not passed over.
        values = {} if self.values is None else self.values.contradicting(k, moves, answers.columns)
        return RowSets(
            row,
            moves,
            kept | values,
            answers.sets(k, moves) if is_done else None,
            asked,
            None if pair is None else (in_units(pair[0]), in_units(pair[1])),
            queries=int(self.queries[line]),
            rounds=int(self.rounds[line]),
            gone_through=gone_through,
            has_values=bool(values),
        )


def _write_nothing(some: Ints, numbers: Floats, changed: Bools) -> None:
    """Leave rows as they are."""
