"""Answer from monotonicity what needs no asking: subsets of zeros, supersets of ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.known import Known
from flipset.protocol import Search, ask, relay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Answers, Flips

T = TypeVar("T")


def infer(search: Search[T], known: Known | None = None) -> Search[T]:
    """Forward only queries that the answers so far do not settle. An answer that was inferred is ±1.

    Queries of one batch do not settle each other: they are asked at the same time. `known` may carry what earlier
    searches about the same function learned.
    """
    facts = Known() if known is None else known

    def inferred(batch: Sequence[Flips]) -> Search[Answers]:
        settled = [facts.settle(query) for query in batch]
        open_queries = [query for query, flips in zip(batch, settled, strict=True) if flips is None]
        asked: dict[Flips, float] = {}
        if open_queries:
            answers = yield from ask(open_queries)
            asked.update(zip(open_queries, answers, strict=True))
            for query, answer in asked.items():
                facts.learn(query, answer >= 0)
        return [
            asked[query] if flips is None else (1.0 if flips else -1.0)
            for query, flips in zip(batch, settled, strict=True)
        ]

    return relay(search, inferred)
