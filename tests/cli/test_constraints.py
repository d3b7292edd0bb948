"""Rules between columns on the command line."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from flipset import Explanation, Space
from flipset.cli import main
from flipset.space.told_rules import ToldRules
from tests.ruled import CONSTRAINTS, ruled_space, table

MODEL = "python:tests.ruled:score"
DIRECTIONS = ["--increasing", "satisfactory,income,years", "--decreasing", "late_60,late_90,debt", "--threshold", "0.5"]
GIVEN = [part for text in CONSTRAINTS for part in ("--constraint", text)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table().to_csv("loans.csv", index=False)
    Path("space.toml").write_text(ruled_space(with_rules=False).to_toml(), encoding="utf-8")
    Path("rules.toml").write_text(ruled_space().to_toml(), encoding="utf-8")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    out, err = capsys.readouterr()
    assert (ended.value.code or 0) == code, (out, err)
    return out if code in (0, 1) else err


def keeps(row: Mapping[str, Any]) -> bool:
    return row["late_90"] <= row["late_60"] and row["satisfactory"] <= row["total"]  # type: ignore[no-any-return] # cells of any type


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("source", [DIRECTIONS, ["--space", "space.toml", "--threshold", "0.5"]], ids=["data", "file"])
def test_a_row_keeps_the_constraints_that_are_given(capsys: pytest.CaptureFixture[str], source: list[str]) -> None:
    asked = ["explain", MODEL, "loans.csv", "--row", "1", *source, "--more", "4", "--json"]
    free, e = (Explanation.from_json(run(capsys, *asked, *more)) for more in ([], GIVEN))
    assert free.rules is None
    assert isinstance(e.rules, ToldRules)
    assert [one.text for one in e.rules.constraints] == list(CONSTRAINTS)
    assert not all(keeps(one.row) for one in free.promised)
    assert all(keeps(one.row) for one in e.promised)


@pytest.mark.usefixtures("folder")
def test_the_command_that_writes_a_space_writes_them_into_it(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "space", MODEL, "loans.csv", *DIRECTIONS[:4], *GIVEN)
    assert Space.from_toml(text).constraints == CONSTRAINTS
    # With the words for the decision, which are commented out, they are still not part of a table.
    start = text.index("# [decision]")
    end = text.index("[[feature]]", start)
    filled = text[:start] + re.sub("^# ", "", text[start:end], flags=re.MULTILINE) + text[end:]
    assert Space.from_toml(filled).constraints == CONSTRAINTS
    assert Space.from_toml(filled).decision.threshold == 0.1


@pytest.mark.usefixtures("folder")
def test_constraints_are_added_to_those_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    further = "late_60 <= total"
    given = ["--space", "rules.toml", "--constraint", CONSTRAINTS[0], "--constraint", further]
    e = Explanation.from_json(run(capsys, "explain", MODEL, "loans.csv", "--row", "0", *given, "--json"))
    assert e.rules is not None
    assert [one.text for one in e.rules.constraints] == [*CONSTRAINTS, further]


@pytest.mark.usefixtures("folder")
def test_a_table_and_what_checks_it(capsys: pytest.CaptureFixture[str]) -> None:
    space = ["--space", "space.toml", *GIVEN]
    run(capsys, "table", MODEL, "loans.csv", *space, "-o", "out.jsonl")
    assert all(json.loads(line)["rules"]["constraints"] for line in Path("out.jsonl").read_text().splitlines())
    text = run(capsys, "verify", "out.jsonl", MODEL, "--data", "loans.csv", *space)
    assert "10 of 10 explanations PROVED" in text
    Path("one.json").write_text(Path("out.jsonl").read_text().splitlines()[0])
    text = run(capsys, "verify", "one.json", MODEL, "--data", "loans.csv", "--space", "space.toml", code=1)
    text = " ".join(text.split())
    assert "other constraints than those of the space: the explanation also has 'late_90 <= late_60'" in text
    assert "--constraint" in text
    text = run(capsys, "recheck", "out.jsonl", MODEL, "--data", "loans.csv", *space, "-o", "checked.csv")
    assert "10 explanations: 10 hold" in " ".join(text.split()) or "hold" in text
    assert set(pd.read_csv("checked.csv")["holds"]) <= {True}


@pytest.mark.usefixtures("folder")
def test_what_is_taken_from_the_file_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "explain", MODEL, "loans.csv", "--row", "9", "--space", "rules.toml", "--proof", "why.json")
    check = ["verify", "why.json", MODEL, "--threshold", "0.5"]
    text = " ".join(run(capsys, *check).split())
    assert "Constraints that the row itself does not keep, and that no option makes worse: late_90 <= late_60" in text
    assert "Computed columns: dti = debt / income; age = age + (years - years.before)" in text
    assert "CONFIRMED, with the allowed ranges and the rules (give --space) taken from the file" in text
    text = " ".join(run(capsys, *check, "--space", "rules.toml").split())
    assert "CONFIRMED, with the values at which columns of constraints may stop (give --data) taken from" in text
    assert "PROVED, given" in run(capsys, *check, "--space", "rules.toml", "--data", "loans.csv")


@pytest.mark.usefixtures("folder")
def test_letters_on_file_that_break_a_constraint_of_today(capsys: pytest.CaptureFixture[str]) -> None:
    """A recheck says which options are no longer allowed, and a repair finds others."""
    run(capsys, "table", MODEL, "loans.csv", "--space", "space.toml", "--more", "3", "-o", "old.jsonl")
    again = ["recheck", "old.jsonl", MODEL, "--data", "loans.csv", "--space", "space.toml", *GIVEN]
    text = " ".join(run(capsys, *again, code=1).split())
    assert "no longer allowed by the space, whatever the model says" in text
    assert "(it does not keep late_90 <= late_60)" in text or "(it does not keep satisfactory <= total)" in text
    run(capsys, *again, "--repair", "--new-explanations", "new.jsonl", code=1)
    new = [Explanation.from_json(line) for line in Path("new.jsonl").read_text(encoding="utf-8").splitlines()]
    kept = [e for e in new if e.rules is not None and not e.rules.broken]
    assert kept
    assert all(keeps(one.row) for e in kept for one in e.promised)


@pytest.mark.usefixtures("folder")
def test_a_text_that_cannot_be_read_is_shown_with_a_caret(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["explain", MODEL, "loans.csv", "--row", "0", *DIRECTIONS]
    lines = run(capsys, *asked, "--constraint", "late_90 <= <= late_60", code=2).splitlines()
    assert lines[0].startswith("flipset: the constraint 'late_90 <= <= late_60' cannot be read: expected a column")
    assert lines[1:] == ["    late_90 <= <= late_60", "               ^"]
    (line,) = run(capsys, *asked, "--constraint", "late_90 <= late_61", code=2).splitlines()
    assert line.endswith("there is no column 'late_61'; did you mean 'late_60'?")
