"""Work for clients: in threads, in a queue for each kind of work, and ended when its client disconnects.

Nothing that takes time in proportion to a request runs on the event loop: bodies are parsed, work is done and answers
are written in threads. Each kind of work has its own threads, so a what-if never waits behind tables or checks, and its
own limit of waiting requests. A client that leaves frees its thread at the next call of the model, checkpoint of a
search or look of a check; these are milliseconds apart.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event, Lock
from typing import TYPE_CHECKING, TypeVar

from flipset.explain.threads import keep_thread_on_one_thread
from flipset.serve.calls import Gone, ModelAccess, Rank

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from starlette.requests import Request

    from flipset.explainer import Explainer

T = TypeVar("T")

LOOK_EVERY = 0.05
"""Seconds between two checks whether a client is still connected."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of work: the rank of its calls, its threads, and how many requests may wait for them."""

    name: str
    rank: Rank
    threads: int
    waiting: int


ROW = Kind("row", Rank.ROW, threads=4, waiting=256)
CHECK = Kind("check", Rank.CHECK, threads=2, waiting=32)
TABLE = Kind("table", Rank.TABLE, threads=2, waiting=8)
VIEW = Kind("view", Rank.BACKGROUND, threads=2, waiting=256)
"""What is known about the table: selected, sorted and summed up, without calls of the model."""

KINDS = (ROW, CHECK, TABLE, VIEW)


class Busy(Exception):
    """Too many requests of this kind are waiting."""


class Left(Exception):
    """The client has disconnected."""


class Workers:
    """Threads that work on the requests of clients."""

    def __init__(self, explainer: Explainer, model: ModelAccess) -> None:
        self.explainer = explainer
        self.model = model
        self._lock = Lock()
        self._taken = dict.fromkeys(KINDS, 0)  # requests that wait or are worked on
        # Small batches are faster on one thread of the model than on many. The setting is per thread.
        self._pools = {
            kind: ThreadPoolExecutor(
                kind.threads, thread_name_prefix=f"flipset-{kind.name}", initializer=keep_thread_on_one_thread
            )
            for kind in KINDS
        }

    async def do(self, kind: Kind, request: Request, work: Callable[[Explainer, Callable[[], bool]], T]) -> T:
        """Run `work` in a thread; it gets an explainer, and a function that returns whether to stop."""
        gone = Event()
        future = self._submit(kind, gone, work)
        waited = asyncio.wrap_future(future)
        try:
            while not waited.done():
                await asyncio.wait([waited], timeout=LOOK_EVERY)
                if not waited.done() and await request.is_disconnected():
                    raise Left
            return waited.result()
        except Gone:
            raise Left from None
        finally:
            # For a client that has left; work that has ended is not affected. The thread ends by itself.
            gone.set()
            future.cancel()
            waited.cancel()
            self.model.wake()

    def _submit(self, kind: Kind, gone: Event, work: Callable[[Explainer, Callable[[], bool]], T]) -> Future[T]:
        with self._lock:
            # Refused at once, while there is still memory: a queue without a limit grows with every impatient click.
            if self._taken[kind] >= kind.threads + kind.waiting:
                raise Busy
            self._taken[kind] += 1

        def stop() -> bool:
            return gone.is_set() or self.model.is_closed

        def look() -> None:
            if stop():
                raise Gone

        explainer = self.explainer.through(lambda predict: self.model.for_work(predict, kind.rank, gone.is_set), look)

        def run() -> T:
            # The client may have left while this waited for a thread.
            look()
            with self.model.working(kind.rank):
                return work(explainer, stop)

        future = self._pools[kind].submit(run)
        # Not in `run`, which a cancelled request never reaches.
        future.add_done_callback(lambda _: self._give_back(kind))
        return future

    def _give_back(self, kind: Kind) -> None:
        with self._lock:
            self._taken[kind] -= 1

    def close(self) -> None:
        """Cancel waiting requests, and wait for the running ones."""
        for pool in self._pools.values():
            pool.shutdown(wait=True, cancel_futures=True)
