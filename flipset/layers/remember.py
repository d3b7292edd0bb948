"""Ask nothing twice: answer repeated queries from memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.errors import BudgetExhausted
from flipset.protocol import Flow, ask, relay

if TYPE_CHECKING:
    from collections.abc import Hashable, MutableMapping, Sequence

    from flipset.protocol import Answers

T = TypeVar("T")
Q = TypeVar("Q", bound="Hashable")


def remember(search: Flow[Q, T], memory: MutableMapping[Q, float] | None = None) -> Flow[Q, T]:
    """Forward only new queries, and each of them once even if a batch repeats it.

    A batch without new queries becomes a checkpoint. Searches about the same function may share a `memory`.
    """
    answered: MutableMapping[Q, float] = {} if memory is None else memory

    def recalled(batch: Sequence[Q]) -> Flow[Q, Answers]:
        # Asked even if nothing is new, as a checkpoint: a search can be stopped between remembered rounds.
        new = [query for query in dict.fromkeys(batch) if query not in answered]
        try:
            answers = yield from ask(new)
        except BudgetExhausted as stop:  # keep the answers that arrived: they are paid for
            arrived = zip(new, stop.answers, strict=False)
            answered.update((query, answer) for query, answer in arrived if answer is not None)
            stop.answers = [answered.get(query) for query in batch]
            raise
        answered.update(zip(new, answers, strict=True))
        return answers if len(new) == len(batch) else [answered[query] for query in batch]

    return relay(search, recalled)
