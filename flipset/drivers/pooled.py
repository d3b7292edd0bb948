"""Run many flows over one pool of calls: each flow goes on as soon as its own answers are there.

In `lockstep` a round ends when its slowest call does. Here calls are made side by side, in threads, and filled from
whatever flows are waiting; one that waits for a slow call holds up nobody.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from copy import copy
from dataclasses import dataclass, field
from threading import get_ident
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from flipset.drivers.lockstep import proceed
from flipset.errors import BudgetExhausted, FlipsetError, InputError, OracleError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from flipset.protocol import Flow

T = TypeVar("T")
Q = TypeVar("Q")
K = TypeVar("K")


@dataclass(eq=False, slots=True)
class _Turn(Generic[K, Q, T]):
    """A flow that waits, what it asked, and the answers that are there."""

    key: K
    flow: Flow[Q, T]
    batch: Sequence[Q]
    answers: list[float | None] = field(init=False)
    missing: int = field(init=False)
    over: bool = False

    def __post_init__(self) -> None:
        self.answers = [None] * len(self.batch)
        self.missing = len(self.batch)


class Pooled(Generic[K, Q, T]):
    """The flows under way and the calls under way.

    Parameters
    ----------
    ask
        Answers questions of several flows, each with the flow's key; called from several threads.
    width
        Says how many flows may be under way.
    in_flight
        How many calls are.
    fill
        Says how many questions the next call should have.
    afford
        Says whether so many questions may still be asked, and counts them; by default any number may be.
    stop
        Called when the run ends early, with the threads that wait for calls, to give those up.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[tuple[K, Q]]], Sequence[float]],
        *,
        width: Callable[[], int],
        in_flight: int,
        fill: Callable[[], int],
        afford: Callable[[int], BudgetExhausted | None] = lambda count: None,
        stop: Callable[[Collection[int]], Any] = lambda threads: None,
    ) -> None:
        self.ask = ask
        self.width = width
        self.in_flight = in_flight
        self.fill = fill
        self.afford = afford
        self.stop = stop
        self._busy: set[int] = set()
        self._turns: list[_Turn[K, Q, T]] = []
        self._pending: deque[tuple[_Turn[K, Q, T], int]] = deque()
        self._retry: deque[list[tuple[_Turn[K, Q, T], int]]] = deque()  # calls that failed, in halves
        self._calls: dict[Future[Sequence[float]], list[tuple[_Turn[K, Q, T], int]]] = {}

    def run(self, flows: Iterable[tuple[K, Flow[Q, T]]]) -> Iterator[tuple[K, T | FlipsetError]]:
        """Run flows to their ends; yield key and result of each.

        An `OracleError` is traced to the flows it is about, and becomes their result. So does what a flow raises on
        purpose. That a budget ran out is told to the flow. Anything else ends the run; results yielded before stand.
        """
        source = iter(flows)
        is_over = False
        threads = ThreadPoolExecutor(self.in_flight, thread_name_prefix="flipset-call")
        try:
            while True:
                while not is_over and len(self._turns) < self.width():
                    entry = next(source, None)
                    is_over = entry is None
                    if entry is not None:
                        yield from self._proceed(*entry, None)
                yield from self._send(threads)
                if self._calls:
                    done, _ = wait(self._calls, return_when=FIRST_COMPLETED)
                    for call in done:
                        yield from self._receive(call)
                elif is_over and not self._turns:
                    return
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            if self._calls:
                self.stop(tuple(self._busy))
            threads.shutdown(wait=True)
            for turn in self._turns:
                turn.flow.close()

    def _proceed(
        self, key: K, flow: Flow[Q, T], answers: Sequence[float] | FlipsetError | None
    ) -> Iterator[tuple[K, T | FlipsetError]]:
        waiting: list[tuple[K, Flow[Q, T], Sequence[Q]]] = []
        yield from proceed(key, flow, answers, waiting)
        for entry in waiting:
            turn = _Turn(*entry)
            self._turns.append(turn)
            self._pending.extend((turn, i) for i in range(len(turn.batch)))

    def _end(
        self, turn: _Turn[K, Q, T], answers: Sequence[float] | FlipsetError
    ) -> Iterator[tuple[K, T | FlipsetError]]:
        turn.over = True
        self._turns.remove(turn)
        if isinstance(answers, BudgetExhausted):  # what has arrived was asked, and must be looked at
            answers = copy(answers)
            answers.answers = tuple(turn.answers)
        yield from self._proceed(turn.key, turn.flow, answers)

    def _send(self, threads: ThreadPoolExecutor) -> Iterator[tuple[K, T | FlipsetError]]:
        """Make calls of what is waiting, as long as there may be more of them."""
        while len(self._calls) < self.in_flight and (questions := self._take()):
            if (error := self.afford(len(questions))) is not None:
                for turn in dict.fromkeys(turn for turn, _ in questions):
                    if not turn.over:
                        yield from self._end(turn, error)
                continue
            asked = [(turn.key, turn.batch[i]) for turn, i in questions]
            self._calls[threads.submit(self._call, asked)] = questions

    def _call(self, asked: Sequence[tuple[K, Q]]) -> Sequence[float]:
        self._busy.add(get_ident())
        try:
            return self.ask(asked)
        finally:
            self._busy.discard(get_ident())

    def _take(self) -> list[tuple[_Turn[K, Q, T], int]]:
        """Return the questions of the next call."""
        while self._retry:
            if questions := [one for one in self._retry.popleft() if not one[0].over]:
                return questions
        most = self.fill()
        questions = []
        while self._pending and len(questions) < most:
            one = self._pending.popleft()
            if not one[0].over:
                questions.append(one)
        return questions

    def _receive(self, call: Future[Sequence[float]]) -> Iterator[tuple[K, T | FlipsetError]]:
        """Hand out the answers of a call."""
        questions = self._calls.pop(call)
        turns = list(dict.fromkeys(turn for turn, _ in questions))
        try:
            answers = call.result()
        except (OracleError, InputError) as error:  # a row that the model fails on, or that cannot be put to it
            if len(turns) == 1:
                if not turns[0].over:
                    yield from self._end(turns[0], error)
                return
            half = set(turns[: len(turns) // 2])
            self._retry.append([one for one in questions if one[0] in half])
            self._retry.append([one for one in questions if one[0] not in half])
            return
        except BudgetExhausted as error:
            for turn in turns:
                if not turn.over:
                    yield from self._end(turn, error)
            return
        for (turn, i), answer in zip(questions, answers, strict=True):
            turn.answers[i] = answer
            turn.missing -= 1
        for turn in turns:
            if not turn.missing and not turn.over:
                yield from self._end(turn, [answer for answer in turn.answers if answer is not None])
