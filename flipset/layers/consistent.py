"""Go on where answers contradict each other: what was said first stands, and what contradicts it is noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.protocol import Search, ask, relay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Answers, Flips
    from flipset.sets.known import Known

T = TypeVar("T")

JUST_NOT = -1e-300
"""The margin of a set that is taken not to flip, whatever the model said."""


def consistent(search: Search[T], known: Known, doubts: list[tuple[Flips, Flips]]) -> Search[T]:
    """Give the search the answers of a monotone function: those in `known` and all that follows, then the model's own.

    For each answer that says otherwise, `doubts` gets the pair: a set that flips, and a superset that does not.
    """

    def answered(batch: Sequence[Flips]) -> Search[Answers]:
        answers = list((yield from ask(batch)))
        for i, query in enumerate(batch):
            flips = answers[i] >= 0
            pair = known.conflict(query, flips)
            if pair is None:
                known.learn(query, flips)
            else:
                doubts.append(pair)
                answers[i] = JUST_NOT if flips else 0.0
        return answers

    return relay(search, answered)
