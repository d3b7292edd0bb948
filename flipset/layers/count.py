"""Count what a search asks: queries and rounds, the two prices a model may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from flipset.protocol import Flow, ask, relay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Answers

T = TypeVar("T")
Q = TypeVar("Q")


@dataclass(slots=True)
class Tally:
    """How many queries, in how many rounds."""

    queries: int = 0
    rounds: int = 0


def count(search: Flow[Q, T], tally: Tally) -> Flow[Q, T]:
    """Pass everything through, adding up in `tally` what was answered; a checkpoint is not a round."""

    def counted(batch: Sequence[Q]) -> Flow[Q, Answers]:
        answers = yield from ask(batch)
        tally.queries += len(batch)
        tally.rounds += bool(batch)
        return answers

    return relay(search, counted)
