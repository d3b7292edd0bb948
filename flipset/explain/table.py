"""Many rows explained together: one call of the model a round, split where it would be too large."""

from __future__ import annotations

import gc
from collections import deque
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.drivers import lockstep, stream
from flipset.errors import BudgetExhausted, FlipsetError, InputError, Interrupted, OracleError, Unavailable
from flipset.explain.choice import may_use_arrays
from flipset.explain.row import explaining
from flipset.explain.table_sets import searching
from flipset.explain.workers import in_processes
from flipset.layers import Tally
from flipset.models.remote.pace import UNTRIED
from flipset.models.tables import ask_rows
from flipset.plural import count
from flipset.space.identity import each_row_once
from flipset.space.rows import about_row

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from flipset.explain.explanation import Explanation
    from flipset.explain.row import Request
    from flipset.explain.table_sets import Queries, RowSets
    from flipset.models.remote.endpoint import Endpoint
    from flipset.protocol import Flow
    from flipset.space import Space
    from flipset.space.feature import Value
    from flipset.space.moves import Cells
    from flipset.space.rows import Row

WIDTH = 256
"""Rows of a table that are under way at a time: enough for calls of a thousand rows; more only strain the caches."""

MAX_ROWS = 65_536
"""Rows that the model is given in one call."""

PATIENCE = 50_000
"""New objects between two looks for garbage: by far the most are dropped by themselves, and each look takes time."""

USUAL = 64
"""Questions that a row is taken to need before any is finished."""

PIECES = 4
"""Pieces of a table for each worker: some take longer than others."""


@dataclass(slots=True)
class Purse:
    """How many rows may still be asked about a whole table; None: any number."""

    most: int | None = None
    spent: int = 0
    finished: int = 0

    def room(self, width: int) -> int:
        """Return how many rows may be under way: no more than can be finished, as far as can be seen."""
        if self.most is None:
            return width
        each = self.spent / self.finished if self.finished else USUAL
        return max(1, min(width, int((self.most - self.spent) / max(each, 1.0))))

    def pay(self, rows: int) -> BudgetExhausted | None:
        """Count rows that are about to be asked, or say that they may not be."""
        if self.most is not None and self.spent + rows > self.most:
            return BudgetExhausted(f"{count(self.most, 'query')} for the table")
        self.spent += rows
        return None


class Caller:
    """Calls the model for tables of rows: no row twice in a table, no call too large.

    Questions and calls are counted once they are answered: on which rows a model fails is found out by asking again,
    and how often depends on what else is in the table.
    """

    def __init__(self, call: Callable[[Any], NDArray[np.float64]], max_rows: int, tally: Tally) -> None:
        self.max_rows = max_rows
        self._call = call
        self._tally = tally
        self._lock = Lock()  # several threads may call
        self._score = each_row_once(self._in_parts)

    def __call__(self, table: Any) -> NDArray[np.float64]:
        """Return the score of each row."""
        scores = self._score(table)
        with self._lock:
            self._tally.queries += len(table)
        return scores

    def _in_parts(self, table: Any) -> NDArray[np.float64]:
        if len(table) <= self.max_rows:
            return self._counted(table)
        starts = range(0, len(table), self.max_rows)
        return np.concatenate([self._counted(table[start : start + self.max_rows]) for start in starts])

    def _counted(self, table: Any) -> NDArray[np.float64]:
        scores = self._call(table)
        with self._lock:
            self._tally.rounds += 1
        return scores


class TableOracle:
    """Answers for all rows under way, as far as that can be paid for."""

    def __init__(
        self, ask: Callable[[Sequence[tuple[Sequence[Value], Cells]]], list[float]], max_rows: int, purse: Purse
    ) -> None:
        self.ask = ask
        self.max_rows = max_rows
        self.purse = purse

    def __call__(
        self, waiting: Sequence[tuple[Sequence[Value], Sequence[Cells]]]
    ) -> list[Sequence[float] | FlipsetError]:
        """Ask the batches of all rows that can be paid for; where the model fails, find out on which rows."""
        refused = {i: error for i, (_, batch) in enumerate(waiting) if (error := self.purse.pay(len(batch)))}
        answers = iter(self._paid([one for i, one in enumerate(waiting) if i not in refused]))
        return [refused[i] if i in refused else next(answers) for i in range(len(waiting))]

    def _paid(self, waiting: Sequence[tuple[Sequence[Value], Sequence[Cells]]]) -> list[Sequence[float] | FlipsetError]:
        if not waiting:
            return []
        try:
            scores = self._ask_all([(row, cells) for row, batch in waiting for cells in batch])
        except (OracleError, InputError) as error:  # the model fails on a row, or a column cannot hold a cell of it
            if len(waiting) == 1:
                return [error]
            half = len(waiting) // 2
            return [*self(waiting[:half]), *self(waiting[half:])]
        parts: list[Sequence[float] | FlipsetError] = []
        start = 0
        for _, batch in waiting:
            parts.append(scores[start : start + len(batch)])
            start += len(batch)
        return parts

    def _ask_all(self, rows: Sequence[tuple[Sequence[Value], Cells]]) -> list[float]:
        scores: list[float] = []
        for start in range(0, len(rows), self.max_rows):
            scores += self.ask(rows[start : start + self.max_rows])
        return scores


class _Patient:
    """Lets Python look for cyclic garbage less often: a fifth of the time otherwise goes into finding none.

    Several tables may be explained at a time: the last to end puts things back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before = gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = gc.get_threshold()
                gc.set_threshold(max(PATIENCE, self._before[0]) if self._before[0] else 0, *self._before[1:])
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                gc.set_threshold(*self._before)


_patient_collector = _Patient()


@dataclass(frozen=True, slots=True)
class Calls:
    """How a model is called that answers several calls at a time.

    Attributes
    ----------
    in_flight
        How many calls may be under way.
    fill
        How many rows the next one should have.
    stop
        Gives up those that some threads wait for.
    """

    in_flight: int
    fill: Callable[[], int]
    stop: Callable[[Collection[int]], Any]


@dataclass(frozen=True, slots=True)
class Piecework:
    """How the rows of a table are explained, wherever that is done.

    In lock-step; or where several calls may be made at a time, over one pool of them.
    """

    call: Callable[[Any], NDArray[np.float64]]
    answered: Mapping[Row, float]  # rows that were asked about before, as they stand
    space: Space
    threshold: float
    cost: Any
    request: Request
    width: int
    max_rows: int
    calls: Calls | None = None
    purse: Purse = field(default_factory=Purse)

    def all(self, rows: Sequence[Row], workers: int, tally: Tally) -> Iterator[tuple[Row, Explanation | FlipsetError]]:
        """Explain different rows, here or in other processes; yield each with its result as soon as that is there."""
        if workers == 1 or len(rows) < 2:
            yield from self.here(rows, tally)
            return
        size = max(1, min(self.width, len(rows) // (PIECES * workers)))
        pieces = [rows[start : start + size] for start in range(0, len(rows), size)]
        for i, (results, part) in in_processes(self.piece, pieces, workers):
            tally.queries += part.queries
            tally.rounds += part.rounds
            yield from zip(pieces[i], results, strict=True)

    def here(self, rows: Sequence[Row], tally: Tally) -> Iterator[tuple[Row, Explanation | FlipsetError]]:
        """Explain different rows here."""
        flows = ((row, self.one(row, begun, alone=False)) for row, begun in self._begun(rows, tally))
        ask = self._asker(tally)
        with _patient_collector:
            if self.calls is None:
                results = lockstep(flows, TableOracle(ask, self.max_rows, self.purse), width=self._room)
            else:
                results = self._pooled(flows, ask, self.calls)
            for result in results:
                self.purse.finished += 1
                yield result

    def _room(self) -> int:
        return self.purse.room(self.width)

    def one(self, row: Row, begun: RowSets | None = None, *, alone: bool = True) -> Flow[Cells, Explanation]:
        """Return the explanation of one row, to be run."""
        given = self.threshold, self.cost, self.request
        return explaining(self.space, row, *given, in_arrays=self._in_arrays(), alone=alone, begun=begun)

    def oracle(self, row: Row) -> Callable[[Sequence[Cells]], list[float]]:
        """Return who answers for one row."""
        ask = self._asker(Tally())
        return lambda changes: ask([(row, cells) for cells in changes])

    def _asker(self, tally: Tally) -> Callable[[Sequence[tuple[Sequence[Value], Cells]]], list[float]]:
        """Return who answers questions about rows, counting in `tally` what is asked of the model."""
        score = Caller(self.call, self.max_rows, tally)
        answered, width, reference = self.answered, len(self.space.names), self.space.reference

        def ask(questions: Sequence[tuple[Sequence[Value], Cells]]) -> list[float]:
            known = [None if cells else answered.get(row) for row, cells in questions]  # type: ignore[call-overload]
            left = [one for one, score in zip(questions, known, strict=True) if score is None]
            tally.queries += len(questions) - len(left)
            answers = iter(ask_rows(score, width, reference, left) if left else ())
            return [next(answers) if score is None else score for score in known]

        return ask

    def _pooled(
        self,
        flows: Iterator[tuple[Row, Flow[Cells, Explanation]]],
        ask: Callable[[Sequence[tuple[Sequence[Value], Cells]]], list[float]],
        calls: Calls,
    ) -> Iterator[tuple[Row, Explanation | FlipsetError]]:
        from flipset.drivers.pooled import Pooled

        pool: Pooled[Row, Cells, Explanation] = Pooled(
            ask,
            width=self._room,
            in_flight=calls.in_flight,
            fill=lambda: min(calls.fill(), self.max_rows),
            afford=self.purse.pay,
            stop=calls.stop,
        )
        yield from pool.run(flows)

    def _begun(self, rows: Sequence[Row], tally: Tally) -> Iterator[tuple[Row, RowSets | None]]:
        """Yield each row with what is found out about it among others."""
        # A limit for each row is kept by the flow of that row, and so is the search then.
        if not self._in_arrays() or self.request.is_limited:
            yield from ((row, None) for row in rows)
            return
        found: deque[tuple[int, RowSets | None]] = deque()
        request = self.request
        given = self.space, rows, self.threshold, found.append
        flow = searching(*given, places=self.width, batch=request.batch, reasons=request.reasons)
        for i, sets in stream(flow, self._scores_of(Caller(self.call, self.max_rows, tally)), found):
            yield rows[i], sets

    def _in_arrays(self) -> bool:
        shared = self.purse.most is not None
        return may_use_arrays(self.space, self.request, is_local=self.calls is None, shares_budget=shared)

    def _scores_of(self, ask: Caller) -> Callable[[Any], Any]:
        def scores(queries: Queries) -> Any:
            found, failed = _ask_apart(ask, queries.rows, queries.rows_for)
            found[np.isin(queries.rows, list(failed))] = np.nan
            return found

        return scores

    def piece(self, rows: Sequence[Row]) -> tuple[list[Explanation | FlipsetError], Tally]:
        """Explain some rows and say what that took: what a worker does."""
        tally = Tally()
        results = dict(self.here(rows, tally))
        return [results[row] for row in rows], tally


def _ask_apart(ask: Caller, owners: NDArray[np.intp], rows: Callable[[Any], Any]) -> tuple[Any, set[int]]:
    """Ask queries of several owners; where the model fails, find out on whose they are: those have no scores."""
    scores = np.zeros(len(owners))
    failed: set[int] = set()
    parts = [np.arange(len(owners))]
    while parts:
        part = parts.pop()
        try:
            scores[part] = ask(rows(part))
        except (OracleError, InputError):  # it will be said when that row is looked at by itself
            some = np.unique(owners[part])
            if len(some) == 1:
                failed.add(int(some[0]))
                continue
            first = np.isin(owners[part], some[: len(some) // 2])
            parts += [part[~first], part[first]]
    return scores, failed


def check_workers(workers: int, endpoint: Endpoint | None, max_table_queries: int | None) -> None:
    """Refuse what several processes cannot keep to."""
    if workers > 1 and max_table_queries is not None:
        raise InputError("a budget for the whole table cannot be kept by several processes: use workers=1")
    if workers > 1 and endpoint is not None:
        raise InputError("an endpoint needs no workers: many requests are under way at once; use in_flight")


def calls_of(endpoint: Endpoint | None, in_flight: int | None) -> Calls | None:
    """Return how several calls are made at a time; None where they are not."""
    if endpoint is not None:
        return Calls(in_flight or endpoint.in_flight, endpoint.fill, endpoint.drop)
    return Calls(in_flight, _any, _nothing) if in_flight is not None and in_flight > 1 else None


def _any() -> int:
    return UNTRIED


def _nothing(threads: Collection[int]) -> None:
    pass


def explain_rows(
    prepare: Callable[[Sequence[Row]], Piecework],
    rows: Sequence[Row | InputError],
    workers: int,
    tally: Tally,
    tell: Callable[[int, Explanation | FlipsetError], None],
) -> list[Explanation | FlipsetError]:
    """Explain rows, those that are equal once, as `prepare` says when it is shown them.

    A row that could not be read has its error, and so has one with a cell that it must not have. `tell` is given the
    place and the result of each row as it comes. An interrupt ends it, and so does a model that cannot be reached: rows
    without a result then have that error.
    """
    places: dict[Row, list[int]] = {}
    results: list[Explanation | FlipsetError | None] = [None] * len(rows)

    def end_with(i: int, result: Explanation | FlipsetError) -> None:
        results[i] = result = about_row(i, result) if isinstance(result, InputError) else result
        tell(i, result)

    for i, row in enumerate(rows):
        if isinstance(row, InputError):
            end_with(i, row)
        else:
            places.setdefault(row, []).append(i)
    end: FlipsetError = Interrupted()
    try:
        piecework = prepare(list(places))
        for row, result in piecework.all(list(places), workers, tally):
            for i in places[row]:
                end_with(i, result)
    except KeyboardInterrupt:
        pass
    except Unavailable as error:
        end = error
    return [end if result is None else result for result in results]
