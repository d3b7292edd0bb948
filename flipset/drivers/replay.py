"""Run a flow from a recording, with no model at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.errors import ProtocolError
from flipset.protocol import Done, Flow, advance, is_checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")
Q = TypeVar("Q")


def replay(flow: Flow[Q, T], transcript: Iterable[tuple[Sequence[Q], Sequence[float]]]) -> T:
    """Answer `flow` from `transcript`, the rounds that `trace` recorded; return its result.

    Raises
    ------
    ProtocolError
        When the flow asks something else than was recorded, or the recording ends before the flow does, or after.
    """
    try:
        step = _past_checkpoints(flow, advance(flow))
        for number, (queries, answers) in enumerate(transcript, start=1):
            if isinstance(step, Done):
                raise ProtocolError(f"the search was done after round {number - 1}, but the transcript goes on")
            # Order counts, too: answers are matched with queries by their places.
            if tuple(step) != tuple(queries):
                raise ProtocolError(f"round {number} of the transcript records other queries than the search asks")
            step = _past_checkpoints(flow, advance(flow, answers))
        if not isinstance(step, Done):
            raise ProtocolError("the transcript ends before the search is done")
        return step.result
    finally:
        flow.close()


def _past_checkpoints(flow: Flow[Q, T], step: Sequence[Q] | Done[T]) -> Sequence[Q] | Done[T]:
    """Resume the flow until it asks something or is done: no checkpoint is recorded."""
    while is_checkpoint(step):
        step = advance(flow, ())
    return step
