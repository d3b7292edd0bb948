"""Two processes that share a journal: each row is asked once, by whoever claims it first or outlives the other."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flipset import Journal
from flipset.journal import claims as claims_module
from flipset.journal.claims import Claims
from flipset.journal.file import JournalFile, open_file
from tests.patience import PATIENCE

ROWS = np.arange(12.0).reshape(4, 3)

ASKING = """
import json, sys, time
import numpy as np
from flipset import Journal
from flipset.journal import journal as module

name, path, blocks = sys.argv[1], sys.argv[2], sys.argv[3] == "blocks"

def say(word):
    print(word, flush=True)

def predict(rows):
    say("asking")
    if blocks:
        sys.stdin.readline()
    return np.asarray(rows).sum(axis=1)

def waiting(seconds, sleep=time.sleep):
    say("waiting")
    sleep(seconds)

module.time.sleep = waiting
answers = Journal(path, model="m").before(predict)(np.arange(12.0).reshape(4, 3))
say(json.dumps(answers.tolist()))
"""


class Process:
    """A process that asks the rows, and says what it does."""

    def __init__(self, path: Path, *, blocks: bool) -> None:
        given = [sys.executable, "-c", ASKING, "p", str(path), "blocks" if blocks else "-"]
        self.child = subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def says(self) -> str:
        assert self.child.stdout is not None
        return self.child.stdout.readline().strip()

    def go_on(self) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write("\n")
        self.child.stdin.flush()

    def rest(self) -> list[str]:
        out, _ = self.child.communicate(timeout=PATIENCE)
        return out.split("\n")[:-1]


def test_c12_a_row_that_another_process_asks_is_waited_for(tmp_path: Path) -> None:
    first = Process(tmp_path / "answers.db", blocks=True)
    assert first.says() == "asking"
    second = Process(tmp_path / "answers.db", blocks=False)
    assert second.says() == "waiting"
    first.go_on()
    expected = json.dumps(ROWS.sum(axis=1).tolist())
    assert first.rest() == [expected]
    *waited, last = second.rest()
    assert (set(waited) | {"waiting"}, last) == ({"waiting"}, expected)
    assert os.listdir(tmp_path) == ["answers.db"]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
def test_c12_a_row_is_waited_for_also_under_another_name_of_the_journal(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.db"
    link.symlink_to(tmp_path / "answers.db")
    first = Process(tmp_path / "answers.db", blocks=True)
    assert first.says() == "asking"
    second = Process(link, blocks=False)
    assert second.says() == "waiting"
    first.go_on()
    first.rest()
    assert "asking" not in second.rest()
    assert os.listdir(link.parent) == ["link.db"]


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_c12_rows_of_a_process_that_was_killed_are_taken_over(tmp_path: Path) -> None:
    first = Process(tmp_path / "answers.db", blocks=True)
    assert first.says() == "asking"
    second = Process(tmp_path / "answers.db", blocks=False)
    assert second.says() == "waiting"
    first.child.send_signal(signal.SIGKILL)
    first.rest()
    *before, asked, answers = second.rest()
    assert set(before) <= {"waiting"}
    assert (asked, answers) == ("asking", json.dumps(ROWS.sum(axis=1).tolist()))
    assert os.listdir(tmp_path) == ["answers.db"]  # what the first left is cleared away


TABLE = """
import json, os, sys
import numpy as np
from flipset import Explainer, Feature, Journal, Space

log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def predict(rows):
    table = np.asarray(rows, dtype=float)
    os.write(log, (json.dumps(table.tolist()) + "\\n").encode())  # one line a call
    return 1 / (1 + np.exp(14 - table.sum(axis=1)))

space = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abcd"])
rows = np.random.default_rng(0).integers(0, 6, (40, 4))
explainer = Explainer(predict, space, journal=Journal(sys.argv[1], model="m"))
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps([e.to_json() for e in explainer.explain_table(rows, width=4, batch=4)]), flush=True)
"""


def test_c12_two_tables_at_the_same_time_ask_each_row_once(tmp_path: Path) -> None:
    given = [sys.executable, "-c", TABLE, str(tmp_path / "answers.db"), str(tmp_path / "asked.txt")]
    both = [subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for child in both:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in both:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    first, second = [child.communicate(timeout=PATIENCE)[0] for child in both]
    assert first == second != ""
    asked = Counter(
        tuple(row) for line in (tmp_path / "asked.txt").read_text().splitlines() for row in json.loads(line)
    )
    assert set(asked.values()) == {1}


# --- one by one -------------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.db"


def take(file: JournalFile, claims: Claims, *rows: str) -> list[str]:
    with file.transaction(durable=False) as connection:
        return claims.take(connection, rows)


def test_a_claim_holds_until_it_is_given_up(path: Path) -> None:
    file, mine, theirs = open_file(path), Claims(path), Claims(path)
    assert take(file, mine, "1", "2") == ["1", "2"]
    assert take(file, theirs, "1", "2", "3") == ["3"]
    assert (mine.held, theirs.held) == ({"1", "2"}, {"3"})
    with file.transaction(durable=False) as connection:
        mine.release(connection, ["1"])
        theirs.release(connection, ["2"])  # not theirs to give up
    assert take(file, theirs, "1", "2") == ["1"]
    for one in (mine, theirs):
        one.abandon()
    file.close()
    assert os.listdir(path.parent) == ["answers.db"]


def test_whoever_abandons_its_claims_counts_as_dead(path: Path) -> None:
    file, mine, theirs = open_file(path), Claims(path), Claims(path)
    take(file, mine, "1")
    mine.abandon()
    assert take(file, theirs, "1") == ["1"]
    assert take(file, mine, "1") == []  # as a new owner
    for one in (mine, theirs):
        one.abandon()
    file.close()


def test_a_claim_ends_by_itself_in_the_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, mine, theirs = open_file(path), Claims(path), Claims(path)
    take(file, mine, "1")
    monkeypatch.setattr(claims_module, "LEASE", -1)
    assert take(file, theirs, "1") == ["1"]
    for one in (mine, theirs):
        one.abandon()
    file.close()


def test_many_rows_are_claimed_in_parts(path: Path) -> None:
    file, mine, theirs = open_file(path), Claims(path), Claims(path)
    rows = [str(i) for i in range(2 * claims_module.AT_A_TIME + 1)]
    assert take(file, mine, *rows) == rows
    assert take(file, theirs, *rows) == []
    with file.transaction(durable=False) as connection:
        mine.release(connection, rows)
    assert take(file, theirs, *rows) == rows
    for one in (mine, theirs):
        one.abandon()
    file.close()


def test_claims_are_gone_when_the_model_fails(path: Path) -> None:
    def fail(rows: Any) -> Any:
        raise ValueError("no")

    journal, other = Journal(path, model="m"), Journal(path, model="m")
    with pytest.raises(Exception, match="the model raised ValueError"):
        journal.before(fail)(ROWS)
    assert other.before(lambda rows: np.asarray(rows).sum(axis=1))(ROWS).tolist() == ROWS.sum(axis=1).tolist()
    for one in (journal, other):
        one.close()
    with closing(open_file(path).connection) as file:
        assert file.execute("SELECT * FROM claims").fetchall() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_that_was_forked_off_while_rows_are_asked_asks_its_own(path: Path) -> None:
    journal = Journal(path, model="m")

    def predict(rows: Any) -> Any:
        child = os.fork()
        if not child:  # the rows are claimed by the parent, which waits for this child: it must not wait for them
            answers = journal.before(lambda rows: np.asarray(rows).sum(axis=1))(ROWS + 100)
            os._exit(0 if answers.tolist() == (ROWS + 100).sum(axis=1).tolist() else 1)
        _, status = os.waitpid(child, 0)
        return np.asarray(rows).sum(axis=1) + os.waitstatus_to_exitcode(status)

    assert journal.before(predict)(ROWS).tolist() == ROWS.sum(axis=1).tolist()
