"""Answers on disk: whatever a model said to a row is written down before it is used, and never asked again.

A journal is a SQLite file about one model and one space. A run that was killed goes on where it was; a second one asks
nothing. Several processes may use it at once. It is also the evidence behind a proof: `Journal.model` answers from what
was written down, without the model.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError, OracleError
from flipset.rows import plain_rows
from flipset.scores import read_scores, scores_from

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flipset.space import Space

FORMAT = "flipset-journal/1"
LOOKED_UP = 500
"""Rows looked up by one statement."""

PATIENCE = 60.0
"""Seconds to wait for another process that writes."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS about (part TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (row TEXT PRIMARY KEY, score REAL NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
"""


class Journal:
    """What a model said, in a file.

    Parameters
    ----------
    path
        The file; it is made if it is not there.
    model
        What identifies the model: a hash of its file, or the name and version of an endpoint. A journal about another
        one is refused.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from flipset import Explainer, Feature, Journal, Space
    >>> space = Space([Feature("income", "integer", direction=+1, lower=0, upper=100)])
    >>> asked = []
    >>> def approve(rows):
    ...     asked.extend(rows.tolist())
    ...     return rows[:, 0] >= 60
    >>> with TemporaryDirectory() as folder:
    ...     for run in (1, 2):
    ...         journal = Journal(f"{folder}/answers.db", model="approve, version 1")
    ...         e = Explainer(approve, space, journal=journal).explain([40])
    ...         print(e.counterfactuals[0], len(asked) == len(journal))
    ...         journal.close()
    income: 40 → at least 60 True
    income: 40 → at least 60 True
    """

    def __init__(self, path: str | os.PathLike[str], *, model: str) -> None:
        self.path = Path(path)
        self.identity = model
        self._open = local()
        self._parts: dict[str, str] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.path, self.identity, self._parts)

    # --- the file -------------------------------------------------------------------------------------------------

    def _file(self) -> sqlite3.Connection:
        """Return this thread's way to the file."""
        if getattr(self._open, "process", None) != os.getpid():  # a connection must not be taken along by a fork
            self._open.process = os.getpid()
            self._open.file = _connect(self.path)
        file: sqlite3.Connection = self._open.file
        return file

    def close(self) -> None:
        """Close this thread's way to the file."""
        if getattr(self._open, "process", None) == os.getpid():
            self._open.file.close()
            self._open.process = None

    def bind(self, space: Space, positive: Any) -> None:
        """Say what the answers are about; refuse a file that is about something else."""
        digest = hashlib.sha256(space.to_json().encode()).hexdigest()
        given = {"format": FORMAT, "model": self.identity, "positive": repr(positive), "space": f"sha256:{digest}"}
        given["columns"] = json.dumps(space.names)
        file = self._file()
        with file:
            file.execute("BEGIN IMMEDIATE")
            file.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", given.items())
            found = dict(file.execute("SELECT part, value FROM about"))
        for part, value in given.items():
            if found[part] != value:
                raise InputError(
                    f"the journal {self.path} is about another {part}: {found[part]}, not {value}; use another file"
                )
        self._parts = given

    # --- answers --------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        (count,) = self._file().execute("SELECT count(*) FROM answers").fetchone()
        return int(count)

    def before(self, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the model behind the journal: only rows that are not in it are asked."""

        def ask(rows: Any) -> Any:
            keys = _keys(rows)
            known = self._look_up(keys)
            new = {key: i for i, key in enumerate(keys) if key not in known}
            if new:
                scores = read_scores(predict, _some(rows, list(new.values()))).tolist()
                self._write(dict(zip(new, scores, strict=True)))
                known |= dict(zip(new, scores, strict=True))
            return scores_from([known[key] for key in keys])

        return ask

    def model(self) -> Callable[[Any], Any]:
        """Return a model that answers from the journal alone, and fails where it has no answer."""

        def recall(rows: Any) -> Any:
            keys = _keys(rows)
            known = self._look_up(keys)
            missing = [key for key in keys if key not in known]
            if missing:
                raise OracleError(f"the journal {self.path} has no answer for the row {missing[0]}", rows)
            return scores_from([known[key] for key in keys])

        return recall

    def _look_up(self, keys: Sequence[str]) -> dict[str, float]:
        found: dict[str, float] = {}
        different = list(dict.fromkeys(keys))
        for start in range(0, len(different), LOOKED_UP):
            part = different[start : start + LOOKED_UP]
            marks = ",".join("?" * len(part))
            found |= dict(self._file().execute(f"SELECT row, score FROM answers WHERE row IN ({marks})", part))
        return found

    def _write(self, answers: Mapping[str, float]) -> None:
        now = int(time.time())
        file = self._file()
        with file:
            file.execute("BEGIN IMMEDIATE")
            lines = [(row, score, now) for row, score in answers.items()]
            file.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", lines)

    # --- for people -----------------------------------------------------------------------------------------------

    def about(self) -> Iterator[tuple[str, str]]:
        """Yield what the journal is about, and how much is in it."""
        file = self._file()
        yield from file.execute("SELECT part, value FROM about ORDER BY part")
        count, first, last = file.execute("SELECT count(*), min(at), max(at) FROM answers").fetchone()
        yield "answers", f"{count:,}"
        if count:
            yield "first", _day(first)
            yield "last", _day(last)

    def prune(self, before: float) -> int:
        """Forget answers that were written before a time, in seconds since 1970; return how many."""
        file = self._file()
        with file:
            gone = file.execute("DELETE FROM answers WHERE at < ?", (before,)).rowcount
        file.execute("VACUUM")
        return gone


def _again(path: Path, identity: str, parts: dict[str, str]) -> Journal:
    journal = Journal(path, model=identity)
    journal._parts = parts
    return journal


def _connect(path: Path) -> sqlite3.Connection:
    import sqlite3

    try:
        file = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        file.execute("PRAGMA journal_mode=WAL")
        file.execute("PRAGMA synchronous=FULL")  # on disk before it is used
        file.executescript(SCHEMA)
    except sqlite3.DatabaseError as error:
        raise InputError(f"{path} cannot be opened as a journal: {error}") from None
    return file


def _keys(rows: Any) -> list[str]:
    """Return rows as text: numbers that are equal are written alike, whatever their type."""
    return [json.dumps([_alike(cell) for cell in row], ensure_ascii=False) for row in plain_rows(rows)]


def _alike(cell: Any) -> Any:
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() and abs(cell) < 1 << 53 else cell
    return cell if cell is None or isinstance(cell, (int, str)) else str(cell)


def _some(rows: Any, places: list[int]) -> Any:
    """Return some rows of a frame or an array, in the same kind."""
    if hasattr(rows, "iloc"):
        return rows.iloc[places]
    return rows.take(places) if hasattr(rows, "schema") and hasattr(rows, "take") else rows[places]


def _day(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
