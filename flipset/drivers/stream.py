"""Run a flow step by step, passing on what it finds on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.drivers.sync import answer
from flipset.errors import BudgetExhausted
from flipset.protocol import Done, Flow, advance

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
            # An interrupt from the keyboard is left to the caller, which has results of its own to keep.
            step = answer(flow, step, oracle, (BudgetExhausted,))
    finally:
        flow.close()
