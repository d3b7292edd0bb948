"""Run many flows together: every round is one call of the model for all of them.

`gather` joins flows into one; this is its twin for long runs. It starts new flows as others end, so that no more than
`width` are under way, hands over each result as soon as it is there, and keeps the error of one flow from ending the
others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.errors import FlipsetError
from flipset.protocol import Done, Flow, advance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")
Q = TypeVar("Q")
K = TypeVar("K")


def lockstep(
    flows: Iterable[tuple[K, Flow[Q, T]]],
    oracle: Callable[[Sequence[tuple[K, Sequence[Q]]]], Sequence[Sequence[float] | FlipsetError]],
    *,
    width: int,
) -> Iterator[tuple[K, T | FlipsetError]]:
    """Answer the batches of all flows under way by one call of `oracle`; yield key and result as flows end.

    `oracle` is given the key and the batch of each flow that waits, and returns for each its answers, or an error that
    becomes the result of that flow. So does what a flow raises on purpose. Anything else ends the run; results yielded
    before that stand.
    """
    source = iter(flows)
    waiting: list[tuple[K, Flow[Q, T], Sequence[Q]]] = []
    try:
        while True:
            while len(waiting) < width and (entry := next(source, None)) is not None:
                key, flow = entry
                yield from _proceed(key, flow, None, waiting)
            if not waiting:
                return
            answers = oracle([(key, batch) for key, _, batch in waiting])
            asked, waiting = waiting, []
            for (key, flow, _), part in zip(asked, answers, strict=True):
                if isinstance(part, FlipsetError):
                    flow.close()
                    yield key, part
                else:
                    yield from _proceed(key, flow, part, waiting)
    finally:
        for _, flow, _ in waiting:
            flow.close()


def _proceed(
    key: K, flow: Flow[Q, T], answers: Sequence[float] | None, waiting: list[tuple[K, Flow[Q, T], Sequence[Q]]]
) -> Iterator[tuple[K, T | FlipsetError]]:
    """Resume one flow; put it on the list if it asks, yield its result if it has ended."""
    try:
        step = advance(flow, answers)
    except FlipsetError as error:
        yield key, error
        return
    if isinstance(step, Done):
        yield key, step.result
    else:
        waiting.append((key, flow, step))
