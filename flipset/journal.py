"""Answers on disk: every score is written down before it is used, and no row is scored twice.

A journal is a SQLite file about one model and one space. A run that was killed continues where it stopped, and a second
run makes no queries at all. Several processes may use a journal at the same time. It is also the evidence behind a
proof: `Journal.model` answers from the file alone, without the model.

Rows are identified by their values and types (`identity.row_texts`). Files of an earlier version identify rows by their
values alone, in the table `answers`. There, 1, 1.0 and True were written alike, and so were NaN and null. An answer of
such a file is used only if no other row could have been written the same way; all other rows are scored again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from flipset.drivers.drive import adrive, drive
from flipset.errors import InputError, OracleError
from flipset.models.scores import await_scores, read_scores, scores_from
from flipset.models.tables import plain_rows
from flipset.processes import renew_after_fork
from flipset.space.identity import row_texts, take_rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence

    from numpy.typing import NDArray

    from flipset.space import Space

FORMAT = "flipset-journal/1"
LOOKED_UP = 500
"""The most rows that one statement looks up."""

PATIENCE = 60.0
"""How many seconds to wait while another process writes."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS about (part TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (row TEXT PRIMARY KEY, score REAL NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS typed_answers
    (row TEXT PRIMARY KEY, row_values TEXT NOT NULL, score REAL NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_values ON typed_answers (row_values, score);
"""


@runtime_checkable
class AnswerStore(Protocol):
    """What an explainer needs of a journal, so that other kinds of stores can take its place. `Journal` is one.

    A store may also have `abefore`, as `Journal` does. Without it, an endpoint behind the store is called in threads.
    """

    def bind(self, space: Space, positive: Any) -> None:
        """Note what the answers are about; refuse a store that is about something else."""

    def before(self, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the model behind the store: it scores only rows that are not in the store."""

    def kept(self, part: str) -> str | None:
        """Return a setting that all runs with this store share; None if it was not kept yet."""

    def keep(self, part: str, value: str) -> str:
        """Keep a setting for all runs with this store, unless it was kept before; return the one that counts."""


class Journal:
    """The answers of a model, in a file.

    Parameters
    ----------
    path
        The file; it is created if it does not exist.
    model
        What identifies the model: a hash of its file, or the name and version of an endpoint. A file with answers of
        another model is refused.

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
        # One thread at a time uses the file. The lock is reentrant, because the garbage collector may close a generator
        # of `_answering` in any thread, even in one that holds the lock, and the generator then releases its rows.
        self._lock = RLock()
        self._asking: set[str] = set()  # rows that are being scored for some caller
        self._waiting: list[Future[None]] = []  # of callers that wait for such rows
        self._parts: dict[str, str] = {}
        self._untyped: bool | None = None  # whether the file has answers of the earlier version; None until looked up
        renew_after_fork(self)

    def renew(self) -> None:
        """Release what other threads of the process that was forked held: the lock, and the rows being scored."""
        self._lock, self._asking, self._waiting = RLock(), set(), []

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.path, self.identity, self._parts)

    # --- the file -------------------------------------------------------------------------------------------------

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        """Use the file, alone in this process."""
        with self._lock:
            # SQLite connections must not be used across a fork.
            if self._connection is None or self._process != os.getpid():
                self._connection, self._process = _connect(self.path), os.getpid()
            yield self._connection

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def bind(self, space: Space, positive: Any) -> None:
        """Note what the answers are about; refuse a file that is about something else."""
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
        """Return a setting that all runs with this journal share; None if it was not kept yet."""
        with self._file() as file:
            found = file.execute("SELECT value FROM about WHERE part = ?", (part,)).fetchone()
        return None if found is None else str(found[0])

    def keep(self, part: str, value: str) -> str:
        """Keep a setting for all runs with this journal, unless it was kept before; return the one that counts."""
        with self._file() as file:
            file.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (part, value))
        return str(self.kept(part))

    # --- answers --------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        with self._file() as file:
            (count,) = file.execute("SELECT count(*) FROM typed_answers").fetchone()
        return int(count)

    def before(self, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the model behind the journal: it scores only rows that are not in it, and no row for two callers."""

        def answer(step: Any) -> Any:
            return step.result() if isinstance(step, Future) else read_scores(predict, step)

        return lambda rows: drive(self._answering(rows), answer)

    def abefore(self, predict: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
        """Return the same for a model that is awaited. The file itself is read and written without awaiting."""
        from asyncio import wrap_future

        async def answer(step: Any) -> Any:
            return await (wrap_future(step) if isinstance(step, Future) else await_scores(predict, step))

        return lambda rows: adrive(self._answering(rows), answer)

    def _answering(self, rows: Any) -> Generator[Any, NDArray[np.float64], NDArray[np.float64]]:
        """Return the score of each row; yield rows for the model to score, or a future to wait for.

        An answer is on disk before it is used. A caller claims rows while the model scores them, and releases them
        however that ends. Callers that wait for these rows then look them up, or have them scored themselves.
        """
        keys = row_texts(rows)
        places = {key: i for i, key in enumerate(keys)}
        known = self._look_up_untyped(rows, keys)
        while len(known) < len(places):
            missing = [key for key in places if key not in known]
            mine = self._claim(missing)
            if isinstance(mine, Future):
                yield mine
                continue
            try:
                known |= self._look_up(missing)
                new = [key for key in mine if key not in known]
                if new:
                    asked = take_rows(rows, [places[key] for key in new])
                    scores = (yield asked).tolist()
                    self._write(new, _value_texts(asked), scores)
                    known |= zip(new, scores, strict=True)
            finally:
                self._give_up(mine)
        return scores_from([known[key] for key in keys])

    def _claim(self, keys: Sequence[str]) -> list[str] | Future[None]:
        """Claim the rows that no other caller has claimed; if there are none, return a future to wait for."""
        with self._lock:
            mine = [key for key in keys if key not in self._asking]
            if mine:
                self._asking.update(mine)
                return mine
            # Each waiting caller has a future of its own, because a caller that stops waiting may cancel it.
            self._waiting.append(Future())
            return self._waiting[-1]

    def _give_up(self, keys: Sequence[str]) -> None:
        """Release claimed rows, and wake the callers that wait."""
        with self._lock:
            self._asking.difference_update(keys)
            waiting, self._waiting = self._waiting, []
        for future in waiting:
            if future.set_running_or_notify_cancel():
                future.set_result(None)

    def model(self) -> Callable[[Any], Any]:
        """Return a model that answers from the journal alone, and raises for a row without an answer."""

        def recall(rows: Any) -> Any:
            keys, texts = row_texts(rows), _value_texts(rows)
            known = self._look_up_untyped(rows, keys) | self._look_up(keys)
            by_value = self._look_up_by_value([text for key, text in zip(keys, texts, strict=True) if key not in known])
            for key, text in zip(keys, texts, strict=True):
                if key not in known:
                    known[key] = self._only(by_value.get(text, []), text, rows)
            return scores_from([known[key] for key in keys])

        return recall

    def _only(self, scores: Sequence[float], text: str, rows: Any) -> float:
        """Return the only answer for rows that differ in nothing but the types of their values; raise if several."""
        if len(scores) == 1:
            return scores[0]
        if scores:
            why = f"the journal {self.path} has {len(scores)} answers for rows that read {text}, by the types of their"
            raise OracleError(f"{why} values: give --data, a table with the types that the model was asked with", rows)
        why = f"the journal {self.path} has no answer for the row {text}"
        if self._has_untyped():
            why += "; its answers of an earlier kind do not say the types of values: ask the model again"
        raise OracleError(why, rows)

    def _look_up(self, keys: Sequence[str], table: str = "typed_answers") -> dict[str, float]:
        found: dict[str, float] = {}
        different = list(dict.fromkeys(keys))
        with self._file() as file:
            for start in range(0, len(different), LOOKED_UP):
                part = different[start : start + LOOKED_UP]
                marks = ",".join("?" * len(part))
                found |= dict(file.execute(f"SELECT row, score FROM {table} WHERE row IN ({marks})", part))
        return found

    def _look_up_by_value(self, texts: Sequence[str]) -> dict[str, list[float]]:
        """Return the distinct answers for rows with these values, whatever their types."""
        found: dict[str, list[float]] = {}
        with self._file() as file:
            for text in dict.fromkeys(texts):
                scores = file.execute("SELECT DISTINCT score FROM typed_answers WHERE row_values = ?", (text,))
                found[text] = [score for (score,) in scores]
        return found

    def _has_untyped(self) -> bool:
        """Say whether the file has answers of the earlier version."""
        if self._untyped is None:
            with self._file() as file:
                self._untyped = file.execute("SELECT 1 FROM answers LIMIT 1").fetchone() is not None
        return self._untyped

    def _look_up_untyped(self, rows: Any, keys: Sequence[str]) -> dict[str, float]:
        """Return answers of the earlier version, for rows that no other row was written like."""
        if not self._has_untyped():
            return {}
        texts = {key: text for key, text in zip(keys, _untyped_texts(rows), strict=True) if text is not None}
        found = self._look_up(list(texts.values()), "answers")
        return {key: found[text] for key, text in texts.items() if text in found}

    def _write(self, keys: Sequence[str], texts: Sequence[str], scores: Sequence[float]) -> None:
        now = int(time.time())
        with self._file() as file, file:
            file.execute("BEGIN IMMEDIATE")
            lines = [(key, text, score, now) for key, text, score in zip(keys, texts, scores, strict=True)]
            file.executemany("INSERT OR IGNORE INTO typed_answers VALUES (?, ?, ?, ?)", lines)

    # --- for people -----------------------------------------------------------------------------------------------

    def about(self) -> Iterator[tuple[str, str]]:
        """Yield what the journal is about, and how many answers it has, as names and values."""
        with self._file() as file:
            parts = file.execute("SELECT part, value FROM about ORDER BY part").fetchall()
            count, first, last = file.execute("SELECT count(*), min(at), max(at) FROM typed_answers").fetchone()
            (untyped,) = file.execute("SELECT count(*) FROM answers").fetchone()
        yield from parts
        yield "answers", f"{count:,}"
        if untyped:
            yield "without types", f"{untyped:,}"
        if count:
            yield "first", _day(first)
            yield "last", _day(last)

    def prune(self, before: float) -> int:
        """Delete answers that were written before a time, in seconds since 1970; return how many."""
        with self._file() as file:
            with file:
                gone = file.execute("DELETE FROM typed_answers WHERE at < ?", (before,)).rowcount
                gone += file.execute("DELETE FROM answers WHERE at < ?", (before,)).rowcount
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
        file.execute("PRAGMA synchronous=FULL")  # an answer must be on disk before it is used
        file.executescript(SCHEMA)
    except sqlite3.DatabaseError as error:
        raise InputError(f"{path} cannot be opened as a journal: {error}") from None
    return file


def _value_texts(rows: Any) -> list[str]:
    """Return rows as text without types: equal numbers are written alike, and so are all kinds of missing values."""
    return [json.dumps([_alike(cell) for cell in row]) for row in plain_rows(rows)]


def _alike(cell: Any) -> Any:
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() and abs(cell) < 1 << 53 else cell
    return cell if cell is None or isinstance(cell, (int, str)) else str(cell)


def _untyped_texts(rows: Any) -> list[str | None]:
    """Return rows as the earlier version wrote them; None where another row was written alike.

    What is left are rows of floats that are neither whole nor equal to a number of a narrower type.
    """
    table = rows if isinstance(rows, np.ndarray) else rows.to_numpy() if hasattr(rows, "iloc") else None
    if table is None or table.dtype != np.float64:
        return [None] * len(rows)
    alone = np.isfinite(table) & (table.astype(np.float32) != table)
    cells = table.tolist()
    return [json.dumps(row) if sure else None for row, sure in zip(cells, alone.all(axis=1).tolist(), strict=True)]


def _day(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
