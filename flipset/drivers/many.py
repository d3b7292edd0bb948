"""Run many flows at once: their waiting queries become calls of the model, and each flow goes on with its answers.

`gather` joins flows into one; this is its twin for long runs. It starts new flows as others end, hands over each result
as soon as it is there, and keeps the error of one flow from ending the others. Two ways of calling are cases of it:

- **Lock-step** (the default): one call at a time, which takes every query that is waiting. A local model answers many
  rows nearly as fast as one.
- **A pool of calls**: several at a time, each with a limited number of queries. A flow that waits for a slow call holds
  up nobody else.

A call is a `Future`; how it is made (at once, by a thread, by a coroutine) is up to the function that starts it. The
runner itself has no threads: flows are resumed, and results yielded, in the thread that iterates.

Invariants:

- Queries are sent in the order in which flows asked them, and flows go on in the order in which their queries stand in
  a call. So the calls of lock-step are a function of the flows and the answers.
- An answer that is on its way is waited for. A flow that a budget ends is told when the rest of its batch has arrived,
  and a run ends when no call is under way: what was sent is paid for.
- New flows are started only when another call could be sent. Until then their first queries would only wait, and while
  a failed call is asked again in parts, the order of queries stays that of the flows.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from copy import copy
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from flipset.drivers.apart import apart
from flipset.errors import BudgetExhausted, Fault, FlipsetError, Interrupted
from flipset.protocol import Done, Flow, advance, interrupt, is_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from flipset.drivers.apart import Outcomes

T = TypeVar("T")
Q = TypeVar("Q")
K = TypeVar("K")


def run_many(
    flows: Iterable[tuple[K, Flow[Q, T]]],
    submit: Callable[[Sequence[tuple[K, Q]]], Future[Sequence[float]]],
    *,
    width: Callable[[], int],
    in_flight: int = 1,
    fill: Callable[[], float] = lambda: inf,
    afford: Callable[[int], BudgetExhausted | None] | None = None,
    grace: float = 0.0,
) -> Generator[tuple[K, T | FlipsetError]]:
    """Run flows to their ends; yield the key and the result of each as they end.

    Parameters
    ----------
    flows
        Flows with their keys; a flow is taken when it is started.
    submit
        Starts a call with the queries of several flows, each with the flow's key; its future has one answer for each.
    width
        Says how many flows may be under way.
    in_flight
        How many calls may be under way.
    fill
        Says how many queries the next call may have.
    afford
        Called with a number of queries before they are asked; counts them, or returns the error that the flow is told
        instead. By default any number may be asked.
    grace
        How many seconds the calls under way may go on when a `Fault` of another call ends the run. Their queries are
        paid for, and a journal behind `submit` keeps what arrives.

    An `OracleError` or `InputError` is traced to the flows it is about, and becomes their result; so does what a flow
    raises on purpose. That a budget ran out, or that somebody cancelled the call, is raised inside the flow, with the
    answers that have arrived, and the flow may end in what it has. Anything else ends the run; results yielded before
    that stand. Ending the run, by an error or by closing the iterator, cancels the calls under way, after a fault when
    the `grace` is over.

    Examples
    --------
    >>> from flipset.paper import find_optimal
    >>> calls = []
    >>> def ask_all(queries):
    ...     calls.append(len(queries))
    ...     return [1.0 if flips & key == key else -1.0 for key, flips in queries]
    >>> flows = [(key, find_optimal(3)) for key in (0b101, 0b010)]
    >>> sorted(run_many(flows, calling(ask_all), width=lambda: 2)), calls[0]
    ([(2, (2,)), (5, (5,))], 2)
    """
    a_run: _Run[K, Q, T] = _Run(submit, width, in_flight, fill, afford, grace)
    return a_run.run(flows)


def calling(
    ask: Callable[[Sequence[tuple[K, Q]]], Sequence[float]],
) -> Callable[[Sequence[tuple[K, Q]]], Future[Sequence[float]]]:
    """Return how to start a call by making it at once, in the same thread.

    Only an `Exception` is the result of the call. An interrupt from the keyboard is about the run, and ends it.
    """

    def submit(queries: Sequence[tuple[K, Q]]) -> Future[Sequence[float]]:
        future: Future[Sequence[float]] = Future()
        try:
            # The call is over when the future is returned, so in lock-step `_done` never waits.
            future.set_result(ask(queries))
        except Exception as error:
            future.set_exception(error)
        return future

    return submit


@dataclass(eq=False, slots=True)
class _Waiting(Generic[K, Q, T]):
    """A flow that has asked a batch, and the answers that have arrived."""

    key: K
    flow: Flow[Q, T]
    batch: Sequence[Q]
    answers: list[float | None] = field(init=False)
    missing: int = field(init=False)
    under_way: int = 0  # parts of the batch that are in calls
    stop: BudgetExhausted | None = None  # what ends the flow, as soon as no part is under way
    ended: bool = False

    def __post_init__(self) -> None:
        self.answers = [None] * len(self.batch)
        self.missing = len(self.batch)


@dataclass(frozen=True, eq=False, slots=True)
class _Part(Generic[K, Q, T]):
    """Queries of one flow that follow each other in its batch, from `start` up to `stop`."""

    waiting: _Waiting[K, Q, T]
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def queries(self) -> Sequence[Q]:
        return self.waiting.batch[self.start : self.stop]


@dataclass(eq=False, slots=True)
class _Call(Generic[K, Q, T]):
    """Queries that were sent together, the parts of several flows, and their outcomes so far."""

    parts: deque[_Part[K, Q, T]]  # those whose outcomes have not all reached their flows
    queries: list[tuple[K, Q]]
    outcomes: Outcomes
    asking: Flow[int, Outcomes]
    passed_on: int = 0  # the parts before this query have reached their flows


class _Run(Generic[K, Q, T]):
    """The flows and the calls under way; `run_many` says what the parameters are."""

    def __init__(
        self,
        submit: Callable[[Sequence[tuple[K, Q]]], Future[Sequence[float]]],
        width: Callable[[], int],
        in_flight: int,
        fill: Callable[[], float],
        afford: Callable[[int], BudgetExhausted | None] | None,
        grace: float,
    ) -> None:
        self.submit = submit
        self.width = width
        self.in_flight = in_flight
        self.fill = fill
        self.afford = afford
        self.grace = grace
        self._waiting: dict[_Waiting[K, Q, T], None] = {}  # in the order in which they asked
        self._unsent: deque[_Part[K, Q, T]] = deque()
        self._calls: dict[Future[Sequence[float]], _Call[K, Q, T]] = {}

    def run(self, flows: Iterable[tuple[K, Flow[Q, T]]]) -> Generator[tuple[K, T | FlipsetError]]:
        source = iter(flows)
        try:
            while True:
                if len(self._calls) < self.in_flight:
                    # Asked each time, since the width may shrink when a budget runs low.
                    while len(self._waiting) < self.width() and (entry := next(source, None)) is not None:
                        if (ended := self._resume(*entry, None)) is not None:
                            yield ended
                    if not self._waiting and not self._calls:
                        return
                    yield from self._send()
                for future in self._done():
                    yield from self._receive(future)
        except Fault:
            wait(self._calls, timeout=self.grace)
            raise
        finally:
            for future in self._calls:
                future.cancel()
            for waiting in self._waiting:
                waiting.flow.close()

    def _resume(
        self, key: K, flow: Flow[Q, T], answers: Sequence[float] | FlipsetError | None
    ) -> tuple[K, T | FlipsetError] | None:
        """Start a flow or go on with it, past its checkpoints; return its result if it has ended."""
        # An error about this row is its result. The flow is not told: it could do nothing but end with it.
        if isinstance(answers, FlipsetError) and not isinstance(answers, BudgetExhausted):
            flow.close()
            return key, answers
        try:
            step = interrupt(flow, answers) if isinstance(answers, FlipsetError) else advance(flow, answers)
            while is_checkpoint(step):
                step = advance(flow, ())
        except FlipsetError as error:
            return key, error
        if isinstance(step, Done):
            return key, step.result
        waiting = _Waiting(key, flow, step)
        self._waiting[waiting] = None
        self._unsent.append(_Part(waiting, 0, len(step)))
        return None

    # --- calls ----------------------------------------------------------------------------------------------------

    def _send(self) -> Iterator[tuple[K, T | FlipsetError]]:
        """Make calls of the queries that are waiting, as long as there may be more of them."""
        while len(self._calls) < self.in_flight and (parts := self._take()):
            # A flow has at most one part in a call, so the number of the part says whose query it is.
            owners = [number for number, part in enumerate(parts) for _ in range(len(part))]
            queries = [(part.waiting.key, query) for part in parts for query in part.queries()]
            outcomes: Outcomes = [None] * len(queries)
            call = _Call(deque(parts), queries, outcomes, apart(owners, afford=self.afford, outcomes=outcomes))
            if not self._ask(call, advance(call.asking)):
                yield from self._pass_on(call)  # nothing of it could be paid for

    def _take(self) -> list[_Part[K, Q, T]]:
        """Return the queries of the next call; a part that does not fit is divided."""
        left = self.fill()
        parts: list[_Part[K, Q, T]] = []
        while self._unsent and left > 0:
            part = self._unsent.popleft()
            # Another part of its batch has failed meanwhile, or could not be paid for.
            if part.waiting.ended or part.waiting.stop is not None:
                continue
            if len(part) > left:
                middle = part.start + int(left)
                self._unsent.appendleft(_Part(part.waiting, middle, part.stop))
                part = _Part(part.waiting, part.start, middle)
            part.waiting.under_way += 1
            parts.append(part)
            left -= len(part)
        return parts

    def _ask(self, call: _Call[K, Q, T], step: Sequence[int] | Done[Outcomes]) -> bool:
        """Send the next queries of a call; say whether there were any."""
        if isinstance(step, Done):
            return False
        # The usual case passes the list on as it is: copying it would take time for every call.
        everything = len(step) == len(call.queries)
        self._calls[self.submit(call.queries if everything else [call.queries[i] for i in step])] = call
        return True

    def _done(self) -> list[Future[Sequence[float]]]:
        """Return calls that have ended, in the order in which they were sent; wait for one if none has."""
        if self._calls and not any(future.done() for future in self._calls):
            wait(self._calls, return_when=FIRST_COMPLETED)
        return [future for future in self._calls if future.done()]

    def _receive(self, future: Future[Sequence[float]]) -> Iterator[tuple[K, T | FlipsetError]]:
        """Take the answers of a call, or send it again in parts where it failed."""
        call = self._calls.pop(future)
        try:
            answers = future.result()
        except CancelledError:  # by whoever closed the model, not by this run
            step = interrupt(call.asking, Interrupted())
        except BaseException as error:
            step = interrupt(call.asking, error)  # raises what is not about rows or budgets
        else:
            step = advance(call.asking, answers)
        self._ask(call, step)
        yield from self._pass_on(call)

    def _pass_on(self, call: _Call[K, Q, T]) -> Iterator[tuple[K, T | FlipsetError]]:
        """Give the outcomes that have arrived to their flows; a flow goes on when it has an answer to each query."""
        # Usually all outcomes are answers: finding that out once for the call is much faster than for each part.
        all_answers = set(map(type, call.outcomes)) == {float}
        arrived = []
        while call.parts:
            outcomes = call.outcomes[call.passed_on : call.passed_on + len(call.parts[0])]
            # Parts reach their flows in order, even if a later one is complete: the order must not depend on time.
            if not all_answers and None in outcomes:
                break
            call.passed_on += len(outcomes)
            answers, error = (cast("list[float | None]", outcomes), None) if all_answers else _sorted_out(outcomes)
            arrived.append((call.parts.popleft(), answers, error))
        for part, answers, _ in arrived:  # before any flow ends: it may use every answer that was paid for
            part.waiting.answers[part.start : part.stop] = answers
            part.waiting.missing -= len(part) - answers.count(None)
            part.waiting.under_way -= 1
        for part, _, error in arrived:
            if not part.waiting.ended and (ended := self._settle(part.waiting, error)) is not None:
                yield ended

    def _settle(self, waiting: _Waiting[K, Q, T], error: FlipsetError | None) -> tuple[K, T | FlipsetError] | None:
        """Go on with a flow, or end it, if what has arrived allows it; return its result if it has ended."""
        if isinstance(error, BudgetExhausted):
            waiting.stop = waiting.stop or error
        elif error is not None:
            return self._end(waiting, error)
        if waiting.stop is not None:
            return None if waiting.under_way else self._end(waiting, waiting.stop)
        return None if waiting.missing else self._end(waiting, cast("list[float]", waiting.answers))

    def _end(
        self, waiting: _Waiting[K, Q, T], answers: Sequence[float] | FlipsetError
    ) -> tuple[K, T | FlipsetError] | None:
        """End the wait of a flow, by its answers or by an error; return its result if it has ended."""
        waiting.ended = True
        del self._waiting[waiting]
        if isinstance(answers, BudgetExhausted):  # the flow may use the answers that were paid for
            # One error may be that of many flows, and each of them has answers of its own.
            answers = copy(answers)
            answers.answers = tuple(waiting.answers)
        return self._resume(waiting.key, waiting.flow, answers)


def _sorted_out(outcomes: Outcomes) -> tuple[list[float | None], FlipsetError | None]:
    """Return the answers among the outcomes of one owner, None for those without, and the error of the others."""
    error = next((outcome for outcome in outcomes if isinstance(outcome, FlipsetError)), None)
    if error is None:
        return cast("list[float | None]", outcomes), None
    return [None if isinstance(outcome, FlipsetError) else outcome for outcome in outcomes], error
