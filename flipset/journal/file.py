"""The file of a journal: opened only if it is one, with an answer for each way in which a file can be unusable.

| what is wrong | the answer |
|---|---|
| not a SQLite file, or one of another program | `InputError`; nothing is written to it |
| the disk is full or fails, the file is damaged | `StorageError` |
| another process holds the file for longer than `PATIENCE` | `StorageError` |
| it is about another model or space | `InputError` (`about_another`) |
| the file or its folder is read-only | opened for reading; a write is a `StorageError` |

A journal may be a link, and other processes may use the file under another name.

Invariants: a file is not written to before it is known to be a journal, and no error of SQLite gets past
`naming_faults`.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flipset.errors import FlipsetError, InputError, StorageError
from flipset.models.hashes import FOLDER

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

PATIENCE = 60.0
"""How many seconds to wait while another process writes."""

PAGE = 4096
"""The size of a page in bytes, which is SQLite's own choice."""

SCHEMA = {
    "about": "CREATE TABLE about (part TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "answers": "CREATE TABLE answers (row TEXT PRIMARY KEY, score REAL NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID",
    "typed_answers": """CREATE TABLE typed_answers
        (row TEXT PRIMARY KEY, row_values TEXT NOT NULL, score REAL NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID""",
    "by_values": "CREATE INDEX by_values ON typed_answers (row_values, score)",
    "claims": "CREATE TABLE claims (row BLOB PRIMARY KEY, owner TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID",
}
"""What a journal consists of. Files of earlier versions have the first two, or all but the last."""

READ = ("about", "answers", "typed_answers")
"""What must be there to read a journal that cannot be written to."""


@dataclass(frozen=True, eq=False, slots=True)
class JournalFile:
    """An open journal."""

    path: Path
    connection: sqlite3.Connection
    read_only: bool

    @contextmanager
    def transaction(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        """Write to the file, all of it or nothing; if `durable`, it is on disk afterwards."""
        # In WAL mode, NORMAL leaves out the wait for the disk. The next durable transaction then makes up for it.
        self.connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield self.connection
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:  # SQLite itself rolls back after some faults
                self.connection.execute("ROLLBACK")
            raise

    def check_room(self, texts: Sequence[str]) -> None:
        """Refuse to go on if the disk may not hold the scores of rows with these texts: they are not paid for yet."""
        # Each row may change a page of the table and one of the index. Changed pages are written to `-wal` first, and
        # pages that are new are written once more to the file.
        (pages,) = self.connection.execute("PRAGMA page_count").fetchone()
        new = 3 * sum(map(len, texts)) // (PAGE // 2) + len(SCHEMA)
        needed = (min(2 * len(texts), pages) + 2 * new) * PAGE
        free = shutil.disk_usage(without_links(self.path).parent).free
        if free < needed:
            left = f"{free:,} bytes are left, and the next scores may take {needed:,}"
            raise StorageError(f"the journal {self.path} cannot be written: the disk is full ({left})")

    def close(self) -> None:
        """Close the file. The last to close it also moves what is in `-wal` into the file itself."""
        self.connection.close()


def without_links(path: Path) -> Path:
    """Return where a file really is. What belongs to it, such as `-wal` and room on the disk, is there."""
    return Path(os.path.realpath(path))


def open_file(path: Path) -> JournalFile:
    """Open a journal, or make a new one; where it cannot be written to, open it for reading."""
    import sqlite3

    with naming_faults(path):
        try:
            return JournalFile(path, _open_to_write(path), read_only=False)
        except sqlite3.OperationalError as error:
            may_read = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
            if not may_read or not path.is_file():
                raise
        return JournalFile(path, _open_to_read(path), read_only=True)


def _open_to_write(path: Path) -> sqlite3.Connection:
    import sqlite3

    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _check_tables(path, connection)
        _use_wal(connection)
        # Two processes may make the same journal: whoever is second finds the tables there.
        connection.execute("BEGIN IMMEDIATE")  # also shows whether the file can be written to
        there = _names(connection)
        missing = [statement for name, statement in SCHEMA.items() if name not in there]
        for statement in missing:
            connection.execute(statement)
        connection.execute("COMMIT")
        if missing:  # so that a copy of the file alone is a journal, if an old one
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except BaseException:
        connection.close()
        raise
    return connection


def _open_to_read(path: Path) -> sqlite3.Connection:
    import sqlite3

    # Without a `-wal` beside it, nobody has the file open, and SQLite may read it without writing anything beside it.
    # With one, it must read both.
    real = without_links(path)
    alone = not real.with_name(real.name + "-wal").exists()
    address = f"{real.as_uri()}?{'immutable=1' if alone else 'mode=ro'}"
    connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _check_tables(path, connection)
        missing = [name for name in READ if name not in _names(connection)]
    except sqlite3.OperationalError as error:
        connection.close()
        if alone or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN:
            raise
        raise StorageError(
            f"the journal {path} is on a read-only medium and was not closed: copy it together with {path.name}-wal to "
            "a place that can be written"
        ) from None
    except BaseException:
        connection.close()
        raise
    if missing:
        connection.close()
        raise StorageError(
            f"the journal {path} is read-only, and of an earlier version or empty: copy it to a place that can be "
            "written"
        )
    return connection


def _names(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def _check_tables(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse the file of another program, before anything is written to it."""
    # By the names of tables, since an empty SQLite file may be taken, and a journal of a later version may not.
    tables = {name for name in _names(connection) if not name.startswith("sqlite_")}
    foreign = sorted(tables - SCHEMA.keys())
    if tables and (foreign or "about" not in tables):
        listed = ", ".join((foreign or sorted(tables))[:5])
        raise InputError(f"{path} is a SQLite file of another program, with {listed}: use another file for the journal")
    if "about" in tables:
        columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(about)")]
        if columns != ["part", "value"]:
            raise InputError(f"{path} is a SQLite file of another program: use another file for the journal")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at the same time."""
    import sqlite3

    # SQLite does not wait for others here, as it does elsewhere.
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)


@contextmanager
def naming_faults(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into errors that say what is wrong with the file, and what to do."""
    import sqlite3

    try:
        yield
    except sqlite3.ProgrammingError:  # a mistake in this package, not a fault of the file
        raise
    except sqlite3.DatabaseError as error:
        raise _named(path, error) from error


def _named(path: Path, error: sqlite3.DatabaseError) -> FlipsetError:
    import sqlite3

    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return InputError(f"{path} cannot be opened as a journal: {error}")
    if code == sqlite3.SQLITE_CANTOPEN:
        return InputError(f"{path} cannot be opened as a journal: {error}; check the folder and its permissions")
    if code == sqlite3.SQLITE_FULL:
        return StorageError(f"the journal {path} cannot be written: the disk is full")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        waited = f"another process has kept it locked for {PATIENCE:g} seconds"
        return StorageError(f"the journal {path} cannot be used: {waited}; end that process, or use another file")
    if code == sqlite3.SQLITE_CORRUPT:
        advice = f"restore a copy, save what is left with `sqlite3 {path.name} .recover`, or use another file"
        return StorageError(f"the journal {path} is damaged ({error}): {advice}")
    if code == sqlite3.SQLITE_READONLY:
        return StorageError(f"the journal {path} is read-only: copy it to a place that can be written")
    return StorageError(f"the journal {path} cannot be read or written: {error}")


def about_another(path: Path, part: str, found: str | None, value: str) -> str:
    """Return the message about a journal that is about another model or space; `part` says which of the two."""
    if part == "model" and value.startswith(FOLDER) and found is not None and found.startswith("sha256:"):
        return (
            f"the journal {path} is about the model {found}, and this model is the folder {value}. Earlier versions "
            "identified a folder by the contents of its files, without their names. If you know that it is the same "
            f"folder, give Journal({str(path)!r}, model={found!r}); otherwise use another file"
        )
    return f"the journal {path} is about another {part}: {found}, not {value}; use another file"
