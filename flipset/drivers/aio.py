"""Run a flow by awaiting the model: the twin of `run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.drivers.answers import blaming_the_model, read_margins
from flipset.errors import BudgetExhausted
from flipset.protocol import Done, Flow, advance, interrupt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

T = TypeVar("T")
Q = TypeVar("Q")


async def arun(flow: Flow[Q, T], oracle: Callable[[Sequence[Q]], Awaitable[Sequence[bool | float]]]) -> T:
    """Answer every batch of `flow` by awaiting `oracle`; cancelling the task closes the flow."""
    try:
        step = advance(flow)
        while not isinstance(step, Done):
            try:
                with blaming_the_model(step):
                    answers = await oracle(step)
            except BudgetExhausted as stop:
                step = interrupt(flow, stop)
            else:
                step = advance(flow, read_margins(step, answers))
        return step.result
    finally:
        flow.close()
