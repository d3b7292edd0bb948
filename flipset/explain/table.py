"""Many rows explained together: in lock-step, over a pool of calls, or in several processes."""

from __future__ import annotations

from collections import deque
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.drivers import calling, run_many, stream
from flipset.drivers.apart import ask_apart
from flipset.errors import BudgetExhausted, FlipsetError, InputError, Interrupted, Unavailable
from flipset.explain.choice import may_use_arrays
from flipset.explain.collecting import fewer_collections
from flipset.explain.row import explain_row
from flipset.explain.scoring import RowScorer
from flipset.explain.table_sets import search_rows
from flipset.explain.workers import in_processes
from flipset.layers import Tally
from flipset.models.remote.call_times import UNTRIED
from flipset.plural import count
from flipset.space.rows import about_row

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from flipset.explain.explanation import Explanation
    from flipset.explain.request import Request
    from flipset.explain.table_sets import Queries, RowSets
    from flipset.models.remote.remote_model import RemoteModel
    from flipset.protocol import Flow
    from flipset.space import Space
    from flipset.space.moves import Cells
    from flipset.space.rows import Row

    Submit = Callable[[Sequence[tuple[Row, Cells]]], Future[Sequence[float]]]

WIDTH = 256
"""Rows of a table that are under way at a time: enough for calls of a thousand rows; more only strain the caches."""

MAX_ROWS = 65_536
"""Rows that the model is given in one call."""

USUAL = 64
"""Queries that a row is taken to need before any is finished."""

PIECES = 4
"""Pieces of a table for each worker: some take longer than others."""


@dataclass(slots=True)
class TableBudget:
    """How many queries may be asked about a whole table; None: any number."""

    most: int | None = None
    asked: int = 0
    finished: int = 0

    def width(self, width: int) -> int:
        """Return how many rows may be under way: no more than can be finished, by what a row took so far."""
        if self.most is None:
            return width
        each = self.asked / self.finished if self.finished else USUAL
        return max(1, min(width, int((self.most - self.asked) / max(each, 1.0))))

    def afford(self, queries: int) -> BudgetExhausted | None:
        """Count queries that are about to be asked, or return why they may not be."""
        if self.most is not None and self.asked + queries > self.most:
            return BudgetExhausted(f"{count(self.most, 'query')} for the table")
        self.asked += queries
        return None


@dataclass(frozen=True, slots=True)
class Pool:
    """How a model is called that answers several calls at a time.

    Attributes
    ----------
    in_flight
        How many calls to keep under way. For an endpoint this is its own number: it keeps to it by itself, and further
        calls would only wait there, with fewer queries in each than if they had been sent later.
    fill
        How many queries the next call should have.
    """

    in_flight: int
    fill: Callable[[], int]


@dataclass(frozen=True, slots=True)
class TableJob:
    """How the rows of a table are explained, in this process or in another.

    In lock-step; or, where several calls may be made at a time, over a pool of them.
    """

    call: Callable[[Any], NDArray[np.float64]]
    acall: Callable[[Any], Awaitable[NDArray[np.float64]]] | None
    answered: Mapping[Row, float]  # rows that were asked about before, as they stand
    space: Space
    threshold: float
    cost: Any
    request: Request
    width: int
    max_rows: int
    pool: Pool | None = None
    budget: TableBudget = field(default_factory=TableBudget)

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
        afford = None if self.budget.most is None else self.budget.afford
        in_flight, fill = (1, _any_number) if self.pool is None else (self.pool.in_flight, self._fill)
        with (
            self._calls(tally) as submit,
            closing(
                run_many(flows, submit, width=self._width, in_flight=in_flight, fill=fill, afford=afford)
            ) as results,  # closed before the threads that make its calls
        ):
            for result in results:
                self.budget.finished += 1
                yield result

    def piece(self, rows: Sequence[Row]) -> tuple[list[Explanation | FlipsetError], Tally]:
        """Explain some rows and say what that took: what a worker does."""
        tally = Tally()
        with fewer_collections:
            results = dict(self.here(rows, tally))
        return [results[row] for row in rows], tally

    def _width(self) -> int:
        return self.budget.width(self.width)

    def _fill(self) -> int:
        assert self.pool is not None, "lock-step takes all queries that wait"
        return min(self.pool.fill(), self.max_rows)

    # --- calls of the model ---------------------------------------------------------------------------------------

    def scorer(self, tally: Tally | None = None) -> RowScorer:
        """Return how rows are scored, counting in `tally` what the model is asked."""
        tally = Tally() if tally is None else tally
        return RowScorer(self.call, self.space, self.acall, self.max_rows, self.answered, tally)

    @contextmanager
    def _calls(self, tally: Tally) -> Iterator[Submit]:
        """Give how a call is started: at once, by a coroutine, or by a thread where the model can only be called."""
        scorer = self.scorer(tally)
        if self.pool is None:
            yield calling(scorer.ask)
        elif scorer.acall is not None:
            from flipset.drivers.loop_thread import LoopThread

            with LoopThread("flipset-calls") as thread:
                yield lambda queries: thread.submit(scorer.aask(queries))
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(self.pool.in_flight, thread_name_prefix="flipset-call") as threads:
                yield lambda queries: threads.submit(scorer.ask, queries)

    # --- one row --------------------------------------------------------------------------------------------------

    def one(self, row: Row, begun: RowSets | None = None, *, alone: bool = True) -> Flow[Cells, Explanation]:
        """Return the explanation of one row, to be run."""
        given = self.threshold, self.cost, self.request
        return explain_row(self.space, row, *given, in_arrays=self._in_arrays(), alone=alone, begun=begun)

    # --- many rows in arrays --------------------------------------------------------------------------------------

    def _in_arrays(self) -> bool:
        shared = self.budget.most is not None
        return may_use_arrays(self.space, self.request, is_local=self.pool is None, shares_budget=shared)

    def _begun(self, rows: Sequence[Row], tally: Tally) -> Iterator[tuple[Row, RowSets | None]]:
        """Yield each row with what is found out about it among others."""
        # A limit for each row is kept by the layers around that row's flow, and so its sets are searched there.
        if not self._in_arrays() or self.request.is_limited:
            yield from ((row, None) for row in rows)
            return
        found: deque[tuple[int, RowSets | None]] = deque()
        given = self.space, rows, self.threshold, found.append
        flow = search_rows(*given, places=self.width, batch=self.request.batch, reasons=self.request.reasons)
        for i, sets in stream(flow, _scores_of(self.scorer(tally)), found):
            yield rows[i], sets


def _scores_of(scorer: RowScorer) -> Callable[[Any], Any]:
    """Return who answers the queries of the table search: NaN where the model fails on a row."""

    def scores(queries: Queries) -> Any:
        found = np.zeros(len(queries))

        def ask(part: Sequence[int]) -> Sequence[float]:
            places = np.asarray(part)
            found[places] = scorer.ask_table(queries.rows_for(places))
            return part  # the answers are in `found`; what comes back tells only that there are some

        # What failed is reported when that row is explained by itself.
        outcomes = ask_apart(ask, queries.rows.tolist())
        found[[isinstance(outcome, FlipsetError) for outcome in outcomes]] = np.nan
        return found

    return scores


def check_workers(workers: int, endpoint: RemoteModel | None, max_table_queries: int | None) -> None:
    """Refuse what several processes cannot keep to."""
    if workers > 1 and max_table_queries is not None:
        raise InputError("a budget for the whole table cannot be kept by several processes: use workers=1")
    if workers > 1 and endpoint is not None:
        raise InputError("an endpoint needs no workers: many requests are under way at once; use in_flight")


def pool_for(endpoint: RemoteModel | None, in_flight: int | None) -> Pool | None:
    """Return how several calls are made at a time; None where they are not."""
    if endpoint is not None:
        return Pool(in_flight or endpoint.in_flight, endpoint.fill)
    return Pool(in_flight, _untried) if in_flight is not None and in_flight > 1 else None


def _untried() -> int:
    return UNTRIED


def _any_number() -> float:
    return inf


def explain_rows(
    prepare: Callable[[Sequence[Row]], TableJob],
    rows: Sequence[Row | InputError],
    workers: int,
    tally: Tally,
    *,
    each: Callable[[int, Explanation | FlipsetError], None] | None,
    report: Callable[[int, int], None],
) -> list[Explanation | FlipsetError]:
    """Explain rows, those that are equal once, as `prepare` says when it is shown them.

    A row that could not be read has its error, and so has one with a cell that it must not have. `each` is given the
    place and the result of each row as it comes, and `report` the rows done and the queries so far. An interrupt ends
    it, and so does a model that cannot be reached: rows without a result then have that error.
    """
    places: dict[Row, list[int]] = {}
    results: dict[int, Explanation | FlipsetError] = {}

    def end_with(i: int, result: Explanation | FlipsetError) -> None:
        results[i] = result = about_row(i, result) if isinstance(result, InputError) else result
        if each is not None:
            each(i, result)
        report(len(results), tally.queries)

    for i, row in enumerate(rows):
        if isinstance(row, InputError):
            end_with(i, row)
        else:
            places.setdefault(row, []).append(i)
    end: FlipsetError = Interrupted()
    try:
        with fewer_collections:
            job = prepare(list(places))
            for row, result in job.all(list(places), workers, tally):
                for i in places[row]:
                    end_with(i, result)
    except KeyboardInterrupt:
        pass
    except Unavailable as error:
        end = error
    return [results.get(i, end) for i in range(len(rows))]
