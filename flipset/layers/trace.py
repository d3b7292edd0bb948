"""Record what was asked and answered: enough to replay a search without its model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar

from flipset.protocol import Answers, Flow, ask, relay

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")
Q = TypeVar("Q")


class Round(NamedTuple, Generic[Q]):
    """One exchange: the queries of a batch and their answers."""

    queries: tuple[Q, ...]
    answers: tuple[float, ...]


Transcript: TypeAlias = list[Round[Q]]


def trace(search: Flow[Q, T], transcript: Transcript[Q]) -> Flow[Q, T]:
    """Pass everything through, appending each round to `transcript`; a checkpoint is not a round."""

    def traced(batch: Sequence[Q]) -> Flow[Q, Answers]:
        answers = yield from ask(batch)
        if batch:
            transcript.append(Round(tuple(batch), tuple(answers)))
        return answers

    return relay(search, traced)
