"""Work for clients: so much at a time, and none for those who are gone."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from flipset.explain.threads import keep_thread_on_one_thread
from flipset.serve.calls import Gate, Gone

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from flipset.explainer import Explainer

T = TypeVar("T")

WORKERS = 4
"""Requests that are worked on at a time; the model itself is asked by one at a time."""

WAITING = 256
"""Requests that may wait for that; more are told to come back."""

LOOK_EVERY = 0.05
"""Seconds between two looks at whether a client is still there."""


class Busy(Exception):
    """Too many requests wait."""


class Left(Exception):
    """The client has gone."""


class Desk:
    """Work for clients: so much at a time, and none for those who are gone."""

    def __init__(self, explainer: Explainer, gate: Gate) -> None:
        self.explainer = explainer
        self.gate = gate
        # Small batches are answered sooner by one thread of the model's than by many, which each thread has to be told.
        self._pool = ThreadPoolExecutor(
            WORKERS, thread_name_prefix="flipset-desk", initializer=keep_thread_on_one_thread
        )
        self._waiting = 0

    async def do(self, request: Request, work: Callable[[Explainer], T]) -> T:
        """Do something with the explainer in a thread; stop asking the model when the client has gone."""
        return await self.do_until(request, lambda explainer, _: work(explainer))

    async def do_until(self, request: Request, work: Callable[[Explainer, Callable[[], bool]], T]) -> T:
        """Do something that asks now and then, by the function it is given, whether the client has gone."""
        if self._waiting >= WAITING:
            raise Busy
        gone = Event()
        explainer = self.explainer.through(lambda predict: self.gate.for_person(predict, gone.is_set))

        def attended() -> T:
            if gone.is_set():
                raise Gone
            with self.gate.person():
                return work(explainer, lambda: gone.is_set() or self.gate.is_closed)

        self._waiting += 1
        future = asyncio.wrap_future(self._pool.submit(attended))
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
        """Take nothing more."""
        self._pool.shutdown(wait=True, cancel_futures=True)
