"""Ask only the queries whose answers do not follow from known zeros and ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.protocol import Search, Steps, ask, checkpoint, relay
from flipset.sets.known import LOOKUP_STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Answers, Flips
    from flipset.sets.known import Known

T = TypeVar("T")


def infer(search: Search[T], known: Known, batch: int) -> Search[T]:
    """Answer a query by ±1 if its answer follows from `known`; ask the others, at most `batch` in a round.

    Answers are added to `known` as they arrive, so an earlier part of a batch may make a later part unnecessary.
    """
    steps = Steps()

    def inferred(queries: Sequence[Flips]) -> Search[Answers]:
        if not queries or steps.due(LOOKUP_STEPS * len(queries)):
            yield from checkpoint()
        # A dictionary, so that a query that stands twice in the batch is asked once.
        answers = {query: known.settle(query) for query in queries}
        unknown = [query for query, flips in answers.items() if flips is None]
        for start in range(0, len(unknown), batch):
            part = unknown[start : start + batch]
            if start:  # the answer may follow from the rounds before
                part = [query for query in part if known.settle(query) is None]
            if part:
                for query, margin in zip(part, (yield from ask(part)), strict=True):
                    answers[query] = margin >= 0
                    known.learn(query, margin >= 0)
        # What was not asked after all follows from the answers by now.
        settled = ((known.settle(query) if flips is None else flips) for query, flips in answers.items())
        signs = {query: 1.0 if flips else -1.0 for query, flips in zip(answers, settled, strict=True)}
        return [signs[query] for query in queries]

    return relay(search, inferred)
