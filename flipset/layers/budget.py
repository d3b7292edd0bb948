"""Stop a search at a budget of queries or of seconds, and say what is known by then."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.errors import BudgetExhausted
from flipset.plural import count
from flipset.protocol import Search, ask, relay
from flipset.sets.known import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.protocol import Answers, Flips

T = TypeVar("T")


def budget(search: Search[T], max_queries: int) -> Search[T]:
    """Let at most `max_queries` queries through, then close `search` and raise `BudgetExhausted`.

    A batch that does not fit is asked as far as it fits: those answers are paid for, and known.
    """
    known = Known()
    left = max_queries

    def limited(batch: Sequence[Flips]) -> Search[Answers]:
        nonlocal left
        affordable = batch[:left]
        left -= len(affordable)
        # An empty batch is a checkpoint, which is passed on; one that cannot be paid for is not asked at all.
        answers = (yield from ask(affordable)) if affordable or not batch else ()
        _learn(known, affordable, answers)
        if len(affordable) < len(batch):
            raise BudgetExhausted(count(max_queries, "query"), known)
        return answers

    return relay(search, limited)


def deadline(search: Search[T], seconds: float, clock: Callable[[], float]) -> Search[T]:
    """Let no batch through once `seconds` have passed since the first; then raise `BudgetExhausted`.

    The clock is the caller's (`time.monotonic`, say): a layer reads none of its own. It is looked at before every batch
    and at every checkpoint of the search; a batch that was let through is not cut short.
    """
    known = Known()
    end: float | None = None

    def timed(batch: Sequence[Flips]) -> Search[Answers]:
        nonlocal end
        now = clock()
        end = now + seconds if end is None else end
        if now >= end:
            raise BudgetExhausted(f"{seconds:g} seconds", known)
        answers = yield from ask(batch)
        _learn(known, batch, answers)
        return answers

    return relay(search, timed)


def _learn(known: Known, batch: Sequence[Flips], answers: Answers) -> None:
    for query, answer in zip(batch, answers, strict=True):
        known.learn(query, answer >= 0)
