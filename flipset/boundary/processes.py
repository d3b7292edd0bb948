"""Processes of flipset's own end with the program that started them, and their end is put into words.

A process that the program starts holds the reading end of a pipe on which nothing more is sent. The program holds the
other end. When the program is gone, however it ended, the kernel closes that end and sends SIGIO, whose default action
ends the process: also in the middle of a computation that never returns to Python. Where pipes cannot do this, as on
Windows, a thread waits for the end of the pipe.

Objects that have locks register here for a copy of the process made by `fork`. Threads are not copied, so a lock that
another thread held would never be released in the copy.
"""

from __future__ import annotations

import os
import signal
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Callable


def end_with_the_program(life: int | None, wait_for_end: Callable[[], Any] | None = None) -> None:
    """Let the kernel end this process when the program is gone, even in the middle of a computation.

    `life` is the reading end of a pipe that the program holds. (A signal at the death of the parent, PR_SET_PDEATHSIG,
    comes already when the thread ends that started this process.) Without such pipes, a thread calls `wait_for_end`,
    which returns when the program is gone; without that, the process notices at its next read.
    """
    if life is None or not hasattr(os, "O_ASYNC"):
        if wait_for_end is not None:
            Thread(target=_end_after, args=(wait_for_end,), name="flipset-life", daemon=True).start()
        return
    import fcntl
    import select

    # What the program ignores or blocks, a process that it starts would ignore or block, too.
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGIO})
    # Whom the kernel is to signal: without an owner, SIGIO is sent to nobody.
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    # The signal is sent when the pipe is closed. If the program was gone before, there is none.
    if select.select([life], [], [], 0)[0]:
        os._exit(1)


def _end_after(wait_for_end: Callable[[], Any]) -> None:
    wait_for_end()
    os._exit(1)


def words_for_end(code: int) -> str:
    """Return how a process ended, by its exit code as Python reports it: negative for a signal.

    Examples
    --------
    >>> words_for_end(3)
    'exit code 3'
    >>> words_for_end(-11)
    'SIGSEGV'
    """
    if code >= 0:
        return f"exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"{name}, which is also what happens when memory runs out" if name == "SIGKILL" else name


class Renewable(Protocol):
    """An object that can be made usable in a copy of the process."""

    def renew(self) -> None:
        """Replace locks that another thread may have held, and forget what other threads were doing."""


# Weak, so that being registered keeps no journal and no endpoint alive.
_renewable: WeakSet[Any] = WeakSet()


def renew_after_fork(owner: Renewable) -> None:
    """Call `owner.renew()` in every copy of this process that `fork` makes while the owner exists."""
    _renewable.add(owner)


def _renew_all() -> None:
    for owner in list(_renewable):
        owner.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
