"""What one process holds of a journal: the open file, its claims, and which of its callers ask or wait for rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING

from flipset.journal.claims import Claims

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

    from flipset.journal.file import JournalFile


PAUSE = 0.05
"""Seconds between two looks at rows that another process is scoring."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A step of `Journal._answering`: wait a little, because another process is scoring the rows."""

    seconds: float = PAUSE


class ProcessState:
    """What one process holds of a journal. A child that was forked off starts with a new one.

    Attributes
    ----------
    lock
        One thread at a time uses the file. The lock is reentrant, because the garbage collector may close a generator
        of `_answering` in any thread, even in one that holds the lock, and the generator then gives up its rows.
    asking
        Rows that are being scored for some caller in this process.
    waiting
        Futures of callers that wait for such rows.
    given_up
        Rows whose claims in the file are still to be deleted.
    unwritten
        Answers that could not be written. They are paid for, so they are kept for the next attempt.
    """

    def __init__(self, path: Path) -> None:
        self.pid = os.getpid()
        self.lock = RLock()
        self.file: JournalFile | None = None
        self.claims = Claims(path)
        self.asking: set[str] = set()
        self.waiting: list[Future[None]] = []
        self.given_up: list[str] = []
        self.unwritten: dict[str, tuple[str, float, int]] = {}

    def close(self) -> None:
        """Close the file, and void all claims."""
        if self.pid != os.getpid():  # SQLite connections must not be used across a fork
            return
        with self.lock:
            file, self.file = self.file, None
            self.claims.abandon()
            if file is not None:
                file.close()
