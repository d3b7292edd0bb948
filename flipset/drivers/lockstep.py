"""Run many flows together: every round is one call of the model for all of them.

`gather` joins flows into one; this is its twin for long runs. It starts new flows as others end, no more being under
way than `width` says, hands over each result as soon as it is there, and keeps the error of one flow from ending the
others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.errors import BudgetExhausted, FlipsetError
from flipset.protocol import Done, Flow, advance, interrupt, is_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")
Q = TypeVar("Q")
K = TypeVar("K")


def lockstep(
    flows: Iterable[tuple[K, Flow[Q, T]]],
    oracle: Callable[[Sequence[tuple[K, Sequence[Q]]]], Sequence[Sequence[float] | FlipsetError]],
    *,
    width: Callable[[], int],
) -> Iterator[tuple[K, T | FlipsetError]]:
    """Answer the batches of all flows under way by one call of `oracle`; yield key and result as flows end.

    `oracle` is given the key and the batch of each flow that waits, and returns for each its answers, or an error that
    becomes the result of that flow. So does what a flow raises on purpose. That a budget ran out is told to the flow,
    which may end in what it has. Anything else ends the run; results yielded before that stand.
    """
    source = iter(flows)
    waiting: list[tuple[K, Flow[Q, T], Sequence[Q]]] = []
    try:
        while True:
            while len(waiting) < width() and (entry := next(source, None)) is not None:
                key, flow = entry
                yield from proceed(key, flow, None, waiting)
            if not waiting:
                return
            answers = oracle([(key, batch) for key, _, batch in waiting])
            asked, waiting = waiting, []
            for (key, flow, _), part in zip(asked, answers, strict=True):
                yield from proceed(key, flow, part, waiting)
    finally:
        for _, flow, _ in waiting:
            flow.close()


def proceed(
    key: K,
    flow: Flow[Q, T],
    answers: Sequence[float] | FlipsetError | None,
    waiting: list[tuple[K, Flow[Q, T], Sequence[Q]]],
) -> Iterator[tuple[K, T | FlipsetError]]:
    """Resume one flow, past its checkpoints; put it on the list if it asks, yield its result if it has ended."""
    if isinstance(answers, FlipsetError) and not isinstance(answers, BudgetExhausted):
        flow.close()
        yield key, answers
        return
    try:
        step = interrupt(flow, answers) if isinstance(answers, FlipsetError) else advance(flow, answers)
        while is_checkpoint(step):
            step = advance(flow, ())
    except FlipsetError as error:
        yield key, error
        return
    if isinstance(step, Done):
        yield key, step.result
    else:
        waiting.append((key, flow, step))
