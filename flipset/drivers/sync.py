"""Run a flow by calling the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.drivers.answers import as_model_errors, read_margins
from flipset.errors import BudgetExhausted
from flipset.protocol import Done, Flow, advance, interrupt, is_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
Q = TypeVar("Q")


def run(flow: Flow[Q, T], oracle: Callable[[Sequence[Q]], Sequence[bool | float]]) -> T:
    """Answer every batch of `flow` by `oracle`, which takes a batch and returns one margin (or bool) per query.

    An interrupt from the keyboard is raised inside the flow, which may end with what it has; so is it if a budget of
    the oracle's own runs out. The oracle is never given an empty batch.

    Examples
    --------
    >>> from flipset.paper import find_optimal
    >>> run(find_optimal(3), lambda batch: [query & 0b101 == 0b101 for query in batch])
    (5,)
    """
    try:
        step = advance(flow)
        while not isinstance(step, Done):
            step = answer(flow, step, oracle, (KeyboardInterrupt, BudgetExhausted))
        return step.result
    finally:
        flow.close()


def answer(
    flow: Flow[Q, T],
    batch: Sequence[Q],
    oracle: Callable[[Sequence[Q]], Sequence[bool | float]],
    stops: tuple[type[BaseException], ...],
) -> Sequence[Q] | Done[T]:
    """Answer one batch, and return the next step; of what the oracle raises, `stops` are raised inside the flow."""
    if is_checkpoint(batch):
        return advance(flow, ())
    try:
        with as_model_errors(batch):
            answers = oracle(batch)
    except stops as stop:
        return interrupt(flow, stop)
    # Outside of the `try`: an exception that the flow itself raises is not raised inside it a second time.
    return advance(flow, read_margins(batch, answers))
