"""The `.part` file of a table: the results of an unfinished run, one line for each row.

The first line says what the run is about. Each further line has the place of a row, its result, and a check: a hash of
the first line, the row's cells with their types, and the result. So a line is used again only for a row with the same
cells at the same place of the same table, and only if it is as it was written.

Invariants
----------
- Only one process at a time has the file. The lock belongs to the process, so it ends with it, also in a crash.
- The file is never opened through a link, and others cannot read it: it holds rows of the table.
- The half line that a killed run left is removed before anything is added.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import FileIO
from typing import TYPE_CHECKING, Any

from flipset.boundary.reading import Field, parse
from flipset.errors import InputError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from io import BufferedReader
    from pathlib import Path

FORMAT = "flipset-table-part/2"


@dataclass(slots=True)
class PartFile:
    """An open `.part` file.

    Attributes
    ----------
    path, file
        The file, locked.
    run
        A hash of what the run is about.
    rows
        For each row of the table a hash of its cells and their types.
    done
        For each row that has a result, by its place, where its line begins. The results stay in the file, because they
        take several times the memory of the explanations that are made of them.
    """

    path: Path
    file: FileIO
    run: bytes
    rows: Sequence[bytes]
    done: dict[int, int] = field(default_factory=dict)

    def add(self, place: int, result: Any) -> None:
        """Add the result of a row."""
        text = json.dumps(result)
        check = check_of(self.run, self.rows[place], text)
        # Composed by hand, so that the result is serialized once: the check is of this very text.
        line = f'{{"row": {place}, "check": "{check}", "result": {text}}}'
        self.done[place] = _add_line(self.path, self.file, line)

    def results(self) -> Iterator[tuple[int, Any]]:
        """Yield the place and the result of each row that has one, in the order of the rows."""
        with _reader(self.file) as reader:
            for place in sorted(self.done):
                reader.seek(self.done[place])
                yield place, json.loads(reader.readline())["result"]

    def remove(self) -> None:
        """Remove the file: the run is finished."""
        if os.name == "nt":  # which does not remove open files
            self.file.close()
        self.path.unlink()


@contextmanager
def open_part(path: Path, about: Mapping[str, Any], rows: Sequence[bytes], *, resume: bool) -> Iterator[PartFile]:
    """Open the `.part` file of a run, new or with the results of an earlier run about the same.

    A run that ends before the first result leaves no file.
    """
    header = {"format": FORMAT, **about}
    with _locked(path) as file:
        part = PartFile(path, file, hashlib.sha256(json.dumps(header).encode()).digest(), rows)
        if file.seek(0, os.SEEK_END) and not resume:
            raise InputError(f"{path} is left from an unfinished run: continue it with --resume, or delete the file")
        end = _read(part, header)
        try:
            # What a killed run left after its last whole line would otherwise join the next line.
            file.truncate(end)
            if not end:
                _add_line(path, file, json.dumps(header))
            yield part
        finally:
            # Nothing could be continued from it, and it would make the next run ask for --resume.
            if not part.done and path.exists():
                part.remove()


def row_digests(rows: Iterable[str]) -> list[bytes]:
    """Return a short hash of each row, given as texts of their cells and types."""
    return [hashlib.blake2b(row.encode(), digest_size=16).digest() for row in rows]


def check_of(run: bytes, row: bytes, result: str) -> str:
    """Return a hash that ties a result to its run and its row."""
    return hashlib.sha256(run + row + result.encode()).hexdigest()[:32]


def _reader(file: FileIO) -> BufferedReader:
    """Return a reader of the same open file: closing another one would end the lock."""
    return open(file.fileno(), "rb", closefd=False)


def _add_line(path: Path, file: FileIO, line: str) -> int:
    """Add a line; return where it begins."""
    try:
        start = file.seek(0, os.SEEK_END)
        left = line.encode() + b"\n"
        while left:  # a disk that is nearly full takes a part of a line, and refuses the next one
            left = left[file.write(left) :]
        return start
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from None


def _read(part: PartFile, header: Mapping[str, Any]) -> int:
    """Find the finished rows of a file, after checking that they are rows of this run; return where whole lines end."""
    path, end = part.path, 0
    try:
        with _reader(part.file) as reader:
            reader.seek(0)
            for line in reader:
                if not line.endswith(b"\n"):
                    break
                start, end = end, end + len(line)
                entry = parse(line.decode("utf-8"), "a line")
                # The line that begins at 0 says what the run is about, and is checked before any result is used.
                if start:
                    place, check, result = _read_line(entry)
                    _check_line(part, place, check, result)
                    part.done[place] = start
                    continue
                other = next((name for name, value in header.items() if entry.get(name) != value), None)
                if other is not None:
                    raise _Foreign(f"belongs to a run with a different {other}")
        return end
    except _Foreign as error:
        raise InputError(f"{path} {error}: delete it to start again") from None
    except (ValueError, AttributeError) as error:
        raise InputError(f"{path} cannot be read: {error}; delete it to start again") from None


class _Foreign(Exception):
    """The file, or a line of it, is about something else than this run."""


def _check_line(part: PartFile, place: int, check: str, result: Any) -> None:
    """Refuse a line that was not written for its row."""
    # `json.dumps` of what was parsed gives the text that was hashed, since that text came from `json.dumps`, too.
    if place >= len(part.rows) or check != check_of(part.run, part.rows[place], json.dumps(result)):
        raise _Foreign(f"has a result for row {place} that is not about that row of the table, or was changed")


def _read_line(entry: Any) -> tuple[int, str, dict[str, Any]]:
    """Read a line: the place of a row, the check, and its explanation or its error."""
    members = Field(entry, "a line").members(("row", "check", "result"))
    result = members["result"]
    if not isinstance(result.value, dict):
        result.refuse("an object")
    if is_error(result.value):
        Field(result.value["error"], "result.error").text()
    return members["row"].whole(0), members["check"].text(), result.value


def is_error(result: Mapping[str, Any]) -> bool:
    """Say whether a result is an error; an explanation has other members."""
    return set(result) in ({"error"}, {"error", "limit"})


# --- the lock ---------------------------------------------------------------------------------------------------------


@contextmanager
def _locked(path: Path) -> Iterator[FileIO]:
    """Yield the file at this path, made if it does not exist, while no other process has it."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        # Unbuffered, so that a line is on its way to the disk when `write` returns.
        file = FileIO(os.open(path, flags, 0o600), "r+")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    with file:
        # Another run may have finished, and removed the file, between the opening and the lock.
        if not _lock(file) or not path.exists() or not os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
            raise InputError(f"{path} is in use by another run: wait until it is finished, or choose another output")
        yield file


def _lock(file: FileIO) -> bool:
    """Lock a file for this process; return whether it is free. Without locks, as on Windows, every file is."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        # `lockf` rather than `flock`: worker processes inherit the latter, and may outlive this process.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN)
    return True
