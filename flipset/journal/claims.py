"""Claims: which rows a process is scoring, so that no other process with the same journal scores them too.

A claim is a line in the journal: a row and its owner. An owner holds a lock on a small file beside the journal
(`answers.db-asking-...`) for as long as it lives. The operating system releases the lock when a process ends, however
it ends. So whether an owner is alive is found by trying its lock, and claims of the dead are taken over at once. Locks
are SQLite's own, which work on every system that it runs on.

Invariants:

- Claims are made and taken over only inside a write transaction of the journal, so one process at a time does it.
- An owner has its lock before its first claim can be seen, and is never used again after it gave its lock up.
- Nobody waits for a row while holding a claim, so processes cannot wait for each other in a circle. After `LEASE`
  seconds a claim does not count any more, in case its owner is alive but stopped.
"""

from __future__ import annotations

import secrets
import time
from contextlib import closing, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from flipset.journal.file import without_links

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

LEASE = 3600
"""Seconds after which a claim does not count any more. No call of a model should take as long."""

AT_A_TIME = 500
"""The most rows of one statement."""


class Claims:
    """The claims of one owner: a journal that one process has open."""

    def __init__(self, path: Path) -> None:
        self.path = without_links(path)  # owners that use other names of the file are found beside it
        self.owner: str | None = None  # None while there is no lock
        self.held: set[str] = set()  # rows that are claimed now
        self._lock: sqlite3.Connection | None = None

    def take(self, file: sqlite3.Connection, rows: Sequence[str]) -> list[str]:
        """Claim the rows that no living owner has claimed, and return them; inside a transaction of the file."""
        # The lock comes first: a claim whose owner has no lock yet would be taken for that of a dead process.
        if self.owner is None:
            self._begin(file)
        now = int(time.time())
        # Hashes, because rows may be long, and claims are written and deleted with every call.
        digests = {_digest(row): row for row in rows}
        claimed: dict[bytes, str] = {}
        for part in _parts(list(digests)):
            select = f"SELECT row, owner FROM claims WHERE row IN ({_marks(part)}) AND owner != ? AND at > ?"
            claimed |= file.execute(select, (*part, self.owner, now - LEASE)).fetchall()
        # Each owner is tried once, however many rows it has claimed: a try opens a file.
        dead = {owner for owner in set(claimed.values()) if self._bury(file, owner)}
        mine = [digest for digest in digests if claimed.get(digest) in (None, *dead)]
        lines = ((digest, self.owner, now) for digest in mine)
        file.executemany("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", lines)
        taken = [digests[digest] for digest in mine]
        self.held.update(taken)
        return taken

    def release(self, file: sqlite3.Connection, rows: Sequence[str]) -> None:
        """Give claims up; inside a transaction of the file."""
        for part in _parts([_digest(row) for row in rows]):
            file.execute(f"DELETE FROM claims WHERE row IN ({_marks(part)}) AND owner = ?", (*part, self.owner))
        self.held.difference_update(rows)

    def abandon(self) -> None:
        """Give all claims up without writing to the journal: an owner without a lock counts as dead."""
        # The owner goes with the lock. The next claim is made under a new name, for which no stale line can exist.
        lock, owner, self._lock, self.owner = self._lock, self.owner, None, None
        self.held.clear()
        if lock is not None and owner is not None:
            lock.close()
            self._file_of(owner).unlink(missing_ok=True)

    def _begin(self, file: sqlite3.Connection) -> None:
        """Become an owner, and clear away what owners that were killed have left."""
        for left in self.path.parent.glob(f"{self.path.name}-asking-*"):
            # The file of a living owner is locked, and stays.
            self._bury(file, left.name.rpartition("-")[2])
        owner = secrets.token_hex(8)
        lock = _connect(self._file_of(owner), "rwc")
        lock.execute("PRAGMA journal_mode=OFF")  # no second file beside it
        lock.execute("BEGIN EXCLUSIVE")
        self.owner, self._lock = owner, lock

    def _bury(self, file: sqlite3.Connection, owner: str) -> bool:
        """Say whether an owner is dead; its claims are deleted then."""
        if _is_locked(self._file_of(owner)):
            return False
        file.execute("DELETE FROM claims WHERE owner = ?", (owner,))
        with suppress(OSError):
            self._file_of(owner).unlink(missing_ok=True)
        return True

    def _file_of(self, owner: str) -> Path:
        return self.path.with_name(f"{self.path.name}-asking-{owner}")


def _is_locked(path: Path) -> bool:
    import sqlite3

    try:
        with closing(_connect(path, "ro")) as other:
            other.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError as error:
        # Any other error is one of a file that is not there, or not readable: nobody can be found to be alive by it.
        return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
    return False


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    import sqlite3

    address = f"{path.resolve().as_uri()}?mode={mode}"
    # No timeout: a lock that is held is the answer, not something to wait for.
    return sqlite3.connect(address, uri=True, timeout=0, isolation_level=None, check_same_thread=False)


def _digest(row: str) -> bytes:
    return blake2b(row.encode(), digest_size=16).digest()


def _parts(digests: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(digests), AT_A_TIME):
        yield digests[start : start + AT_A_TIME]


def _marks(values: Iterable[object]) -> str:
    return ",".join("?" for _ in values)
