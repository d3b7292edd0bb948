"""From code that blocks to code that awaits: an event loop in a thread of its own.

`LoopThread.submit` starts a coroutine there and returns a `concurrent.futures.Future`, which can be waited for,
awaited in another loop, given to `run_many`, or cancelled; cancelling the future cancels the coroutine. Everything in
flipset that must wait for a coroutine without being one goes through here.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError
from threading import Thread, current_thread
from typing import TYPE_CHECKING, Any, TypeVar

from flipset.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future
    from typing import Self

T = TypeVar("T")


class LoopThread:
    """A thread that runs an event loop until it is closed.

    The thread is a daemon: a program ends without waiting for it. It does not survive a fork: a child process needs a
    new one.

    Examples
    --------
    >>> async def double(number):
    ...     return 2 * number
    >>> with LoopThread("example") as thread:
    ...     result_of(thread.submit(double(21)))
    42
    """

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine in the loop, from any thread; its result is the future's."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def close(self, last: Callable[[], Coroutine[Any, Any, Any]] | None = None) -> None:
        """Cancel all coroutines, run `last`, and end the thread; nothing may be submitted any more.

        May be called in the thread itself, as the garbage collector does: then it returns before the thread has ended.
        """
        # In the loop itself, because only there may tasks be cancelled.
        ending = asyncio.run_coroutine_threadsafe(self._end(last), self.loop)
        if current_thread() is self._thread:
            return
        try:
            ending.result()
        finally:
            self._thread.join()

    def _run(self) -> None:
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    async def _end(self, last: Callable[[], Coroutine[Any, Any, Any]] | None) -> None:
        try:
            tasks = [task for task in asyncio.all_tasks(self.loop) if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)  # whoever waits for them is told
            if last is not None:
                await last()
        finally:
            # Not at once: the futures of these coroutines are set by callbacks that the loop has yet to run.
            self.loop.call_soon(self.loop.stop)


def result_of(future: Future[T]) -> T:
    """Wait for the result of a coroutine; cancel it where the wait is interrupted.

    Raises
    ------
    Interrupted
        When somebody else cancelled the coroutine, as by closing the loop.
    """
    try:
        return future.result()
    except CancelledError:
        raise Interrupted() from None
    except BaseException:
        # An interrupt, or another exception of this thread: nobody will look at the result any more.
        future.cancel()
        raise


async def awaited(future: Future[T]) -> T:
    """Await the same in another loop; cancelling the awaiting task cancels the coroutine."""
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        # Two cases look alike here: this task was cancelled, or the coroutine was, by whoever closed its loop.
        if task is not None and task.cancelling():
            raise
        raise Interrupted() from None
