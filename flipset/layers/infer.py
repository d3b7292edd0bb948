"""Ask only what does not follow from what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.protocol import Search, Steps, ask, checkpoint, relay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Answers, Flips
    from flipset.sets.known import Known

T = TypeVar("T")

SETTLING = 8
"""Elementary steps that it takes to see whether an answer follows from others."""


def infer(search: Search[T], known: Known, batch: int) -> Search[T]:
    """Answer queries from `known` where monotonicity does, by ±1; ask the others, `batch` of them a round.

    What is answered is learned, so that a later part of the same batch may follow from an earlier one.
    """
    steps = Steps()

    def inferred(queries: Sequence[Flips]) -> Search[Answers]:
        if not queries or steps.due(SETTLING * len(queries)):
            yield from checkpoint()
        answers = {query: known.settle(query) for query in queries}
        unknown = [query for query, flips in answers.items() if flips is None]
        for start in range(0, len(unknown), batch):
            part = unknown[start : start + batch]
            if start:  # the rounds before may have said it
                part = [query for query in part if known.settle(query) is None]
            if part:
                for query, margin in zip(part, (yield from ask(part)), strict=True):
                    answers[query] = margin >= 0
                    known.learn(query, margin >= 0)
        settled = ((known.settle(query) if flips is None else flips) for query, flips in answers.items())
        signs = {query: 1.0 if flips else -1.0 for query, flips in zip(answers, settled, strict=True)}
        return [signs[query] for query in queries]

    return relay(search, inferred)
