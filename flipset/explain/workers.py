"""Work in other processes. Each process has its own copy of the model and takes one piece of work after another.

The work is sent as a pickle that this program made itself; no pickle is read from a file.
"""

from __future__ import annotations

import pickle
import signal
from typing import TYPE_CHECKING, Any, TypeVar

from flipset.errors import InputError, WorkerLost
from flipset.explain.threads import keep_process_on_one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

P = TypeVar("P")
R = TypeVar("R")

_work: Callable[[Any], Any] | None = None  # in a worker: what it does with a piece


def in_processes(work: Callable[[P], R], pieces: Sequence[P], workers: int) -> Iterator[tuple[int, R]]:
    """Yield the number and the result of each piece, in the order in which they are done.

    If the caller is interrupted or stops early, pieces not yet begun are dropped, and those under way are finished.
    """
    from concurrent.futures import Future, ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    try:
        parcel = pickle.dumps(work)
    except Exception as error:
        raise InputError(
            f"workers={workers} needs a model that can be sent to other processes, and this one cannot: {error}. "
            "Define functions at the top of a module instead of lambda or inside a function, or use workers=1"
        ) from error
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(parcel,))
    try:
        futures: dict[Future[R], int] = {pool.submit(_do, piece): i for i, piece in enumerate(pieces)}
        for done in as_completed(futures):
            yield futures[done], done.result()
    except BrokenProcessPool:
        raise WorkerLost(
            "a worker process died: it ran out of memory, was killed, or could not start. A script that uses workers "
            'must do its work under `if __name__ == "__main__":`'
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(parcel: bytes) -> None:
    """Prepare a worker."""
    # An interrupt goes to every process of the terminal; only the parent acts on it. And the workers share the cores,
    # so each of them keeps to one thread.
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _work = pickle.loads(parcel)
    keep_process_on_one_thread()


def _do(piece: Any) -> Any:
    assert _work is not None, "a worker begins before it works"
    return _work(piece)
