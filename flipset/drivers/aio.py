"""Run a flow by awaiting the model: the twin of `run`."""

from __future__ import annotations

from asyncio import sleep
from typing import TYPE_CHECKING, TypeVar

from flipset.drivers.answers import as_model_errors, read_margins
from flipset.errors import BudgetExhausted
from flipset.protocol import Done, Flow, advance, interrupt, is_checkpoint

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

T = TypeVar("T")
Q = TypeVar("Q")


async def arun(flow: Flow[Q, T], oracle: Callable[[Sequence[Q]], Awaitable[Sequence[bool | float]]]) -> T:
    """Answer every batch of `flow` by awaiting `oracle`; cancelling the task closes the flow.

    At a checkpoint the event loop gets a turn, so that a long computation holds up nobody else for long.
    """
    try:
        step = advance(flow)
        while not isinstance(step, Done):
            if is_checkpoint(step):
                # An empty batch reaches no model, so without this the task would never give way to others.
                await sleep(0)
                step = advance(flow, ())
                continue
            try:
                with as_model_errors(step):
                    answers = await oracle(step)
            except BudgetExhausted as stop:
                step = interrupt(flow, stop)
            else:
                step = advance(flow, read_margins(step, answers))
        return step.result
    finally:
        flow.close()
