"""Stop a flow at a budget of queries or of seconds.

`limit_queries` and `limit_seconds` are for flows of any query. When the budget ends they raise `BudgetExhausted` inside
the flow, which may end with what it has; whatever it asks after that raises again. `budget` and `deadline` are the same
for searches over sets, and the error that leaves them says what is known by then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from flipset.errors import BudgetExhausted, Interrupted
from flipset.plural import count
from flipset.protocol import Flow, Search, ask, relay
from flipset.sets.known import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.protocol import Answers, Flips

T = TypeVar("T")
Q = TypeVar("Q")


@dataclass(slots=True)
class Allowance:
    """How many queries may be asked, and how many were; flows that share one share the budget."""

    most: int
    spent: int = 0

    def grant(self, wanted: int) -> int:
        """Count queries that are about to be asked; return how many of those wanted may be."""
        granted = min(wanted, max(0, self.most - self.spent))
        self.spent += granted
        return granted


def limit_queries(flow: Flow[Q, T], allowance: Allowance) -> Flow[Q, T]:
    """Let queries through as far as the allowance goes.

    A batch that does not fit is asked as far as it fits: the error holds those answers, which are paid for.
    """

    def limited(batch: Sequence[Q]) -> Flow[Q, Answers]:
        affordable = batch[: allowance.grant(len(batch))]
        # An empty batch is a checkpoint, which is passed on; one that cannot be paid for is not asked at all.
        answers = (yield from ask(affordable)) if affordable or not batch else ()
        if len(affordable) < len(batch):
            stop = BudgetExhausted(count(allowance.most, "query"))
            stop.answers = (*answers, *[None] * (len(batch) - len(affordable)))
            raise stop
        return answers

    return relay(flow, limited)


def limit_seconds(flow: Flow[Q, T], seconds: float, clock: Callable[[], float], *, grace: int = 0) -> Flow[Q, T]:
    """Let no batch through once `seconds` have passed since the first, but for the first `grace` batches.

    The clock is the caller's (`time.monotonic`, say): a layer reads none of its own. It is looked at before every batch
    and at every checkpoint of the flow; a batch that was let through is not cut short.
    """
    end: float | None = None
    free = grace

    def timed(batch: Sequence[Q]) -> Flow[Q, Answers]:
        nonlocal end, free
        now = clock()
        end = now + seconds if end is None else end
        if now >= end and not free:
            raise BudgetExhausted(f"{seconds:g} seconds")
        free = max(0, free - bool(batch))
        return (yield from ask(batch))

    return relay(flow, timed)


def stay_interrupted(flow: Flow[Q, T], *, interrupted: bool = False) -> Flow[Q, T]:
    """Turn an interrupt from the keyboard into a budget that ran out: the flow ends with what it has.

    Before the first answer there is nothing to end with, and the interrupt stays one.
    """
    answered = False

    def watched(batch: Sequence[Q]) -> Flow[Q, Answers]:
        nonlocal answered, interrupted
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


def budget(search: Search[T], max_queries: int) -> Search[T]:
    """Let at most `max_queries` queries through, then raise `BudgetExhausted` with what is known."""
    known = Known()
    return with_known(limit_queries(_learning(search, known), Allowance(max_queries)), known)


def deadline(search: Search[T], seconds: float, clock: Callable[[], float]) -> Search[T]:
    """Let no batch through once `seconds` have passed since the first; then raise `BudgetExhausted` like `budget`."""
    known = Known()
    return with_known(limit_seconds(_learning(search, known), seconds, clock), known)


def _learning(search: Search[T], known: Known) -> Search[T]:
    """Note all answers in `known`."""

    def noted(batch: Sequence[Flips]) -> Search[Answers]:
        try:
            answers = yield from ask(batch)
        except BudgetExhausted as stop:
            learn_partly(known, batch, stop)
            raise
        for query, answer in zip(batch, answers, strict=True):
            known.learn(query, answer >= 0)
        return answers

    return relay(search, noted)


def learn_partly(known: Known, batch: Sequence[Flips], stop: BudgetExhausted) -> None:
    """Note the answers that arrived before a budget ran out."""
    for query, answer in zip(batch, stop.answers, strict=False):
        if answer is not None:
            known.learn(query, answer >= 0)


def with_known(search: Search[T], known: Known) -> Search[T]:
    """Let the error that ends a search say what is known."""
    try:
        return (yield from search)
    except BudgetExhausted as stop:
        if type(stop) is BudgetExhausted and stop.known is None:
            raise BudgetExhausted(stop.budget, known) from None
        raise
