"""Work in other processes. Each process has its own copy of the model and takes one piece of work after another.

The work is sent as a pickle that this program made itself; no pickle is read from a file. Processes are started by
"spawn", as new interpreters. A fork would copy locks that other threads hold, and the copy would wait for them forever.

Invariants:

- No worker outlives the program, however that ends and whatever the worker does (`flipset.boundary.processes`).
- When the iterator ends, by its end, an error or because it is closed, all workers are gone. A worker that is still at
  work is killed: nobody waits for its result.
- A worker that dies is one error that says how it ended and what it was doing.
"""

from __future__ import annotations

import pickle
import signal
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from flipset.boundary.processes import end_with_the_program, words_for_end
from flipset.errors import InputError, WorkerLost
from flipset.explain.threads import keep_process_on_one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

P = TypeVar("P")
R = TypeVar("R")

PATIENCE = 5.0
"""Seconds to wait for the exit code of a worker that has closed its pipe; it comes a moment later."""


@dataclass(slots=True, eq=False)
class _Worker:
    """A process, the pipe to it, and the number of the piece that it is working on."""

    process: SpawnProcess
    pipe: Connection[Any, Any]
    piece: int = -1  # the work itself comes before the first piece
    begun: bool = False  # it has read the work, and is ready for pieces

    def give(self, piece: int, given: Any) -> None:
        """Send a piece to the worker."""
        self.piece = piece
        try:
            self.pipe.send(given)
        except ConnectionError:
            raise self._lost() from None

    def take(self) -> Any:
        """Return the result that the worker sent, or raise the error."""
        try:
            warned = self.pipe.recv()
            result, error = self.pipe.recv()
        except (EOFError, ConnectionError):
            raise self._lost() from None
        for text in warned:
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        if error is not None:
            raise error
        self.begun = True
        return result

    def _lost(self) -> WorkerLost:
        """Return the error for a worker that has died."""
        self.process.join(PATIENCE)
        code = self.process.exitcode
        how = "its pipe was closed" if code is None else words_for_end(code)
        if self.begun:
            return WorkerLost(f"a worker process died while it explained rows ({how})")
        return WorkerLost(
            f"a worker process could not start ({how}). A script that uses workers must do its work under "
            '`if __name__ == "__main__":`'
        )


def in_processes(work: Callable[[P], R], pieces: Sequence[P], workers: int) -> Iterator[tuple[int, R]]:
    """Yield the number and the result of each piece, in the order in which they are done.

    If the caller is interrupted or stops early, the pieces that are not done are dropped, and the workers are killed.
    """
    from multiprocessing import get_context

    try:
        # Once for all workers, and before any is started: a model that cannot be sent is refused at once.
        parcel = pickle.dumps(work)
    except Exception as error:
        raise InputError(
            f"workers={workers} needs a model that can be sent to other processes, and so must functions of derived "
            f"columns be; this cannot: {error}. Define functions at the top of a module instead of lambda or inside a "
            "function, or use workers=1"
        ) from error
    started: list[_Worker] = []
    try:
        context = get_context("spawn")
        for _ in range(min(workers, len(pieces))):
            here, there = context.Pipe()
            process = context.Process(target=_run, args=(there,), name="flipset-worker")
            started.append(_Worker(process, here))
            with there:  # the worker has its own copy: if it dies, the pipe is closed
                process.start()
        yield from _exchange(started, parcel, pieces)
    finally:
        for worker in started:
            _end(worker)


def _exchange(started: list[_Worker], parcel: bytes, pieces: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Give each worker the work and then pieces, one after another; yield the results."""
    from multiprocessing.connection import wait

    for worker in started:
        worker.give(-1, parcel)
    todo = iter(enumerate(pieces))
    busy = {worker.pipe: worker for worker in started}
    while busy:
        # Whichever is ready. The order of results does not matter: each is that of a numbered piece.
        for pipe in wait(list(busy)):
            worker = busy[pipe]  # type: ignore[index]  # these are the connections that were given
            done, result = worker.piece, worker.take()
            if (following := next(todo, None)) is None:
                del busy[worker.pipe]
            else:
                worker.give(*following)
            if done >= 0:  # else it has only read the work
                yield done, result


def _end(worker: _Worker) -> None:
    """Kill a worker and close everything that belongs to it."""
    worker.pipe.close()
    if worker.process.pid is not None:  # else it was never started
        worker.process.kill()
        worker.process.join()
        worker.process.close()


# --- in a worker ------------------------------------------------------------------------------------------------------


def _run(pipe: Connection[Any, Any]) -> None:
    """Read the work, and do one piece after another until there is no more."""
    from multiprocessing import parent_process

    parent = parent_process()
    assert parent is not None, "it runs in a process of its own"
    # An interrupt goes to every process of the terminal; only the parent acts on it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The sentinel is the reading end of a pipe whose other end the parent keeps open as long as it lives.
    end_with_the_program(parent.sentinel, parent.join)
    try:
        work = _answer(pipe, _read_work)
        keep_process_on_one_thread()  # the workers share the cores
        while work is not None:
            _answer(pipe, work)
    except (EOFError, ConnectionError):
        return  # the parent needs no more


def _answer(pipe: Connection[Any, Any], work: Callable[[Any], Any]) -> Any:
    """Do the next piece of work and send its result or its error; return the result."""
    given = pipe.recv()
    # The program shows the warnings of its workers as it shows its own.
    with warnings.catch_warnings(record=True) as noted:
        try:
            result = work(given)
            # Pickled here and not by `send`, so that a result that cannot be pickled is reported as an error of this
            # piece.
            reply = pickle.dumps((None if work is _read_work else result, None))
        except Exception as error:
            result, reply = None, pickle.dumps((None, _portable(error)))
    pipe.send([str(one.message) for one in noted])
    pipe.send_bytes(reply)
    return result


def _read_work(parcel: bytes) -> Any:
    try:
        return pickle.loads(parcel)
    except Exception as error:
        raise InputError(
            f"a worker process cannot read the model: {error}. Define its functions in a module that can be imported, "
            "or use workers=1"
        ) from None


def _portable(error: Exception) -> Exception:
    """Return an error that the parent can read: this one, or one with its words."""
    try:
        # Both ways, since many errors of libraries can be pickled but not read again.
        pickle.loads(pickle.dumps(error))
    except Exception:
        return WorkerLost(f"a worker process failed: {type(error).__name__}: {error}")
    return error
