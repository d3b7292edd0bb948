"""Work for clients: a limited number of requests at a time, each ended when its client disconnects."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from flipset.explain.threads import keep_thread_on_one_thread
from flipset.serve.calls import Gone, ModelAccess

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from flipset.explainer import Explainer

T = TypeVar("T")

WORKERS = 4
"""Requests that are worked on at a time; `ModelAccess` limits the calls of the model further."""

WAITING = 256
"""Requests that may wait; further ones are asked to try again later."""

LOOK_EVERY = 0.05
"""Seconds between two checks whether a client is still connected."""


class Busy(Exception):
    """Too many requests are waiting."""


class Left(Exception):
    """The client has disconnected."""


class Workers:
    """Threads that work on the requests of clients."""

    def __init__(self, explainer: Explainer, model: ModelAccess) -> None:
        self.explainer = explainer
        self.model = model
        # Small batches are faster on one thread of the model than on many. The setting is per thread.
        self._pool = ThreadPoolExecutor(
            WORKERS, thread_name_prefix="flipset-requests", initializer=keep_thread_on_one_thread
        )
        self._waiting = 0

    async def do(self, request: Request, work: Callable[[Explainer], T]) -> T:
        """Run `work` in a thread; its calls of the model end when the client disconnects."""
        return await self.do_until(request, lambda explainer, _: work(explainer))

    async def do_until(self, request: Request, work: Callable[[Explainer, Callable[[], bool]], T]) -> T:
        """Run `work`, which also gets a function that returns whether to stop."""
        if self._waiting >= WAITING:
            raise Busy
        gone = Event()
        explainer = self.explainer.through(lambda predict: self.model.for_client(predict, gone.is_set))

        def run() -> T:
            if gone.is_set():
                raise Gone
            with self.model.client():
                return work(explainer, lambda: gone.is_set() or self.model.is_closed)

        self._waiting += 1
        future = asyncio.wrap_future(self._pool.submit(run))
        try:
            while True:
                await asyncio.wait([future], timeout=LOOK_EVERY)
                if future.done():
                    return future.result()
                if not gone.is_set() and await request.is_disconnected():
                    gone.set()
        except Gone:
            raise Left from None
        except asyncio.CancelledError:
            gone.set()
            raise
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Cancel waiting requests, and wait for the running ones."""
        self._pool.shutdown(wait=True, cancel_futures=True)
