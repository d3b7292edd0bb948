"""Exit codes say whose fault it was, and what was finished before a fault is kept, named and gone on with."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import (
    BudgetExhausted,
    Explanations,
    Feature,
    InputError,
    OracleError,
    Space,
    StorageError,
    Unavailable,
    WorkerLost,
    cli,
)
from flipset.cli.exits import (
    ERROR,
    FAILED,
    INTERRUPTED,
    LIMITED,
    MEANINGS,
    NONE_EXPLAINED,
    STOPPED,
    SUCCESS,
    code_for,
    end_by_rows,
    one_line,
)
from tests.patience import PATIENCE

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])
ROWS = np.random.default_rng(0).integers(0, 6, (20, 3))

LIVE = """
import os

def approve(rows):
    return (rows["a"] + rows["b"] + rows["c"]).to_numpy() >= 14

def odd(rows):
    if (rows["a"] == 5).any():
        raise ValueError("five")
    return approve(rows)

def never(rows):
    raise ValueError("never")

def away(rows):
    if os.path.exists("away"):
        raise ConnectionRefusedError("away")
    with open("asked.txt", "a") as log:
        log.write("x")
    if os.path.getsize("asked.txt") == 8 and not os.path.exists("back"):
        open("away", "w").close()
    return approve(rows)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "live_exits", raising=False)
    Path("live_exits.py").write_text(LIVE, encoding="utf-8")
    Path("space.toml").write_text(SPACE.to_toml(), encoding="utf-8")
    pd.DataFrame(ROWS, columns=list("abc")).to_csv("rows.csv", index=False)
    return tmp_path


def run_command(*arguments: str) -> Any:
    """Return the exit code."""
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    return ended.value.code


def table(model: str, *options: str) -> Any:
    return run_command("table", f"python:live_exits:{model}", "rows.csv", "--space", "space.toml", *options)


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        ("approve", SUCCESS, ""),
        ("odd", FAILED, r"flipset: \d+ of 20 rows could not be explained; the output says why\n"),
        ("never", NONE_EXPLAINED, r"flipset: no row could be explained; the output says why\n"),
    ],
)
def test_c7_the_exit_code_says_whether_all_some_or_no_rows_were_explained(
    folder: Path, capsys: pytest.CaptureFixture[str], model: str, code: int, words: str
) -> None:
    assert table(model, "-o", "out.csv") == code
    out, err = capsys.readouterr()
    assert re.fullmatch(words, err)
    failed = pd.read_csv("out.csv")["error"].notna().sum()
    first, _, _ = out.partition("\n")
    assert first.startswith("20 rows: ")
    assert first.endswith(f" approved, {failed} could not be explained" if failed else " approved")
    assert not Path("out.csv.part").exists()


def test_c3_a_network_that_fails_stops_the_run_which_goes_on_later(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("-o", "out.csv", "--width", "2", "--batch", "4")
    assert table("away", *given) == STOPPED
    err = capsys.readouterr().err
    assert re.fullmatch(
        r"flipset: the model raised ConnectionRefusedError .*: away\. (\d+) of 20 rows are finished and kept in "
        r"out\.csv\.part; to continue, give the same command with --resume\n",
        err,
    )
    kept = Path("out.csv.part").read_text().count("\n") - 1
    assert f" {kept} of 20 rows" in err
    assert not Path("out.csv").exists()
    Path("away").unlink()
    Path("back").touch()
    assert table("away", *given, "--resume") == SUCCESS
    assert table("approve", "-o", "whole.csv", "--batch", "4") == SUCCESS
    assert Path("out.csv").read_bytes() == Path("whole.csv").read_bytes()


SMALL_DISK = """
import resource, sys
from flipset.cli import main

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), -1))  # writes beyond this fail, as on a full disk
main(sys.argv[2:])
"""


def on_a_small_disk(size: int, *arguments: str) -> "subprocess.CompletedProcess[str]":
    given = [sys.executable, "-c", SMALL_DISK, str(size), *arguments]
    return subprocess.run(given, capture_output=True, text=True, check=False, timeout=PATIENCE)


TABLE = ("table", "python:live_exits:approve", "rows.csv", "--space", "space.toml", "-o", "out.csv", "--batch", "4")


@pytest.mark.skipif(os.name == "nt", reason="the size of files cannot be limited")
def test_c3_a_full_disk_under_a_journal_stops_the_run_in_one_line(folder: Path) -> None:
    journal = ("--journal", "answers.db", "--width", "2")
    done = on_a_small_disk(90_000, *TABLE, *journal)
    assert done.returncode == STOPPED, done.stderr
    assert re.fullmatch(
        r"flipset: the journal answers\.db cannot be .*"
        r"(\d+ of 20 rows are finished and kept in out\.csv\.part; .*|No row is finished)\n",
        done.stderr,
    )
    assert run_command(*TABLE, *journal, "--resume") == SUCCESS
    assert pd.read_csv("out.csv")["error"].isna().all()


@pytest.mark.skipif(os.name == "nt", reason="the size of files cannot be limited")
def test_c3_a_full_disk_under_the_unfinished_table_stops_the_run_in_one_line(folder: Path) -> None:
    done = on_a_small_disk(5_000, *TABLE)
    assert done.returncode == STOPPED, done.stderr
    assert re.fullmatch(
        r"flipset: out\.csv\.part cannot be written: File too large\. (\d+) of 20 rows are finished and kept .*\n",
        done.stderr,
    )
    assert run_command(*TABLE, "--resume") == SUCCESS
    assert run_command(*TABLE[:-4], "-o", "whole.csv", *TABLE[-2:]) == SUCCESS
    assert Path("out.csv").read_bytes() == Path("whole.csv").read_bytes()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_c3_output_that_cannot_be_printed_is_one_line(folder: Path, unbuffered: str) -> None:
    given = ("space", "python:live_exits:approve", "rows.csv", "--space", "space.toml")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from flipset.cli import main; main()", *given],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},  # the fault comes at the end, or at the first line
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (STOPPED, "flipset: No space left on device\n")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("a"), ERROR),
        (OracleError("b", []), ERROR),
        (Unavailable("c"), STOPPED),
        (StorageError("d"), STOPPED),
        (WorkerLost("e"), STOPPED),
        (BudgetExhausted("5 rows"), LIMITED),
        (OSError(errno.ENOSPC, "f"), STOPPED),
        (PermissionError(errno.EACCES, "g"), ERROR),
    ],
)
def test_each_error_has_its_code(error: Exception, code: int) -> None:
    assert code_for(error) == code


def test_errors_of_the_system_name_the_file() -> None:
    assert one_line(PermissionError(errno.EACCES, "Permission denied", "x.csv")) == "flipset: Permission denied (x.csv)"
    assert one_line(InputError("two\n  lines")) == "flipset: two lines"


def test_a_table_without_failures_goes_on() -> None:
    end_by_rows(0, 3)


@pytest.mark.parametrize(
    ("errors", "limited", "code"),
    [(0, 1, LIMITED), (0, 3, LIMITED), (1, 1, FAILED), (2, 1, FAILED), (3, 0, NONE_EXPLAINED)],
)
def test_errors_of_rows_come_before_limits(errors: int, limited: int, code: int) -> None:
    with pytest.raises(SystemExit) as ended:
        end_by_rows(errors, 3, limited)
    assert ended.value.code == code


@pytest.mark.parametrize(
    "limit",
    [
        ("--max-queries", "2"),
        ("--max-seconds", "0"),
        ("--max-table-queries", "1"),
        ("--max-table-queries", "30"),
        ("--max-table-seconds", "0"),
    ],
)
def test_every_limit_of_a_table_has_the_same_code(
    folder: Path, capsys: pytest.CaptureFixture[str], limit: tuple[str, str]
) -> None:
    assert table("approve", "-o", "out.csv", *limit) == LIMITED
    assert re.fullmatch(r"flipset: a limit was reached for \d+ of 20 rows\n", capsys.readouterr().err)
    assert len(pd.read_csv("out.csv")) == 20
    assert not Path("out.csv.part").exists()


def test_every_limit_of_one_row_has_the_same_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("python:live_exits:approve", "rows.csv", "--space", "space.toml", "--row", "3")
    for limit in (("--max-queries", "2"), ("--max-seconds", "0")):
        assert run_command("explain", *given, *limit) == LIMITED
    assert run_command("explain", *given, "--max-queries", "1000", "--proof", "why.json") == SUCCESS
    check = ("verify", "why.json", "python:live_exits:approve", "--space", "space.toml", "--data", "rows.csv")
    for limit in (("--max-steps", "1"), ("--max-seconds", "0")):
        assert run_command(*check, *limit) == LIMITED
        assert "NOT DECIDED" in capsys.readouterr().out
    assert run_command(*check) == SUCCESS


def test_a_limit_that_a_resumed_run_finds_in_the_unfinished_table_has_the_same_code(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise StorageError("full")

    given = ("-o", "out.csv", "--max-table-queries", "30")
    with monkeypatch.context() as patched:
        patched.setattr(Explanations, "write", full)
        assert table("approve", *given) == STOPPED
    assert '"limit": true' in Path("out.csv.part").read_text()
    assert table("approve", *given, "--resume") == LIMITED


INTERRUPTING = """
import os, signal, sys
from flipset.cli import main
import live_exits

seen = []

def approve(rows):
    seen.append(len(rows))
    if len(seen) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return live_exits.approve(rows)

live_exits.interrupting = approve
main(sys.argv[1:])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_an_interrupted_command_that_reports_what_is_proved_says_so(folder: Path) -> None:
    given = ("python:live_exits:interrupting", "rows.csv", "--space", "space.toml", "--row", "3", "--batch", "1")
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTING, "explain", *given],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == INTERRUPTED, done.stderr
    assert "Traceback" not in done.stderr


def test_the_documents_list_the_codes() -> None:
    text = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| (\d+) \| (.*) \|$", text, flags=re.MULTILINE))
    assert {code: meaning.replace("`", "").rstrip(".") for code, meaning in listed.items()} == {
        str(code): meaning for code, meaning in MEANINGS.items()
    }


def test_c12_a_proof_is_not_confirmed_from_the_journal_of_another_model(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    explain = ("explain", "python:live_exits:approve", "rows.csv", "--space", "space.toml", "--row", "3")
    assert run_command(*explain, "--journal", "answers.db", "--proof", "why.json") == SUCCESS
    capsys.readouterr()
    given = ("--journal", "answers.db", "--space", "space.toml", "--threshold", "0.5", "--data", "rows.csv")
    assert run_command("verify", "why.json", "python:live_exits:odd", *given) == ERROR
    error = capsys.readouterr().err
    assert re.search("about another model: python:live_exits:approve [^,]*, not python:live_exits:odd", error)
    assert run_command("verify", "why.json", "python:live_exits:approve", *given) == SUCCESS
    assert "PROVED" in capsys.readouterr().out
    assert run_command("verify", "why.json", *given) == SUCCESS
    out = " ".join(capsys.readouterr().out.split())
    assert "recorded for the model python:live_exits:approve" in out
    assert "CONFIRMED, with the name of the model (give MODEL) taken from the files" in out
