"""Stop a flow when a budget of queries or seconds is spent.

`limit_queries` and `limit_seconds` work for flows with any kind of query. When the budget is spent they raise
`BudgetExhausted` inside the flow, which may then return a partial result. If it asks again, the error is raised again.
`budget` and `deadline` do the same for searches over sets; the error that leaves them carries the known zeros and ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from flipset.errors import BudgetExhausted, Interrupted, NotReturned
from flipset.plural import count, count_seconds
from flipset.protocol import Flow, Search, ask, relay
from flipset.sets.known import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flipset.protocol import Answers, Flips

T = TypeVar("T")
Q = TypeVar("Q")


@dataclass(slots=True)
class Allowance:
    """A budget of queries, and how much of it is spent. Several flows may share one."""

    most: int
    spent: int = 0

    def grant(self, wanted: int) -> int:
        """Return how many of the wanted queries may be asked, and count those as spent."""
        # What is granted counts at once, before it is asked: flows that share the budget cannot spend it twice.
        granted = min(wanted, max(0, self.most - self.spent))
        self.spent += granted
        return granted


def limit_queries(flow: Flow[Q, T], allowance: Allowance) -> Flow[Q, T]:
    """Let queries through until the allowance is spent.

    If only part of a batch is affordable, that part is asked, and the error holds its answers: they are paid for.
    """

    def limited(batch: Sequence[Q]) -> Flow[Q, Answers]:
        affordable = batch[: allowance.grant(len(batch))]
        # An empty batch is a checkpoint and is passed on. A batch that became empty here must not pass for one.
        answers = (yield from ask(affordable)) if affordable or not batch else ()
        if len(affordable) < len(batch):
            stop = BudgetExhausted(count(allowance.most, "query"))
            stop.answers = (*answers, *[None] * (len(batch) - len(affordable)))
            raise stop
        return answers

    return relay(flow, limited)


def limit_seconds(flow: Flow[Q, T], seconds: float, clock: Callable[[], float], *, grace: int = 0) -> Flow[Q, T]:
    """Let no batch through once `seconds` have passed since the first one; the first `grace` batches always pass.

    The caller supplies the clock, such as `time.monotonic`. It is read before every batch and at every checkpoint of
    the flow. A batch that was let through is not cut short here; `flipset.drivers.abandon` does that.
    """
    end: float | None = None

    def is_over() -> BudgetExhausted | None:
        nonlocal end
        now = clock()
        # The time begins with the first batch. Flows of a table are made long before they are started.
        end = now + seconds if end is None else end
        return BudgetExhausted(count_seconds(seconds)) if now >= end else None

    return limit_until(flow, is_over, grace=grace)


def limit_until(flow: Flow[Q, T], is_over: Callable[[], BudgetExhausted | None], *, grace: int = 0) -> Flow[Q, T]:
    """Let no batch through once `is_over` returns an error, which is raised; the first `grace` batches always pass.

    It is called before every batch and at every checkpoint. Several flows may share it, and so end at the same time.
    """
    free = grace

    def timed(batch: Sequence[Q]) -> Flow[Q, Answers]:
        nonlocal free
        stop = is_over()
        if stop is not None and not free:
            raise stop
        # Checkpoints use up no grace: they come as often as the computation is long, and say nothing about the row.
        free = max(0, free - bool(batch))
        return (yield from ask(batch))

    return relay(flow, timed)


def stay_interrupted(flow: Flow[Q, T], *, interrupted: bool = False) -> Flow[Q, T]:
    """Treat an interrupt from the keyboard like a spent budget, so that the flow returns a partial result.

    Before the first answer there is no partial result, and the interrupt is raised as it is.
    """
    answered = False

    def watched(batch: Sequence[Q]) -> Flow[Q, Answers]:
        nonlocal answered, interrupted
        # A flow that asks again after an interrupt is told again. It must not wait for a model that nobody waits for.
        if interrupted:
            raise Interrupted
        try:
            answers = yield from ask(batch)
        except KeyboardInterrupt:
            if not answered:
                raise
            interrupted = True
            raise Interrupted from None
        answered = answered or bool(batch)
        return answers

    return relay(flow, watched)


def watch(flow: Flow[Q, T], look: Callable[[], None]) -> Flow[Q, T]:
    """Call `look` before every batch and at every checkpoint; an error that it raises ends the flow."""

    def watched(batch: Sequence[Q]) -> Flow[Q, Answers]:
        look()
        return (yield from ask(batch))

    return relay(flow, watched)


def budget(search: Search[T], max_queries: int) -> Search[T]:
    """Let at most `max_queries` queries through, then raise `BudgetExhausted` with the known zeros and ones."""
    known = Known()
    return with_known(limit_queries(learning(search, known), Allowance(max_queries)), known)


def deadline(search: Search[T], seconds: float, clock: Callable[[], float]) -> Search[T]:
    """Let no batch through once `seconds` have passed since the first; then raise `BudgetExhausted` like `budget`."""
    known = Known()
    return with_known(limit_seconds(learning(search, known), seconds, clock), known)


def learning(
    search: Search[T], known: Known, on_conflict: Callable[[Flips, Flips], None] = lambda smaller, larger: None
) -> Search[T]:
    """Add all answers to `known`, also those that arrive before a budget is spent.

    `on_conflict` is called with each pair of sets whose answers contradict each other: the smaller flips, the larger
    does not.
    """

    def learn(answered: Iterable[tuple[Flips, float | None]]) -> None:
        for query, answer in answered:
            conflict = None if answer is None else known.learn(query, answer >= 0)
            if conflict is not None:
                on_conflict(*conflict)

    def noted(batch: Sequence[Flips]) -> Search[Answers]:
        try:
            answers = yield from ask(batch)
        except BudgetExhausted as stop:
            # `stop.answers` has None for queries that were not answered, and is empty if none was.
            learn(zip(batch, stop.answers, strict=False))
            raise
        learn(zip(batch, answers, strict=True))
        return answers

    return relay(search, noted)


def with_known(search: Search[T], known: Known) -> Search[T]:
    """Run a search; if `BudgetExhausted` ends it, raise that error with the known zeros and ones."""
    try:
        return (yield from search)
    except BudgetExhausted as stop:
        # An interrupt, and an error that has its own zeros and ones, pass unchanged.
        if type(stop) is BudgetExhausted and stop.known is None:
            raise BudgetExhausted(stop.budget, known) from None
        if isinstance(stop, NotReturned):
            stop.known = known
        raise
