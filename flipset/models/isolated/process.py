"""The process that runs a model, seen from the program: started, asked, ended, and its end put into words.

It is a new interpreter, not a fork: it shares no memory, lock or thread with the program. It ends with the program,
however that ends. While it waits, it sees that the pipe of requests is closed. While it computes, the kernel ends it,
because a second pipe, on which nothing is ever sent, is closed (`processes.end_with_the_program`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from multiprocessing.spawn import get_executable
from threading import Event, Timer
from typing import IO, Any

from flipset.boundary.processes import words_for_end
from flipset.models.isolated.frames import Gone, read_reply, write_request

START = (
    "import json, sys; start = json.loads(sys.argv[1]); sys.path[:] = start['path']; "
    "from flipset.models.isolated.child import main; main(start)"
)

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Calls have few rows, for which waking a second thread takes longer than scoring them."""

PATIENCE = 5.0
"""Seconds to wait for the exit code of a process that has closed its pipes; it comes a moment later."""

LAST_WORDS = 2_000
"""How many bytes at the end of what the process printed are looked at when it has died."""

SHOWN = 200
"""The most characters of them that a message repeats."""


class ModelProcess:
    """A process that runs a model.

    Attributes
    ----------
    started_by
        The number of the process that started it: after a fork, the copy of this object must not be used.
    """

    def __init__(self, memory: int | None = None) -> None:
        self.started_by = os.getpid()
        self._printed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `end`
        self._life: int | None = None
        life = None
        how: dict[str, Any] = {}
        if os.name == "posix":
            life, self._life = os.pipe()
            # A session of its own: an interrupt from the keyboard is for the program alone, which ends the process.
            how = {"pass_fds": (life,), "start_new_session": True}
        start = json.dumps({"path": [os.path.abspath(part) for part in sys.path], "memory": memory, "life": life})
        try:
            # -P: the current folder is searched for modules only if the program searches it, too.
            self._process = subprocess.Popen(
                [os.fsdecode(get_executable() or sys.executable), "-P", "-c", START, start],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._printed,
                env={**os.environ, **ONE_THREAD},
                **how,
            )
        except BaseException:
            self._close([self._printed])
            raise
        finally:
            # The process has its own copy. The writing end stays open here as long as the program lives.
            if life is not None:
                os.close(life)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(self, request: Any, most: int, seconds: float | None = None) -> tuple[dict[str, Any], bytes]:
        """Return the reply to a request, which has at most `most` bytes beside its text.

        After any error the process must be ended, because the rest of a reply may still be on its way.

        Raises
        ------
        TimeoutError
            There was no reply within `seconds`, and the process was killed.
        Gone
            The process has died.
        Broken
            The process sent something that is no reply.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        late = Event()

        def kill() -> None:
            late.set()
            self._process.kill()

        timer = None if seconds is None else Timer(seconds, kill)
        try:
            if timer is not None:
                timer.daemon = True
                timer.start()
            write_request(self._process.stdin, request)
            return read_reply(self._process.stdout, most)
        except (Gone, OSError):
            if late.is_set():
                raise TimeoutError from None
            raise Gone("the other side is gone") from None
        finally:
            if timer is not None:
                timer.cancel()

    def fate(self) -> str:
        """Return how a process that is gone ended, as text, and clean up after it."""
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
        words = words_for_end(self._process.wait()) + self._last_words()
        self.end()
        return words

    def end(self) -> None:
        """Kill the process, if it is still there, and close everything that belongs to it."""
        if self.started_by != os.getpid():  # a copy made by a fork: the process belongs to the original
            return
        self._process.kill()
        self._process.wait()
        self._close([self._process.stdin, self._process.stdout, self._printed])

    def _close(self, streams: list[IO[bytes] | None]) -> None:
        for stream in streams:
            if stream is not None:
                with suppress(OSError):  # what could not be sent is not sent
                    stream.close()
        if self._life is not None:
            os.close(self._life)
            self._life = None

    def _last_words(self) -> str:
        """Return the last line that the process printed, which is where libraries say why they give up."""
        with suppress(OSError, ValueError):
            size = self._printed.seek(0, os.SEEK_END)
            self._printed.seek(max(0, size - LAST_WORDS))
            text = self._printed.read().decode("utf-8", errors="replace")
            # The C++ runtime adds a line of its own to what the library printed.
            lines = [line.strip() for line in text.split("\n") if not line.startswith("terminate called")]
            if last := next(filter(None, reversed(lines)), ""):
                return f'; it last printed "{printable(last[:SHOWN])}"'
        return ""


def printable(text: str) -> str:
    """Return a text from outside without characters that a terminal might obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
