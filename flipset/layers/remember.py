"""Ask nothing twice: answers already given are given again from memory."""

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
    """Forward only queries that are new, duplicates inside one batch included; a batch with none is a checkpoint.

    `memory` may be shared by searches about the same function.
    """
    answered: MutableMapping[Q, float] = {} if memory is None else memory

    def recalled(batch: Sequence[Q]) -> Flow[Q, Answers]:
        new = [query for query in dict.fromkeys(batch) if query not in answered]
        try:
            answers = yield from ask(new)
        except BudgetExhausted as stop:  # what has arrived is paid for
            arrived = zip(new, stop.answers, strict=False)
            answered.update((query, answer) for query, answer in arrived if answer is not None)
            stop.answers = [answered.get(query) for query in batch]
            raise
        answered.update(zip(new, answers, strict=True))
        return [answered[query] for query in batch]

    return relay(search, recalled)
