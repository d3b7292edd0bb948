"""Record all queries and answers, so that the search can be replayed without its model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar

from flipset.protocol import Answers, Flow, ask, relay

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")
Q = TypeVar("Q")


class Round(NamedTuple, Generic[Q]):
    """The queries of one batch and their answers."""

    queries: tuple[Q, ...]
    answers: tuple[float, ...]


Transcript: TypeAlias = list[Round[Q]]


def trace(search: Flow[Q, T], transcript: Transcript[Q]) -> Flow[Q, T]:
    """Pass everything through, and append each round to `transcript`. A checkpoint is not a round."""

    def traced(batch: Sequence[Q]) -> Flow[Q, Answers]:
        answers = yield from ask(batch)
        if batch:
            transcript.append(Round(tuple(batch), tuple(answers)))
        return answers

    return relay(search, traced)
