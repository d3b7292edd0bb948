"""Calls of a model that may not return: made in threads, and left behind when their time is over.

Python cannot end a thread. So a call that takes too long is abandoned: nobody waits for it any more, and its thread is
a daemon, which does not keep the program from ending. The model is still inside that call, and may not bear another one
beside it, so no further calls are made: each ends in the same error at once. Only calls that can be cancelled, which
are coroutines, leave the model usable.

Without a limit of time, calls are made without any of this: a thread costs time, and some models are bound to theirs.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from concurrent.futures import Future, wait
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from flipset.errors import NotReturned

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from typing import Self

    _Work = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]

Q = TypeVar("Q")
R = TypeVar("R")

GRACE = 2.0
"""Seconds beyond its limit that a call may take before it is abandoned. Most calls that overrun a limit return soon,
and abandoning one costs its answers and a thread."""


LONGEST = 1e6
"""Seconds beyond which a limit is none: locks cannot wait much longer than that."""


@contextmanager
def within(seconds: float | None, ask: Callable[[Q], R]) -> Iterator[Callable[[Q], R]]:
    """Yield `ask` as a function that gives up when `seconds` have passed since its first call; None for no limit.

    Examples
    --------
    >>> with within(60.0, len) as ask:
    ...     ask("abc")
    3
    """
    if seconds is None:
        yield ask
        return
    end: float | None = None
    with PatientCalls("flipset-call") as patient:

        def asked(batch: Q) -> R:
            nonlocal end
            now = time.monotonic()
            # The time begins with the first call: what comes before it is not the model's.
            end = now + seconds if end is None else end
            return patient.call(end - now, ask, batch)

        yield asked


def _patience(seconds: float) -> float | None:
    """Return how long to wait for a call that has this much time; None for ever."""
    return None if seconds > LONGEST else max(0.0, seconds) + GRACE


class CallThreads:
    """Daemon threads that make calls; as many as there are calls under way.

    Unlike an executor's, they do not keep the program from ending, and closing them waits for nothing.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._work: SimpleQueue[_Work | None] = SimpleQueue()
        # Counts threads that wait for work. Taking one from it is the promise that one of them will take the next item.
        self._idle = Semaphore(0)
        self._started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *given: object) -> None:
        for _ in range(self._started):  # a thread that is left behind finds its own when its call returns
            self._work.put(None)

    def submit(self, work: Callable[..., R], *given: Any) -> Future[R]:
        """Start a call in a thread; its result is the future's."""
        future: Future[R] = Future()
        # Put before a thread is started: whichever thread is free first takes it.
        self._work.put((future, work, given))
        if not self._idle.acquire(blocking=False):
            self._started += 1
            Thread(target=self._run, name=f"{self.name}-{self._started}", daemon=True).start()
        return future

    def _run(self) -> None:
        while (item := self._work.get()) is not None:
            _do(*item)
            del item  # the thread must not keep the last table alive while it waits
            self._idle.release()


def _do(future: Future[Any], work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work(*given)
    # Everything, an interrupt included: what is not in the future would be lost with this thread.
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


class PatientCalls:
    """Calls that are waited for only as long as there is time.

    Parameters
    ----------
    name
        The name of the threads.
    """

    def __init__(self, name: str) -> None:
        self._threads = CallThreads(name)
        self._stuck: NotReturned | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *given: object) -> None:
        self._threads.__exit__(*given)

    def call(self, seconds: float, work: Callable[..., R], *given: Any) -> R:
        """Make a call in a thread; return its result, or raise `NotReturned` when its time is over."""
        future = self._start(work, *given)
        if not wait([future], _patience(seconds)).done:
            raise self._abandon(seconds)
        return future.result()

    async def acall(self, seconds: float, work: Callable[..., R], *given: Any) -> R:
        """Do the same without blocking the event loop."""
        future = asyncio.wrap_future(self._start(work, *given))
        if not (await asyncio.wait([future], timeout=_patience(seconds)))[0]:
            raise self._abandon(seconds)
        return future.result()

    async def await_call(self, seconds: float, call: Awaitable[R]) -> R:
        """Await a call; cancel it and raise `NotReturned` when its time is over."""
        task = asyncio.ensure_future(call)
        try:
            await asyncio.wait([task], timeout=_patience(seconds))
            if task.done():
                return task.result()
        finally:
            # Does nothing after an ordinary end. Where this coroutine is cancelled, the call must not go on alone.
            task.cancel()
        # Not `_stuck`: a coroutine that is cancelled has left the model, which can be asked again.
        raise NotReturned(max(0.0, seconds))

    def _start(self, work: Callable[..., R], *given: Any) -> Future[R]:
        if self._stuck is not None:
            # A new error each time. The same object raised in several threads would collect their tracebacks.
            raise NotReturned(self._stuck.seconds)
        return self._threads.submit(work, *given)

    def _abandon(self, seconds: float) -> NotReturned:
        self._stuck = NotReturned(max(0.0, seconds))
        warnings.warn(str(self._stuck), RuntimeWarning, stacklevel=4)
        return self._stuck
