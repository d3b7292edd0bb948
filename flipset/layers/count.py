"""Count the queries and rounds of a search. A model may charge for either."""

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
    """The number of queries, and the number of rounds in which they were asked."""

    queries: int = 0
    rounds: int = 0


def count(search: Flow[Q, T], tally: Tally) -> Flow[Q, T]:
    """Pass everything through, and count in `tally` the queries that were answered. A checkpoint is not a round."""

    def counted(batch: Sequence[Q]) -> Flow[Q, Answers]:
        # Counted after the answers: a batch that failed may be asked again, and then counts once.
        answers = yield from ask(batch)
        tally.queries += len(batch)
        tally.rounds += bool(batch)
        return answers

    return relay(search, counted)
