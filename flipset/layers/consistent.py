"""Continue a search when answers contradict each other: the earlier answer wins, and the contradiction is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.errors import BudgetExhausted
from flipset.protocol import Search, ask, relay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Answers, Flips
    from flipset.sets.known import Known

T = TypeVar("T")

BARELY_NEGATIVE = -1e-300
"""The margin of a set that is treated as not flipping although the model says that it flips."""


def consistent(search: Search[T], known: Known, contradictions: list[tuple[Flips, Flips]]) -> Search[T]:
    """Give the search answers that are consistent with a monotone function.

    If an answer contradicts the zeros and ones in `known`, the search receives the answer that follows from them
    instead, and the pair of contradictory queries is added to `contradictions`: a set that flips, and a superset that
    does not. Any other answer is passed on and added to `known`.
    """

    def settled(query: Flips, answer: float) -> float:
        """Learn an answer; return it, or the one that follows from what is known."""
        flips = answer >= 0
        pair = known.conflict(query, flips)
        if pair is None:
            known.learn(query, flips)
            return answer
        contradictions.append(pair)
        # Small margins: the value is not the model's, so it should say little more than its sign.
        return BARELY_NEGATIVE if flips else 0.0

    def answered(batch: Sequence[Flips]) -> Search[Answers]:
        try:
            answers = yield from ask(batch)
        except BudgetExhausted as stop:  # a part of the batch may have been answered: the result rests on it, too
            arrived = zip(batch, stop.answers, strict=False)
            stop.answers = [None if answer is None else settled(query, answer) for query, answer in arrived]
            raise
        return [settled(query, answer) for query, answer in zip(batch, answers, strict=True)]

    return relay(search, answered)
