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
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
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
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._turn = Condition()  # one thread at a time has the file
        self._asking: set[str] = set()  # rows that some thread is asking the model about
        self._parts: dict[str, str] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.path, self.identity, self._parts)

    # --- the file -------------------------------------------------------------------------------------------------

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        """Have the file, and nobody else in this process."""
        with self._turn:
            if self._connection is None or self._process != os.getpid():  # must not be taken along by a fork
                self._connection, self._process = _connect(self.path), os.getpid()
            yield self._connection

    def close(self) -> None:
        """Close the file; the next question opens it again."""
        with self._turn:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def bind(self, space: Space, positive: Any) -> None:
        """Say what the answers are about; refuse a file that is about something else."""
        digest = hashlib.sha256(space.to_json().encode()).hexdigest()
        given = {"format": FORMAT, "model": self.identity, "positive": repr(positive), "space": f"sha256:{digest}"}
        given["columns"] = json.dumps(space.names)
        with self._file() as file, file:
            file.execute("BEGIN IMMEDIATE")
            file.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", given.items())
            found = dict(file.execute("SELECT part, value FROM about"))
        for part, value in given.items():
            if found[part] != value:
                raise InputError(
                    f"the journal {self.path} is about another {part}: {found[part]}, not {value}; use another file"
                )
        self._parts = given

    def kept(self, part: str) -> str | None:
        """Return what was settled for all runs with this journal, if it was."""
        with self._file() as file:
            found = file.execute("SELECT value FROM about WHERE part = ?", (part,)).fetchone()
        return None if found is None else str(found[0])

    def keep(self, part: str, value: str) -> str:
        """Settle something for all runs with this journal, unless that was done before; return what is settled."""
        with self._file() as file:
            file.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (part, value))
        return str(self.kept(part))

    # --- answers --------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        with self._file() as file:
            (count,) = file.execute("SELECT count(*) FROM answers").fetchone()
        return int(count)

    def before(self, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the model behind the journal: only rows that are not in it are asked, and no row by two threads."""

        def ask(rows: Any) -> Any:
            keys = _keys(rows)
            places = {key: i for i, key in enumerate(keys)}
            known: dict[str, float] = {}
            while len(known) < len(places):
                missing = [key for key in places if key not in known]
                with self._claim(missing) as mine:
                    known |= self._look_up(missing)
                    new = [key for key in mine if key not in known]
                    if new:
                        scores = read_scores(predict, _some(rows, [places[key] for key in new])).tolist()
                        answers = dict(zip(new, scores, strict=True))
                        self._write(answers)
                        known |= answers
                # What others were asking is known to them by now, or to nobody: then it is for us to ask.
            return scores_from([known[key] for key in keys])

        return ask

    @contextmanager
    def _claim(self, keys: Sequence[str]) -> Iterator[list[str]]:
        """Take on the rows that nobody else is asking about; if there are none, wait for somebody to be done."""
        with self._turn:
            self._turn.wait_for(lambda: not self._asking.issuperset(keys))
            mine = [key for key in keys if key not in self._asking]
            self._asking.update(mine)
        try:
            yield mine
        finally:
            with self._turn:
                self._asking.difference_update(mine)
                self._turn.notify_all()

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
        with self._file() as file:
            for start in range(0, len(different), LOOKED_UP):
                part = different[start : start + LOOKED_UP]
                marks = ",".join("?" * len(part))
                found |= dict(file.execute(f"SELECT row, score FROM answers WHERE row IN ({marks})", part))
        return found

    def _write(self, answers: Mapping[str, float]) -> None:
        now = int(time.time())
        with self._file() as file, file:
            file.execute("BEGIN IMMEDIATE")
            lines = [(row, score, now) for row, score in answers.items()]
            file.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", lines)

    # --- for people -----------------------------------------------------------------------------------------------

    def about(self) -> Iterator[tuple[str, str]]:
        """Yield what the journal is about, and how much is in it."""
        with self._file() as file:
            parts = file.execute("SELECT part, value FROM about ORDER BY part").fetchall()
            count, first, last = file.execute("SELECT count(*), min(at), max(at) FROM answers").fetchone()
        yield from parts
        yield "answers", f"{count:,}"
        if count:
            yield "first", _day(first)
            yield "last", _day(last)

    def prune(self, before: float) -> int:
        """Forget answers that were written before a time, in seconds since 1970; return how many."""
        with self._file() as file:
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
        file = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
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
