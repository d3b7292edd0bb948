"""Files that are no journal, or can no longer be one: each gets one clear answer, and none is changed by it."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Explanation, Feature, InputError, Journal, Space, StorageError
from flipset.journal import file as journal_file
from flipset.journal.file import SCHEMA, naming_faults, open_file

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])
ROWS = np.random.default_rng(0).integers(0, 6, (12, 3))

WIDE = Space([Feature(name, "integer", direction=+1, lower=0, upper=99) for name in "abcde"])
MANY = np.random.default_rng(1).integers(0, 60, (30, 5))


class Model:
    """A model that counts the rows it scores."""

    def __init__(self) -> None:
        self.rows = 0

    def __call__(self, rows: Any) -> Any:
        self.rows += len(rows)
        return np.asarray(rows, dtype=float).mean(axis=1) >= 4


def explainer(path: Path, model: Any = None) -> Explainer:
    return Explainer(model or Model(), SPACE, journal=Journal(path, model="sum"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.db"


@pytest.fixture
def written(path: Path) -> Path:
    """A journal with some answers, closed."""
    one = explainer(path)
    one.explain_table(ROWS)
    assert isinstance(one.journal, Journal)
    one.journal.close()
    return path


def limit_pages(monkeypatch: pytest.MonkeyPatch, pages: int) -> None:
    """Let files that are opened from now on grow to this many pages: SQLite then says that the disk is full."""
    use_wal = journal_file._use_wal

    def limited(connection: sqlite3.Connection) -> None:
        use_wal(connection)
        connection.execute(f"PRAGMA max_page_count={pages}")

    monkeypatch.setattr(journal_file, "_use_wal", limited)


# --- not a journal ----------------------------------------------------------------------------------------------------


def test_c12_a_file_of_another_program_is_refused_and_not_changed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE customers (name TEXT)")
        other.commit()
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"a SQLite file of another program, with customers: use another file"):
        explainer(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["answers.db"]


@pytest.mark.parametrize("table", ["about (name TEXT)", "answers (row TEXT)"])
def test_c12_a_foreign_file_with_a_table_of_the_same_name_is_refused(path: Path, table: str) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"CREATE TABLE {table}")
        other.commit()
    before = path.read_bytes()
    with pytest.raises(InputError, match="a SQLite file of another program"):
        open_file(path)
    assert path.read_bytes() == before


def test_text_is_no_journal(path: Path) -> None:
    path.write_text("a letter, and not a short one, so that it is no empty database " * 20)
    with pytest.raises(InputError, match="cannot be opened as a journal: file is not a database"):
        open_file(path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nope/answers\.db cannot be opened as a journal: .*check the folder"):
        open_file(tmp_path / "nope" / "answers.db")


def test_earlier_files_gain_what_they_lack(path: Path) -> None:
    with closing(sqlite3.connect(path)) as old:
        for name in ("about", "answers"):
            old.execute(SCHEMA[name])
        old.commit()
    with closing(open_file(path).connection) as file:
        assert {name for (name,) in file.execute("SELECT name FROM sqlite_master")} >= set(SCHEMA)


# --- faults of the disk -----------------------------------------------------------------------------------------------


def test_c3_a_full_disk_ends_the_run_and_is_not_blamed_on_the_model(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_pages(monkeypatch, 24)
    asked: list[int] = []
    each: list[int] = []

    def predict(rows: Any) -> Any:
        asked.append(len(rows))
        return np.asarray(rows, dtype=float).mean(axis=1) >= 40

    expected = Explainer(predict, WIDE).explain_table(MANY, batch=4, width=2)
    asked.clear()
    wide = Explainer(predict, WIDE, journal=Journal(path, model="sum"))
    found = wide.explain_table(MANY, batch=4, width=2, each=lambda i, _: each.append(i))
    finished = [i for i, result in enumerate(found) if isinstance(result, Explanation)]
    assert 0 < len(finished) < len(MANY)
    assert finished == sorted(each)
    assert [found[i] for i in finished] == [expected[i] for i in finished]
    faults = [result for result in found if not isinstance(result, Explanation)]
    assert {type(fault) for fault in faults} == {StorageError}
    assert {str(fault) for fault in faults} == {f"the journal {path} cannot be written: the disk is full"}
    # Nothing was asked again: what the model scored is on disk, but for the call that found the disk full.
    assert sum(asked) <= len(Journal(path, model="")) + asked[-1]


def test_c3_what_the_disk_cannot_hold_is_not_asked_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    here = explainer(path, model)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(StorageError, match=r"the disk is full \(1,000 bytes are left, and the next scores may take"):
        here.explain(ROWS[0])
    assert model.rows == 0


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
def test_c3_room_is_looked_for_where_a_link_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "full").mkdir()
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "full" / "answers.db")
    model = Model()
    here = explainer(link, model)
    full = os.path.realpath(tmp_path / "full")
    free = {True: 1000, False: 10**12}
    monkeypatch.setattr(
        shutil, "disk_usage", lambda folder: SimpleNamespace(free=free[os.path.realpath(folder) == full])
    )
    with pytest.raises(StorageError, match=r"link\.db cannot be written: the disk is full \(1,000 bytes are left"):
        here.explain(ROWS[0])
    assert model.rows == 0


def test_c3_answers_that_could_not_be_written_are_not_asked_for_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, model = Journal(path, model="m"), Model()
    journal.bind(SPACE, None)
    write = journal_file.JournalFile.transaction
    failing = True

    def full(self: Any, *, durable: bool) -> Any:
        if durable and failing:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        return write(self, durable=durable)

    monkeypatch.setattr(journal_file.JournalFile, "transaction", full)
    ask = journal.before(model)
    with pytest.raises(StorageError, match="the disk is full"):
        ask(ROWS)
    asked, failing = model.rows, False
    assert ask(ROWS).tolist() == (ROWS.mean(axis=1) >= 4).tolist()
    assert (model.rows, len(journal)) == (asked, 0)  # they were there
    ask(ROWS + 1)
    assert len(journal) == len({tuple(row) for row in [*ROWS.tolist(), *(ROWS + 1).tolist()]})


def test_c3_a_damaged_journal_is_one_line(written: Path) -> None:
    raw = bytearray(written.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    written.write_bytes(raw)
    with pytest.raises(StorageError, match=r"answers\.db is damaged .*\.recover.*or use another file"):
        explainer(written).explain(ROWS[0])


def test_c3_a_journal_that_somebody_keeps_locked_is_one_line(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "PATIENCE", 0.0)
    model = Model()
    with closing(sqlite3.connect(written, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="another process has kept it locked for 0 seconds"):
            explainer(written, model)
        other.execute("ROLLBACK")
        locked = explainer(written, model)
        other.execute("BEGIN IMMEDIATE")
        (found,) = locked.explain_table(ROWS[:1] + 1)
    assert isinstance(found, StorageError)
    assert model.rows == 0  # it is found out before the model is asked


def test_mistakes_of_this_package_are_not_called_faults_of_the_file(path: Path) -> None:
    file = open_file(path)
    file.close()
    with pytest.raises(sqlite3.ProgrammingError), naming_faults(path):
        file.connection.execute("SELECT 1")


def test_what_fails_inside_a_transaction_is_undone(path: Path) -> None:
    file = open_file(path)

    def fail() -> None:
        with file.transaction(durable=True) as connection:
            connection.execute("INSERT INTO about VALUES ('model', 'm')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert file.connection.execute("SELECT * FROM about").fetchall() == []
    file.close()


# --- read-only media, and copies --------------------------------------------------------------------------------------


@pytest.fixture
def read_only(written: Path) -> Iterator[Path]:
    """The journal in a folder in which nothing can be written, by a user who is not root."""
    folder = Path(tempfile.mkdtemp())
    there = folder / "answers.db"
    shutil.copy(written, there)
    there.chmod(0o444)
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield there
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
def test_c12_a_journal_on_a_read_only_medium_is_read(read_only: Path) -> None:
    model = Model()
    here = explainer(read_only, model)
    assert list(here.explain_table(ROWS)) == list(Explainer(Model(), SPACE).explain_table(ROWS))
    assert model.rows == 0
    with pytest.raises(StorageError, match=r"is read-only and has no score of \d+ rows?: copy it to a place"):
        here.scores([[7, 8, 8]])
    assert model.rows == 0
    assert here.journal is not None
    assert here.journal.keep("batch alone", "7") == "7"
    assert os.listdir(read_only.parent) == ["answers.db"]
    with pytest.raises(InputError, match="about another model"):
        Explainer(model, SPACE, journal=Journal(read_only, model="other"))
    with pytest.raises(StorageError, match="is read-only"):
        Journal(read_only, model="").prune(before=1e12)


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
def test_c12_an_earlier_journal_on_a_read_only_medium_says_what_to_do(read_only: Path) -> None:
    root = os.geteuid() == 65534 and os.getuid() == 0
    if root:
        os.seteuid(0)
    read_only.chmod(0o644)
    with closing(sqlite3.connect(read_only)) as file:
        file.execute("PRAGMA journal_mode=DELETE")
        file.execute("DROP TABLE typed_answers")
    read_only.chmod(0o444)
    if root:
        os.seteuid(65534)
    with pytest.raises(StorageError, match="is read-only, and of an earlier version or empty: copy it"):
        explainer(read_only)


def test_c12_a_closed_journal_is_one_file(written: Path) -> None:
    assert os.listdir(written.parent) == ["answers.db"]


def test_c12_a_copy_without_the_wal_is_a_journal_that_lacks_the_last_answers(path: Path, tmp_path: Path) -> None:
    first = explainer(path)
    first.explain(ROWS[0])
    assert path.with_name("answers.db-wal").exists()  # it is open
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    model = Model()
    assert explainer(copy, model).explain(ROWS[0]) == first.explain(ROWS[0])
    assert model.rows > 0  # asked again, and nothing is wrong
