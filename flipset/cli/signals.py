"""Signals to a command: it ends in order if it can, and in any case.

Every command runs inside `ending_on_signals`. The first signal raises an exception in the main thread: an interrupt
from the keyboard `KeyboardInterrupt`, a request to end `Terminated`, which is one. So a command that is terminated
leaves what an interrupted one leaves: complete files or none, and the finished rows of a table.

The main thread may be inside a model that never returns to Python, or that swallows exceptions. A second thread sees
every signal by itself, because Python's own handler, in C, writes its number to a socket. That thread ends the process

- at the second signal, at once;
- `SECONDS` after a request to end;
- `SECONDS` after an interrupt, if the main thread has not noticed it by then. If it has, it may take its time to report
  what is proved so far.

Ending the process this way abandons the model's call; the message says so. Only a model that never lets another thread
run (a call in C that keeps Python's lock) holds up this thread, too. That is what `backstop` is for.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from flipset.cli.backstop import start_backstop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS = 1.5
"""How long a command may take to end in order. Forcing its end takes a moment more, and 2 seconds are promised."""

REQUESTS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a process to end. SIGHUP says that its terminal is gone."""


CLOSED = 0  # no signal has this number


class Terminated(KeyboardInterrupt):
    """Another process asked this one to end. What handles an interrupt from the keyboard handles this."""


@dataclass(slots=True)
class Ending:
    """What is known about the end of the command that runs.

    Attributes
    ----------
    signal_number
        The first signal; None if there was none.
    noticed
        Set when the main thread has been told.
    was_diverted
        Whether `divert` was called: an interrupt is then the usual way to end the command.
    divert
        Called in the main thread with the number of the signal, instead of raising an exception there.
    finished
        Returns what a forced end leaves behind, as a sentence for the user.
    """

    signal_number: int | None = None
    noticed: threading.Event = field(default_factory=threading.Event)
    was_diverted: bool = False
    divert: Callable[[int], None] | None = None
    finished: Callable[[], str] = field(default=str)
    sender: socket.socket | None = None  # kept open until the process has ended, so that the thread goes on

    def exit_code(self) -> int | None:
        """Return the exit code of a command that was ended by a signal; None if it was not."""
        if self.signal_number is None or (self.was_diverted and not self.was_asked):
            return None
        return 128 + int(self.signal_number)

    @property
    def was_asked(self) -> bool:
        """Whether another process asked the command to end, rather than its user by an interrupt."""
        return self.signal_number in REQUESTS

    def handle(self, number: int, _: Any) -> None:
        """Handle a signal in the main thread."""
        self.signal_number = self.signal_number or number
        self.noticed.set()
        if self.divert is not None:
            self.was_diverted = True
            self.divert(number)
        elif number in REQUESTS:
            raise Terminated
        else:
            raise KeyboardInterrupt


_ending = Ending()  # of the command that runs; there is one in a process


@contextmanager
def ending_on_signals() -> Iterator[Ending]:
    """Handle signals inside a `with` block; afterwards as before, unless there was one, because then the process ends.

    In a thread that is not the main thread nothing is changed: it receives no signals.
    """
    global _ending
    _ending = ending = Ending()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    # A signal that is ignored, as in a job in the background of a shell, stays ignored.
    wanted = [one for one in (signal.SIGINT, *REQUESTS) if signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, ending.handle) for one in wanted}
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    fd_before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(receiver, ending), name="flipset-signals", daemon=True).start()
    backstop = start_backstop(receiver, SECONDS)
    try:
        yield ending
    finally:
        if ending.signal_number is None:
            signal.set_wakeup_fd(fd_before)
            for one, handler in before.items():
                signal.signal(one, handler)
            sender.close()  # ends the thread
            if backstop is not None:
                backstop.kill()
                backstop.wait()
        else:
            ending.sender = sender
            if backstop is not None:
                backstop.returncode = 0  # it ends after this process, so nobody waits for it


@contextmanager
def diverting(handle: Callable[[int], None]) -> Iterator[None]:
    """Inside a `with` block, the first signal calls `handle` with its number instead of raising an exception."""
    _ending.divert = handle
    try:
        yield
    finally:
        _ending.divert = None


@contextmanager
def keeping(finished: Callable[[], str]) -> Iterator[None]:
    """Inside a `with` block, a forced end also says what `finished` returns."""
    _ending.finished = finished
    try:
        yield
    finally:
        _ending.finished = str


# --- the thread that sees every signal --------------------------------------------------------------------------------


def _watch(receiver: socket.socket, ending: Ending) -> None:
    """Wait for signals, and end the process where it does not end by itself."""
    with receiver:
        first = _next(receiver, None)
        if not first:
            return
        ending.signal_number = first
        second = _next(receiver, SECONDS)
        if second is None and first == signal.SIGINT and ending.noticed.is_set() and ending.divert is None:
            with suppress(OSError):
                os.write(2, b"flipset: interrupted, and ending; press Ctrl-C again to exit at once\n")
            second = _next(receiver, None)
        if second != CLOSED:
            _exit(second or first, ending)


def _next(receiver: socket.socket, seconds: float | None) -> int | None:
    """Return the next signal; None if there is none within `seconds`, and `CLOSED` if there will be no more."""
    # First wait, then read: a read that waits takes the number without Python's lock, and `backstop` relies on a number
    # staying unread where this thread cannot go on.
    if not select.select([receiver], [], [], seconds)[0]:
        return None
    return next(iter(receiver.recv(1)), CLOSED)


def _exit(number: int, ending: Ending) -> NoReturn:
    """End the process now, without waiting for any thread."""
    words = "terminated" if number in REQUESTS else "interrupted"
    text = f"flipset: {words}; what was under way did not return, such as a call of the model, and was abandoned."
    with suppress(Exception):  # nothing may keep the process from its end
        os.write(2, f"{text} {ending.finished()}".rstrip().encode() + b"\n")
    os._exit(128 + number)
