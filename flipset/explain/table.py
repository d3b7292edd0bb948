"""Many rows explained together: in lock-step, through a pool of calls, or in several processes.

Each row is a flow of its own (`flipset.explain.row`). In lock-step, the next queries of all flows make one call. Where
the model can answer several calls at a time, a pool keeps some of them under way. Before that, the table search finds
the flip sets of all rows that fit it, in arrays.

Invariant: the result of a row does not depend on the other rows of the table, nor on how many are under way.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from flipset.drivers import calling, run, run_many, stream
from flipset.drivers.abandon import GRACE, CallThreads, PatientCalls, within
from flipset.drivers.apart import ask_apart
from flipset.errors import BudgetExhausted, Fault, FlipsetError, InputError
from flipset.explain.answer_columns import AnswerRow, Terms
from flipset.explain.choice import may_use_arrays
from flipset.explain.collecting import fewer_collections
from flipset.explain.row import explain_row
from flipset.explain.row_queries import RowQueries
from flipset.explain.scoring import RowScorer
from flipset.explain.table_answers import answer_rows
from flipset.explain.table_budget import TableBudget
from flipset.explain.time_limits import RowClocks
from flipset.explain.workers import in_processes
from flipset.layers import Tally, limit_until, stay_interrupted, watch
from flipset.models.remote.call_times import UNTRIED
from flipset.results.basis import Grounds
from flipset.space.moves import MoveFinder
from flipset.space.shared import Shared
from flipset.space.table_rows import TableRows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from flipset.explain.explanation import Explanation
    from flipset.explain.request import Request
    from flipset.explain.row_sets import RowSets
    from flipset.layers import WorkClock
    from flipset.models.remote.remote_model import RemoteModel
    from flipset.models.tables import RowQuery
    from flipset.protocol import Flow
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.rows import Row
    from flipset.values.space_costs import SpaceCosts

    Begun: TypeAlias = RowSets | FlipsetError | None
    RowResult: TypeAlias = Explanation | FlipsetError | AnswerRow
    Submit = Callable[[Sequence[tuple[Any, Cells]]], Future[Sequence[float]]]

K = TypeVar("K", bound="Hashable")
T = TypeVar("T")

WIDTH = 256
"""Rows of a table that are under way at a time. They make calls of about a thousand rows. More rows are no faster,
because they no longer fit the processor's caches."""

MOST_WAITING = 512
"""Rows that wait for flows of their own until these are run together."""

MAX_ROWS = 65_536
"""The most rows that the model is given in one call."""

PIECES = 4
"""Pieces of a table for each worker: several, because some take longer than others."""


@dataclass(frozen=True, slots=True)
class Pool:
    """How to call a model that answers several calls at a time.

    Attributes
    ----------
    in_flight
        How many calls to keep under way. For an endpoint this is its own limit. Further calls would only wait there,
        and would have fewer queries than if they had been sent later.
    fill
        Returns how many queries the next call should have.
    grace
        How many seconds calls may go on when a fault of another call ends the run.
    """

    in_flight: int
    fill: Callable[[], int]
    grace: float = 0.0


@dataclass(frozen=True, slots=True)
class TableJob:
    """How the rows of a table are explained, in this process or in another.

    Without a pool, rows are explained in lock-step. `answered` has the scores of rows that were queried before, and
    `shared` the parts that explanations have in common. `look` is called at every checkpoint, and may raise to end the
    job. `grounds` says what the answers rest on.
    """

    call: Callable[[Any], NDArray[np.float64]]
    acall: Callable[[Any], Awaitable[NDArray[np.float64]]] | None
    answered: Mapping[Row, float]
    space: Space
    threshold: float
    costs: SpaceCosts
    request: Request
    width: int
    max_rows: int
    pool: Pool | None = None
    budget: TableBudget = field(default_factory=TableBudget)
    shared: Shared = field(default_factory=Shared)
    look: Callable[[], None] | None = None
    grounds: Callable[[], Grounds] = Grounds

    def all(self, rows: TableRows, workers: int, tally: Tally) -> Iterator[tuple[int, RowResult]]:
        """Explain distinct rows, here or in other processes; yield the number and the result of each as it is done."""
        # Starting a process takes longer than explaining a row.
        if workers == 1 or len(rows) < 2:
            yield from self.here(rows, tally)
            return
        # Pieces have at most `width` rows: a larger one would not be explained any faster.
        size = max(1, min(self.width, len(rows) // (PIECES * workers)))
        pieces = rows.pieces(size)
        for number, (results, part, fault) in in_processes(self.piece, pieces, workers):
            tally.queries += part.queries
            tally.rounds += part.rounds
            terms = self.terms(pieces[number])
            for i, result in results.items():
                if isinstance(result, AnswerRow):
                    result.answers.terms = terms
                yield number * size + i, result
            # After its results: what was explained before the fault counts.
            if fault is not None:
                raise fault

    def here(self, rows: TableRows, tally: Tally) -> Iterator[tuple[int, RowResult]]:
        """Explain distinct rows in this process; yield the number and the result of each as it is done."""
        with PatientCalls("flipset-call") as patient:
            if self.searches_tables:
                yield from self._searched(rows, tally, patient)
                return
            yield from self._explained(rows, ((number, None) for number in range(len(rows))), tally, patient)

    def _searched(self, rows: TableRows, tally: Tally, patient: PatientCalls) -> Iterator[tuple[int, RowResult]]:
        """Search rows together, and explain the others by flows of their own."""
        with closing(self._begun(rows, tally, patient)) as begun:
            # What a row needs beyond the table search waits until it fills calls together with that of other rows.
            waiting: list[tuple[int, Begun]] = []
            for number, outcome in begun:
                if isinstance(outcome, AnswerRow):
                    self.budget.finished += 1
                    yield number, outcome
                    continue
                waiting.append((number, outcome))
                if len(waiting) == (self._narrow or MOST_WAITING):
                    yield from self._explained(rows, waiting, tally, patient)
                    waiting = []
            yield from self._explained(rows, waiting, tally, patient)

    def _explained(
        self, rows: TableRows, begun: Iterable[tuple[int, Begun]], tally: Tally, patient: PatientCalls
    ) -> Iterator[tuple[int, RowResult]]:
        """Explain rows by flows of their own, from what is known about them."""
        clocks = RowClocks(self.request.max_seconds)
        under_way: dict[int, Row] = {}
        flows = self._flows(rows, begun, clocks, under_way)
        with closing(self.run_flows(flows, tally, clocks, patient, under_way.__getitem__)) as results:
            for number, result in results:
                del under_way[number]
                yield number, result

    def terms(self, rows: TableRows) -> Terms:
        """Return what answers about these rows are about."""
        about = self.space, self.threshold, self.costs, self.request, self.shared, self.grounds
        return Terms(*about, rows, MoveFinder(self.space))

    def run_flows(
        self,
        flows: Iterable[tuple[K, Flow[Cells, T]]],
        tally: Tally,
        clocks: RowClocks,
        patient: PatientCalls,
        row_of: Callable[[K], Row],
    ) -> Generator[tuple[K, T | FlipsetError]]:
        """Run flows about rows together; yield the key and the result of each as it ends.

        `row_of` returns the row that the flow of a key is about.
        """
        afford = None if self.budget.most is None else self.budget.afford
        calls: dict[str, Any] = {"width": self._width, "afford": afford}
        if self.pool is not None:
            calls |= {"in_flight": self.pool.in_flight, "fill": self._fill, "grace": self.pool.grace}
        with (
            self._calls(tally, clocks, patient, row_of) as submit,
            # Closed before the threads that make its calls are.
            closing(run_many(flows, submit, **calls)) as results,
        ):
            for key, result in results:
                clocks.end(key)
                # By these, the budget decides how many rows to have under way.
                self.budget.finished += 1
                yield key, result

    def piece(self, rows: TableRows) -> tuple[dict[int, RowResult], Tally, Fault | None]:
        """Explain some rows, as a worker does; return the results, the count of queries and calls, and what ended it.

        A fault is returned rather than raised, because the rows that were finished before it count.
        """
        tally = Tally()
        results: dict[int, RowResult] = {}
        with fewer_collections:
            try:
                for number, result in self.here(rows, tally):
                    results[number] = result
            except Fault as fault:
                return results, tally, fault
        return results, tally, None

    def _width(self) -> int:
        return self.budget.width(self.width)

    def _fill(self) -> int:
        assert self.pool is not None, "in lock-step a call has no size to fill"
        return min(self.pool.fill(), self.max_rows)

    # --- calls of the model ---------------------------------------------------------------------------------------

    def scorer(self, tally: Tally | None = None) -> RowScorer:
        """Return a scorer of rows that counts queries and calls in `tally`."""
        tally = Tally() if tally is None else tally
        return RowScorer(self.call, self.space, self.acall, self.max_rows, self.answered, tally)

    @contextmanager
    def _calls(
        self, tally: Tally, clocks: RowClocks, patient: PatientCalls, row_of: Callable[[K], Row]
    ) -> Iterator[Submit]:
        """Yield a function that starts a call: at once, as a coroutine, or in a thread if it cannot be awaited."""
        scorer = self.scorer(tally)

        def rows(queries: Sequence[tuple[Any, Cells]]) -> Sequence[RowQuery]:
            return [(row_of(key), cells) for key, cells in queries]

        def ask(queries: Sequence[tuple[Any, Cells]]) -> Sequence[float]:
            with self._timed(clocks, queries):
                return scorer.ask(rows(queries))

        async def aask(queries: Sequence[tuple[Any, Cells]]) -> Sequence[float]:
            with self._timed(clocks, queries):
                return await scorer.aask(rows(queries))

        def left(queries: Sequence[tuple[Any, Cells]]) -> float:
            return min(clocks.left(key for key, _ in queries), self._left())

        if self.pool is None:
            # Only with a limit are calls made in threads: a thread costs time, and some models are bound to theirs.
            if self.has_time_limit:
                yield calling(lambda queries: patient.call(left(queries), ask, queries))
            else:
                yield calling(lambda queries: scorer.ask(rows(queries)))
            return
        if scorer.acall is None and not self.has_time_limit:
            with CallThreads("flipset-call") as threads:
                yield lambda queries: threads.submit(scorer.ask, rows(queries))
            return
        from flipset.drivers.loop_thread import LoopThread

        with LoopThread("flipset-calls") as thread:
            if not self.has_time_limit:
                yield lambda queries: thread.submit(scorer.aask(rows(queries)))
            elif scorer.acall is not None:
                yield lambda queries: thread.submit(patient.await_call(left(queries), aask(queries)))
            else:
                yield lambda queries: thread.submit(patient.acall(left(queries), ask, queries))

    @contextmanager
    def _timed(self, clocks: RowClocks, queries: Sequence[tuple[Any, Cells]]) -> Iterator[None]:
        """Count the time of a call for the rows in it."""
        since = time.monotonic()
        try:
            yield
        finally:
            # Also for a call that failed or was cancelled: the time has passed.
            clocks.share([key for key, _ in queries], time.monotonic() - since)

    @property
    def has_time_limit(self) -> bool:
        """Whether calls may have to be abandoned."""
        return self.request.max_seconds is not None or self.budget.deadline is not None

    def _left(self) -> float:
        return inf if self.budget.deadline is None else self.budget.deadline.left()

    # --- one row --------------------------------------------------------------------------------------------------

    def one(self, row: Row) -> Flow[Cells, Explanation]:
        """Return the flow that explains one row by itself."""
        return self._flow(row, None, None, in_arrays=self._in_arrays(), alone=True)

    def explain_one(self, row: Row) -> Explanation:
        """Explain one row by itself, as a table of one row where the table search can take it."""
        # Both parts of the flow in arrays end with an interrupt, each with what it knows by then.
        flow = stay_interrupted(self._one_in_arrays(row)) if self.searches_tables else self.one(row)
        scorer = self.scorer()

        def ask(batch: Sequence[Any]) -> Sequence[float]:
            if isinstance(batch, RowQueries):
                scores: list[float] = scorer.ask_table(batch.rows_for(np.arange(len(batch)))).tolist()
                return scores
            return scorer.ask([(row, cells) for cells in batch])

        with within(self.request.max_seconds, ask) as ask_in_time:
            return run(flow, ask_in_time)

    def _one_in_arrays(self, row: Row) -> Flow[Any, Explanation]:
        """Return a flow that begins in arrays: its batches are `RowQueries` until the row goes on by itself."""
        reported: list[tuple[int, RowSets | AnswerRow | None]] = []
        yield from answer_rows(self.terms(TableRows([row], (), None)), reported.append, alone=True)
        ((_, outcome),) = reported
        if isinstance(outcome, AnswerRow):
            return outcome.explanation()
        return (yield from self._flow(row, outcome, None, in_arrays=False, alone=True))

    def _flow(
        self, row: Row, begun: RowSets | None, clock: WorkClock | None, *, in_arrays: bool, alone: bool
    ) -> Flow[Cells, Explanation]:
        given = self.space, row, self.threshold, self.costs, self.request
        how: dict[str, Any] = {"begun": begun, "shared": self.shared, "clock": clock, "grounds": self.grounds}
        flow = explain_row(*given, in_arrays=in_arrays, alone=alone, **how)
        return flow if self.look is None else watch(flow, self.look)

    def _flows(
        self, rows: TableRows, begun: Iterable[tuple[int, Begun]], clocks: RowClocks, under_way: dict[int, Row]
    ) -> Iterator[tuple[int, Flow[Cells, Explanation]]]:
        """Yield the number of each row with its flow, which ends with the time of the row and of the table."""
        in_arrays = self._in_arrays()
        for number, sets in begun:
            row = under_way[number] = rows.row(number)
            if isinstance(sets, FlipsetError):
                yield number, _failed(sets)
                continue
            flow = clocks.start(number, partial(self._flow, row, sets, in_arrays=in_arrays, alone=False))
            # Outermost, since it ends the row whatever its own limits say.
            yield number, self.until_deadline(flow)

    def until_deadline(self, flow: Flow[Cells, T]) -> Flow[Cells, T]:
        """Return a flow that ends with the time of the table."""
        return flow if self.budget.deadline is None else limit_until(flow, self.budget.deadline.is_over)

    # --- many rows in arrays --------------------------------------------------------------------------------------

    def _in_arrays(self) -> bool:
        shared = self.budget.most is not None
        return may_use_arrays(self.space, self.request, is_local=self.pool is None, shares_budget=shared)

    @property
    def searches_tables(self) -> bool:
        """Whether rows that fit are searched together. Limits for each row are kept by the layers around its flow."""
        return self._in_arrays() and not self.request.is_limited

    @property
    def _narrow(self) -> int | None:
        """How many rows may be under way where fewer are wanted than by default; otherwise None."""
        return self.width if self.width < WIDTH else None

    def _begun(self, rows: TableRows, tally: Tally, patient: PatientCalls) -> Generator[tuple[int, Begun | AnswerRow]]:
        """Yield the number of each row with what the table search learned about it.

        That is its answer, or what its own flow begins with; None where the row did not fit. Where the model failed on
        a row, it is that error: asking the row again would repeat queries that were paid.
        """
        reported: deque[tuple[int, RowSets | AnswerRow | None]] = deque()
        flow = answer_rows(self.terms(rows), reported.append, at_a_time=self._narrow)
        flow = flow if self.look is None else watch(flow, self.look)
        failed: dict[int, FlipsetError] = {}
        scores = _scores_of(self.scorer(tally), failed)
        oracle = scores
        if (deadline := self.budget.deadline) is not None:
            flow = limit_until(flow, deadline.is_over)
            oracle = lambda queries: patient.call(deadline.left(), scores, queries)  # noqa: E731
        for number, outcome in stream(flow, oracle, reported):
            yield number, failed.pop(number, outcome)


def _failed(error: FlipsetError) -> Flow[Cells, Explanation]:
    """Return the flow of a row on which the model has failed: it ends at once, with that error."""
    raise error
    yield ()


def _scores_of(scorer: RowScorer, failed: dict[int, FlipsetError]) -> Callable[[Any], Any]:
    """Return the oracle of the table search: it answers NaN where the model fails on a row, and notes the error."""

    def score(queries: RowQueries) -> Any:

        def ask(part: Sequence[int]) -> Sequence[float]:
            # NumPy would read a range number by number. Nearly always the part is the range of all queries.
            places = np.arange(part.start, part.stop) if isinstance(part, range) else np.asarray(part)
            scores: list[float] = scorer.ask_table(queries.rows_for(places)).tolist()
            return scores

        owners = queries.rows.tolist()
        outcomes = ask_apart(ask, owners)
        try:
            return np.array(outcomes, dtype=np.float64)
        except TypeError:  # some are errors
            for row, outcome in zip(owners, outcomes, strict=True):
                # A budget of the model's own ends in what is proved, when the row is explained by itself.
                if isinstance(outcome, FlipsetError) and not isinstance(outcome, BudgetExhausted):
                    failed[row] = outcome
            return np.array([np.nan if isinstance(outcome, FlipsetError) else outcome for outcome in outcomes])

    return score


def check_workers(workers: int, endpoint: RemoteModel | None, max_table_queries: int | None) -> None:
    """Refuse `workers` where several processes cannot do what is wanted."""
    if workers > 1 and max_table_queries is not None:
        raise InputError("a budget for the whole table cannot be kept by several processes: use workers=1")
    if workers > 1 and endpoint is not None:
        raise InputError("an endpoint needs no workers: many requests are under way at once; use in_flight")


def pool_for(endpoint: RemoteModel | None, in_flight: int | None, *, keeps_answers: bool = False) -> Pool | None:
    """Return the pool of calls for a model; None if one call is made at a time.

    If a journal keeps the answers, calls under way at a fault are waited for as long as one request may take.
    """
    grace = getattr(endpoint, "grace", GRACE) if keeps_answers else 0.0
    if endpoint is not None:
        return Pool(in_flight or endpoint.in_flight, endpoint.fill, grace)
    return Pool(in_flight, _untried, grace) if in_flight is not None and in_flight > 1 else None


def _untried() -> int:
    return UNTRIED
