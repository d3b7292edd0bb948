"""Stop a search at the first answer that shows that the function is not monotone."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.errors import BudgetExhausted, NotMonotone
from flipset.layers.budget import learn_partly
from flipset.protocol import Search, ask, features_of, relay
from flipset.sets.known import Known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Answers, Flips

T = TypeVar("T")


def guard(search: Search[T], known: Known | None = None) -> Search[T]:
    """Raise `NotMonotone` exactly when there are answers for two sets S ⊆ T such that S flips and T does not.

    The zeros and ones are collected in `known`; pass one to read them afterwards.
    """
    known = Known() if known is None else known

    def guarded(batch: Sequence[Flips]) -> Search[Answers]:
        try:
            answers = yield from ask(batch)
        except BudgetExhausted as stop:
            learn_partly(known, batch, stop)
            raise
        for query, answer in zip(batch, answers, strict=True):
            conflict = known.learn(query, answer >= 0)
            if conflict is not None:
                smaller, larger = conflict
                raise NotMonotone(frozenset(features_of(smaller)), frozenset(features_of(larger)))
        return answers

    return relay(search, guarded)
