"""Run a flow step by step, passing on what it finds on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.drivers.answers import as_model_errors, read_margins
from flipset.errors import BudgetExhausted
from flipset.protocol import Done, Flow, advance, interrupt, is_checkpoint

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")
Q = TypeVar("Q")


def stream(
    flow: Flow[Q, None], oracle: Callable[[Sequence[Q]], Sequence[bool | float]], found: deque[T]
) -> Iterator[T]:
    """Answer the batches of `flow` by `oracle`, and yield whatever the flow puts into `found` as soon as it is there.

    Nothing is asked before the caller wants the next result; closing the iterator closes the flow.
    If a budget of the oracle's own runs out, that is raised inside the flow, which may end with what it has.
    """
    try:
        step = advance(flow)
        while True:
            while found:
                yield found.popleft()
            if isinstance(step, Done):
                return
            if is_checkpoint(step):
                step = advance(flow, ())
                continue
            try:
                with as_model_errors(step):
                    answers = oracle(step)
            except BudgetExhausted as stop:
                step = interrupt(flow, stop)
            else:
                step = advance(flow, read_margins(step, answers))
    finally:
        flow.close()
