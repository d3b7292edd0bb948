"""`Journal`: the scores of a model in a SQLite file, written down before they are used.

A journal is about one model and one space. A run that was killed continues where it stopped, and a second run makes no
queries at all. It is also the evidence behind a proof: `Journal.model` answers from the file alone, without the model.

Rows are identified by their values and types (`identity.row_texts`). Files of an earlier version identify rows by their
values alone, in the table `answers`. There, 1, 1.0 and True were written alike, and so were NaN and null. An answer of
such a file is used only if no other row could have been written the same way; all other rows are scored again.

Invariants:

- An answer is on disk before it is used, and no row is scored for two callers, in one process or in several.
- The file is written to before the model is asked: as far as can be known, what cannot be written is not asked for.
- A fault of the file is a `StorageError`, never an error of the model.
"""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

from flipset.drivers.drive import adrive, drive
from flipset.errors import FlipsetError, InputError, OracleError, StorageError
from flipset.journal.cells import read_day
from flipset.journal.file import about_another, naming_faults, open_file
from flipset.journal.lookup import look_up, look_up_by_value
from flipset.journal.process import Pause, ProcessState
from flipset.journal.texts import untyped_texts, value_texts
from flipset.models.scores import await_scores, read_scores, scores_from
from flipset.plural import count
from flipset.space.fingerprints import space_fingerprint
from flipset.space.identity import row_texts, take_rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from flipset.journal.file import JournalFile
    from flipset.space import Space

FORMAT = "flipset-journal/1"


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
        # By process: a fork copies this object, but the child must use neither the connection nor the locks.
        self._processes: dict[int, ProcessState] = {}
        self._parts: dict[str, str] = {}
        self._untyped: bool | None = None  # whether the file has answers of the earlier version; None until looked up

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.path, self.identity, self._parts)

    # --- the file -------------------------------------------------------------------------------------------------

    @property
    def _here(self) -> ProcessState:
        """What this process holds."""
        if (here := self._processes.get(os.getpid())) is None:
            here = self._processes.setdefault(os.getpid(), ProcessState(self.path))
            finalize(self, here.close)  # at the latest when the program ends, so that `-wal` is not left behind
        return here

    @contextmanager
    def _opened(self) -> Iterator[JournalFile]:
        """Use the file, alone in this process."""
        here = self._here
        with here.lock, naming_faults(self.path):
            if here.file is None:
                here.file = open_file(self.path)
            yield here.file

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        with self._opened() as file:
            yield file.connection

    @contextmanager
    def _transaction(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        """Write to the file, and delete the claims that were given up."""
        with self._opened() as file, file.transaction(durable=durable) as connection:
            yield connection
            # With a transaction that takes place anyway: each transaction costs a wait for the file.
            given_up, self._here.given_up = self._here.given_up, []
            self._here.claims.release(connection, given_up)

    def close(self) -> None:
        """Close the file; the next use opens it again. A closed journal is one file, which may be copied."""
        self._here.close()

    def bind(self, space: Space, positive: Any) -> None:
        """Note what the answers are about; refuse a file that is about something else."""
        given = {"format": FORMAT, "model": self.identity, "positive": repr(positive)}
        given |= {"space": space_fingerprint(space) or "", "columns": json.dumps(space.names)}
        with self._opened() as file:
            if not file.read_only:
                with file.transaction(durable=True) as connection:
                    # Ignore, then read: of two processes that begin at once, the first decides.
                    connection.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", given.items())
            found = dict(file.connection.execute("SELECT part, value FROM about"))
        for part, value in given.items():
            if found.get(part) != value:
                raise InputError(about_another(self.path, part, found.get(part), value))
        self._parts = given

    def kept(self, part: str) -> str | None:
        """Return a setting that all runs with this journal share; None if it was not kept yet."""
        with self._file() as file:
            found = file.execute("SELECT value FROM about WHERE part = ?", (part,)).fetchone()
        return None if found is None else str(found[0])

    def keep(self, part: str, value: str) -> str:
        """Keep a setting for all runs with this journal, unless it was kept before; return the one that counts."""
        with self._opened() as file:
            if not file.read_only:
                with file.transaction(durable=True) as connection:
                    connection.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (part, value))
        return self.kept(part) or value

    # --- answers --------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        with self._file() as file:
            (answers,) = file.execute("SELECT count(*) FROM typed_answers").fetchone()
        return int(answers)

    def before(self, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the model behind the journal: it scores only rows that are not in it, and no row for two callers."""

        def answer(step: Any) -> Any:
            if isinstance(step, Pause):
                return time.sleep(step.seconds)
            return step.result() if isinstance(step, Future) else read_scores(predict, step)

        return lambda rows: drive(self._answering(rows), answer)

    def abefore(self, predict: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
        """Return the same for a model that is awaited. The file itself is read and written without awaiting."""
        from asyncio import sleep, wrap_future

        async def answer(step: Any) -> Any:
            if isinstance(step, Pause):
                return await sleep(step.seconds)
            return await (wrap_future(step) if isinstance(step, Future) else await_scores(predict, step))

        return lambda rows: adrive(self._answering(rows), answer)

    def _answering(self, rows: Any) -> Generator[Any, Any, NDArray[np.float64]]:
        """Return the score of each row; yield rows for the model to score, or a future or a pause to wait for.

        An answer is on disk before it is used. A caller claims rows while the model scores them, and releases them
        however that ends. Callers that wait for these rows then look them up, or have them scored themselves.
        """
        keys = row_texts(rows)
        # A dictionary, because rows of one call may be equal; such a row is scored once.
        places = {key: i for i, key in enumerate(keys)}
        known = self._look_up_untyped(rows, keys)
        known |= self._look_up([key for key in places if key not in known])
        # Each turn answers some rows, or waits for somebody who does. If that one fails, the rows are free again.
        while missing := [key for key in places if key not in known]:
            mine = self._claim(missing)
            if isinstance(mine, Future):
                yield mine
                known |= self._look_up(missing)
                continue
            try:
                found, new = self._claim_among_processes(mine)
                known |= found
                if new:
                    asked = take_rows(rows, [places[key] for key in new])
                    known |= zip(new, (yield from self._ask_and_write(new, asked)), strict=True)
            finally:
                # Also if the generator is closed while the model is asked: others wait for these rows.
                self._give_up(mine)
            if not new and not found:
                yield Pause()
        return scores_from([known[key] for key in keys])

    def _ask_and_write(self, keys: Sequence[str], rows: Any) -> Generator[Any, Any, list[float]]:
        """Return the scores of rows when they are on disk; where the model fails, write those that it has kept."""
        try:
            scores: list[float] = (yield rows).tolist()
        except FlipsetError as error:
            if kept := list(error.kept):
                with suppress(FlipsetError):  # the error that led here is the one to report
                    yield from self._ask_and_write([keys[i] for i in kept], take_rows(rows, kept))
            raise
        # Written first. From here on the answers may be used, also by other processes.
        self._write(keys, value_texts(rows), scores)
        return scores

    def _claim(self, keys: Sequence[str]) -> list[str] | Future[None]:
        """Claim the rows that no other caller has claimed; if there are none, return a future to wait for."""
        here = self._here
        with here.lock:
            mine = [key for key in keys if key not in here.asking]
            if mine:
                here.asking.update(mine)
                return mine
            # Each waiting caller has a future of its own, because a caller that stops waiting may cancel it.
            here.waiting.append(Future())
            return here.waiting[-1]

    def _claim_among_processes(self, keys: Sequence[str]) -> tuple[dict[str, float], list[str]]:
        """Return scores that have arrived by now, and the rows among the others that no other process is scoring.

        This looks for room on the disk, and writes to the file, before the model is asked. So most faults of the disk
        are found before anything is paid for.
        """
        with self._opened() as file:
            if file.read_only:
                raise StorageError(
                    f"the journal {self.path} is read-only and has no score of {count(len(keys), 'row')}: copy it to a "
                    "place that can be written"
                )
            file.check_room(keys)
        with self._voiding_claims(), self._transaction(durable=False) as connection:
            found = self._look_up(keys)  # inside the transaction: nobody can write in between
            return found, self._here.claims.take(connection, [key for key in keys if key not in found])

    def _give_up(self, keys: Sequence[str]) -> None:
        """Release claimed rows, and wake the callers that wait."""
        here = self._here
        with here.lock:
            here.asking.difference_update(keys)
            waiting, here.waiting = here.waiting, []
            self._release([key for key in keys if key in here.claims.held])
        # Outside of the lock, because setting a result runs the callbacks of whoever waits.
        for future in waiting:
            if future.set_running_or_notify_cancel():
                future.set_result(None)

    def _release(self, keys: Sequence[str]) -> None:
        """Delete claims from the file: now, or with the transaction under way, if this interrupts one."""
        here = self._here
        here.given_up += keys
        if keys and here.file is not None and not here.file.connection.in_transaction:
            # The error that led here is the one to report. Claims that cannot be deleted are void.
            with suppress(StorageError), self._voiding_claims(), self._transaction(durable=False):
                pass

    @contextmanager
    def _voiding_claims(self) -> Iterator[None]:
        """Void all claims of this process if the file fails: they could not be deleted one by one."""
        try:
            yield
        except StorageError:
            self._here.claims.abandon()
            raise

    def model(self) -> Callable[[Any], Any]:
        """Return a model that answers from the journal alone, and raises for a row without an answer."""

        def recall(rows: Any) -> Any:
            keys, texts = row_texts(rows), value_texts(rows)
            known = self._look_up_untyped(rows, keys) | self._look_up(keys)
            unknown = [text for key, text in zip(keys, texts, strict=True) if key not in known]
            with self._file() as file:
                by_value = look_up_by_value(file, self.path, unknown)
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

    def _look_up(self, keys: Sequence[str]) -> dict[str, float]:
        with self._file() as file:
            # Some may be paid for, but not on disk yet: asking for them again would be paid for twice.
            unwritten = self._here.unwritten
            return look_up(file, self.path, keys) | {key: unwritten[key][1] for key in keys if key in unwritten}

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
        texts = {key: text for key, text in zip(keys, untyped_texts(rows), strict=True) if text is not None}
        with self._file() as file:
            found = look_up(file, self.path, list(texts.values()), "answers")
        return {key: found[text] for key, text in texts.items() if text in found}

    def _write(self, keys: Sequence[str], texts: Sequence[str], scores: Sequence[float]) -> None:
        """Write answers, and those that could not be written before; their claims are deleted."""
        here = self._here
        now = int(time.time())
        with here.lock:
            # Noted before the attempt: if it fails, the answers are still here, and the next attempt writes them, too.
            here.unwritten.update(zip(keys, zip(texts, scores, [now] * len(keys), strict=True), strict=True))
            with self._voiding_claims(), self._transaction(durable=True) as file:
                lines = ((key, *answer) for key, answer in here.unwritten.items())
                file.executemany("INSERT OR IGNORE INTO typed_answers VALUES (?, ?, ?, ?)", lines)
                here.given_up += [key for key in keys if key in here.claims.held]
            # Only reached when the transaction has been committed.
            here.unwritten.clear()

    # --- for people -----------------------------------------------------------------------------------------------

    def about(self) -> Iterator[tuple[str, str]]:
        """Yield what the journal is about, and how many answers it has, as names and values."""
        with self._file() as file:
            parts = file.execute("SELECT part, value FROM about ORDER BY part").fetchall()
            answers, first, last = file.execute("SELECT count(*), min(at), max(at) FROM typed_answers").fetchone()
            (untyped,) = file.execute("SELECT count(*) FROM answers").fetchone()
        yield from ((str(part), str(value)) for part, value in parts)
        yield "answers", f"{answers:,}"
        if untyped:
            yield "without types", f"{untyped:,}"
        if answers:
            yield "first", read_day(first, self.path)
            yield "last", read_day(last, self.path)

    def prune(self, before: float) -> int:
        """Delete answers that were written before a time, in seconds since 1970; return how many."""
        with self._transaction(durable=True) as file:
            gone = file.execute("DELETE FROM typed_answers WHERE at < ?", (before,)).rowcount
            gone += file.execute("DELETE FROM answers WHERE at < ?", (before,)).rowcount
        with self._file() as file:
            # Without this, what was deleted stays in free pages of the file, which keeps its size.
            file.execute("VACUUM")
        return gone


def _again(path: Path, identity: str, parts: dict[str, str]) -> Journal:
    journal = Journal(path, model=identity)
    journal._parts = parts
    return journal
