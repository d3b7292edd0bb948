"""`flipset recheck`: exit codes for monitoring, reports in every format, and files that are partly bad."""

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Feature, Space, cli
from flipset.cli.exits import ERROR, FAILED, NONE_EXPLAINED, STOPPED, SUCCESS

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])
ROWS = np.random.default_rng(0).integers(0, 6, (20, 3))

MODELS = """
from flipset import Unavailable

def old(rows):
    return (rows["a"] + rows["b"] + rows["c"]).to_numpy() >= 14

def new(rows):
    return (rows["a"] + rows["b"] + rows["c"]).to_numpy() >= 15

def never(rows):
    raise ValueError("never")

def away(rows):
    raise Unavailable("nobody is there")

def arrays(rows):
    return rows[:, 0] + rows[:, 1] + rows[:, 2]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "rechecked_models", raising=False)
    Path("rechecked_models.py").write_text(MODELS, encoding="utf-8")
    Path("space.toml").write_text(SPACE.to_toml(), encoding="utf-8")
    pd.DataFrame(ROWS, columns=list("abc")).to_csv("rows.csv", index=False)
    given = ("rows.csv", "--space", "space.toml", "-o", "on_file.jsonl")
    assert run("table", "python:rechecked_models:old", *given) == SUCCESS
    return tmp_path


def run(*arguments: str) -> Any:
    """Return the exit code."""
    try:
        cli.main(arguments)
    except SystemExit as ended:
        return ended.code or SUCCESS
    return SUCCESS


def recheck(
    model: str, *options: str, file: str = "on_file.jsonl", data: Sequence[str] = ("--data", "rows.csv")
) -> Any:
    return run("recheck", file, f"python:rechecked_models:{model}", *data, *options)


def lines(path: str) -> list[dict[str, str]]:
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_same_model_keeps_every_promise(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recheck("old", "-o", "report.csv") == SUCCESS
    out = capsys.readouterr().out
    assert "20 of 20 promises hold; 0 people need a new letter." in out
    assert "Written to report.csv." in out
    assert [line["proof_holds"] for line in lines("report.csv")] == ["True"] * 20
    assert recheck("old", "-o", "report.csv") == SUCCESS  # a report of an earlier run is replaced


def test_a_new_model_breaks_some_and_a_repair_makes_them_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recheck("new", "-o", "report.csv") == FAILED
    broken = [line for line in lines("report.csv") if line["needs_new_letter"] == "True"]
    assert f"{len(broken)} people need a new letter" in capsys.readouterr().out
    assert broken
    assert recheck("new", "--repair", "--space", "space.toml", "-o", "report.jsonl") == FAILED
    data = [json.loads(line) for line in Path("report.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [one["row"] for one in data] == list(range(20))
    assert all(one["repaired"] for one in data if one["needs_new_letter"])
    assert (
        run("table", "python:rechecked_models:new", "rows.csv", "--space", "space.toml", "-o", "fresh.jsonl") == SUCCESS
    )
    fresh = [json.loads(line) for line in Path("fresh.jsonl").read_text(encoding="utf-8").splitlines()]
    for one, other in zip(data, fresh, strict=True):
        if one["repaired"]:
            same = ("flipsets", "counterfactuals", "reasons", "proof", "size")
            assert [one["repaired"][name] for name in same] == [other[name] for name in same]
    assert recheck("new", "--repair", "--space", "space.toml", "--max-changes", "1", "-o", "report.html") == FAILED
    assert "New letters needed" in Path("report.html").read_text(encoding="utf-8")


def test_bad_lines_cost_themselves(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = Path("on_file.jsonl").read_text(encoding="utf-8").splitlines()
    Path("mixed.jsonl").write_text("\n".join(["{", good[0], '{"error": "no such row"}']), encoding="utf-8")
    assert recheck("old", "-o", "report.csv", file="mixed.jsonl") == FAILED
    assert "2 explanations could not be rechecked." in capsys.readouterr().out
    assert [bool(line["error"]) for line in lines("report.csv")] == [True, False, True]


def test_no_explanation_can_be_rechecked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recheck("never", "-o", "report.csv") == NONE_EXPLAINED
    assert "no explanation could be rechecked" in capsys.readouterr().err
    assert recheck("away", "-o", "other.csv") == STOPPED
    assert not Path("other.csv").exists()


def test_without_a_table_models_are_given_arrays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recheck("arrays", "--threshold", "14", "-o", "report.csv", data=()) == SUCCESS
    out = " ".join(capsys.readouterr().out.split())
    assert (
        "20 explanations were made with another threshold. Everything is compared by the current threshold, 14." in out
    )


def test_a_journal_answers_the_second_time(folder: Path) -> None:
    given = ("--space", "space.toml", "--journal", "answers.db")
    assert run("table", "python:rechecked_models:old", "rows.csv", *given, "-o", "again.jsonl") == SUCCESS
    assert recheck("old", *given, "-o", "report.csv") == SUCCESS
    assert recheck("old", *given, "--repair", "-o", "report.csv") == SUCCESS
    assert recheck("old", "--journal", "answers.db", "-o", "report.csv") == ERROR  # a journal is about one space


def test_limits(folder: Path) -> None:
    assert recheck("old", "--max-table-queries", "30", "-o", "report.csv") == FAILED
    assert sum(int(line["queries"]) for line in lines("report.csv")) <= 30


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-o", "report.txt"), "expected a file ending in .csv, .jsonl, .html"),
        (("-o", "on_file.jsonl"), "is also an input"),
        (("--max-changes", "2", "-o", "report.csv"), "add --repair"),
        (("--url", "http://127.0.0.1:9/infer", "-o", "report.csv"), "MODEL or --url"),
    ],
)
def test_what_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], words: str
) -> None:
    assert recheck("old", *options) == ERROR
    assert words in capsys.readouterr().err


def test_what_is_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recheck("old", "--repair", "-o", "report.csv", data=()) == ERROR
    assert "--repair needs --data" in capsys.readouterr().err
    assert recheck("old", "--space", "space.toml", "-o", "report.csv", data=()) == ERROR
    assert "allowed changes need --data" in capsys.readouterr().err
    assert recheck("old", "-o", "report.csv", file="absent.jsonl") == ERROR
    assert "there is no file absent.jsonl" in capsys.readouterr().err
    Path("empty.jsonl").write_text("", encoding="utf-8")
    assert recheck("old", "-o", "report.csv", file="empty.jsonl") == ERROR
    assert "has no explanation" in capsys.readouterr().err


def test_without_a_report_the_rows_that_need_attention_are_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recheck("new") == FAILED
    out = capsys.readouterr().out
    assert "Rows that need attention:" in out
    assert "no longer enough: " in out
    assert "Written to" not in out
    assert recheck("old") == SUCCESS
    assert "attention" not in capsys.readouterr().out


def test_new_explanations_are_verified_and_rechecked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space = ("--space", "space.toml")
    assert recheck("new", "--repair", *space, "--new-explanations", "new.jsonl") == FAILED
    assert "written to new.jsonl." in capsys.readouterr().out
    given = ("--data", "rows.csv", *space)
    assert run("verify", "new.jsonl", "python:rechecked_models:new", *given) == SUCCESS
    assert recheck("new", *space, file="new.jsonl") == SUCCESS
    capsys.readouterr()
    assert recheck("new", "--new-explanations", "new.jsonl") == ERROR
    assert "--new-explanations needs --repair" in capsys.readouterr().err
    assert recheck("new", "--repair", *space, "--new-explanations", "new.csv") == ERROR
    assert "new.csv: expected a file ending in .jsonl" in capsys.readouterr().err


def test_a_narrower_space_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recheck("old", "--space", "space.toml", "--fix", "a") == FAILED
    out = " ".join(capsys.readouterr().out.split())
    assert "20 of 20 promises hold" in out
    assert "no longer allowed by the space" in out
    assert "(a is held fixed)" in out
    assert recheck("old", "--space", "space.toml") == SUCCESS
    assert "no longer allowed" not in capsys.readouterr().out
