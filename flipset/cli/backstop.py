"""A process that ends a command whose threads cannot run any more.

A model may call code in C that keeps Python's lock and does not return. Then no thread of the command can act on a
signal. Python's handler in C still writes the signal's number to a socket (`signals.py`), from which a thread of the
command would read it. This process shares the reading end and only looks at it. If a number stays unread for too long,
or a second one arrives, no thread is running, and the command is killed. When the command is gone, so is its end of
the socket, and this process ends, too.

A command may also end by itself and leave a number unread, because its threads stop before it does. What is unread then
says nothing, and the command's number may already belong to another process. So the command is killed only while it is
still the parent of this process.

The file is run as a script, without flipset and its dependencies, so it needs the standard library alone.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

MOMENT = 0.1
"""Seconds between two looks at what is unread."""

AT_ONCE = 1.0
"""Seconds after which two unread numbers mean that no thread runs; on a machine with much to do, threads wait longer
than a moment for their turn."""

WORDS = (
    "flipset: killed, because the model did not return and kept Python from running anything else; its call was "
    "abandoned. Rows of a table that were finished are in its .part file: continue with --resume\n"
)


def start_backstop(receiver: socket.socket, seconds: float) -> subprocess.Popen[bytes] | None:
    """Start the process for this command; return None where that is not possible."""
    if os.name != "posix":
        return None
    import subprocess
    from multiprocessing.spawn import get_executable

    # The interpreter that workers are started with, which a program that embeds Python may have set.
    python = os.fsdecode(get_executable() or sys.executable)
    arguments = map(str, (receiver.fileno(), os.getpid(), seconds))
    try:
        return subprocess.Popen(
            # -I and -S: neither the environment nor site-packages can run code in this process, or slow its start.
            [python, "-I", "-S", os.path.abspath(__file__), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(receiver.fileno(),),
            start_new_session=True,  # signals from the terminal are for the command alone
        )
    except OSError:
        return None


def watch(receiver: socket.socket, seconds: float, is_there: Callable[[], bool], kill: Callable[[], None]) -> None:
    """Call `kill` if a signal stays unread for `seconds`, or a second one arrives; return when the command is gone."""
    while True:
        # Without a limit of time: in a command without signals, this process never wakes up.
        select.select([receiver], [], [])
        waited = 0.0
        # A number that was read in time ends this loop with 0, and the wait for the next signal begins again. The
        # second of two numbers is given only a moment: whoever sends it wants an end at once.
        while (unread := count_unread(receiver)) and is_there() and waited < (seconds if unread < 2 else AT_ONCE):
            time.sleep(MOMENT)
            waited += MOMENT
        if unread and is_there():
            kill()
        if unread or unread is None:
            return


def count_unread(receiver: socket.socket) -> int | None:
    """Return how many signals are unread, up to 2; None if the command is gone."""
    try:
        # Peeked at, not taken: the thread of the command must still find it. Nothing at all is the end of the stream.
        return len(receiver.recv(2, socket.MSG_PEEK | socket.MSG_DONTWAIT)) or None
    except BlockingIOError:
        return 0


def main(descriptor: int, command: int, seconds: float) -> None:
    """Watch a command, given by the descriptor of its socket and its number."""

    def kill() -> None:
        # SIGKILL leaves the command no way to say anything, so this process says it, on the same terminal.
        os.write(2, WORDS.encode())
        os.kill(command, signal.SIGKILL)

    with socket.socket(fileno=descriptor) as receiver:
        # When a process ends, its children get another parent at once, also while its exit code is not yet read.
        watch(receiver, seconds, lambda: os.getppid() == command, kill)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
