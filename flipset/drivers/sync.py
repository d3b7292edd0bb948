"""Run a flow by calling the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.drivers.answers import blaming_the_model, read_margins
from flipset.protocol import Done, Flow, advance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
Q = TypeVar("Q")


def run(flow: Flow[Q, T], oracle: Callable[[Sequence[Q]], Sequence[bool | float]]) -> T:
    """Answer every batch of `flow` by `oracle`, which takes a batch and returns one margin (or bool) per query.

    Examples
    --------
    >>> from flipset.paper import find_optimal
    >>> run(find_optimal(3), lambda batch: [query & 0b101 == 0b101 for query in batch])
    (5,)
    """
    try:
        step = advance(flow)
        while not isinstance(step, Done):
            with blaming_the_model(step):
                answers = oracle(step)
            step = advance(flow, read_margins(step, answers))
        return step.result
    finally:
        flow.close()
