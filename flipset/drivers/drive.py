"""Step a generator to its end with whatever answers it: the loop that the other drivers share.

`drive` and `adrive` know nothing about queries or margins. They pass what the generator yields to a function, send back
what the function returns, and raise inside the generator what the function raised on purpose. So a generator can
describe an exchange once (score a table in parts, look answers up before asking, choose a batch), and callers that
block and callers that await share it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from flipset.errors import FlipsetError
from flipset.protocol import Done, advance, interrupt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

Y = TypeVar("Y")
T = TypeVar("T")


def drive(steps: Generator[Y, Any, T], answer: Callable[[Y], Any]) -> T:
    """Answer every step by calling `answer`; return the result.

    A `FlipsetError` is raised inside the generator, which may go on. Anything else ends it, and closes it first.
    """
    try:
        step: Any = advance(steps)  # type: ignore[arg-type]  # a step need not be a sequence
        while not isinstance(step, Done):
            try:
                given = answer(step)
            except FlipsetError as error:
                # Only errors on purpose. Others are mistakes, which no generator should be able to swallow.
                step = interrupt(steps, error)  # type: ignore[arg-type]
            else:
                step = advance(steps, given)  # type: ignore[arg-type]
        result: T = step.result
        return result
    finally:
        steps.close()


async def adrive(steps: Generator[Y, Any, T], answer: Callable[[Y], Awaitable[Any]]) -> T:
    """Do the same by awaiting `answer`; cancelling the task closes the generator."""
    try:
        step: Any = advance(steps)  # type: ignore[arg-type]
        while not isinstance(step, Done):
            try:
                given = await answer(step)
            except FlipsetError as error:
                step = interrupt(steps, error)  # type: ignore[arg-type]
            else:
                step = advance(steps, given)  # type: ignore[arg-type]
        result: T = step.result
        return result
    finally:
        steps.close()
