"""`--id`, `--only`, `--options` and `--changes`: identifiers in every output of the commands, exactly as they are."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from flipset import Decision, Space
from flipset.cli import main

MINE = "def score(rows):\n    return (rows['income'] - rows['debt']) / 10\n"
CLIENTS = ["00123", "1e5", "NA", "", "007", "007"]
FRAME = pd.DataFrame({"client": CLIENTS, "income": [1, 2, 9, 3, 8, 8], "debt": [5, 6, 1, 6, 2, 2]})
DIRECTIONS = ["--increasing", "income", "--decreasing", "debt", "--threshold", "0.5"]
MODEL = "python:mine_by_client:score"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine_by_client.py").write_text(MINE, encoding="utf-8")
    FRAME.to_csv(tmp_path / "loans.csv", index=False)
    FRAME.to_json(tmp_path / "loans.jsonl", orient="records", lines=True)
    FRAME.to_parquet(tmp_path / "loans.parquet")
    FRAME.replace({"client": {"": "x"}}).set_index("client").to_parquet(tmp_path / "indexed.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def flipset(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def table(*more: str, data: str = "loans.csv") -> int:
    return flipset("table", MODEL, data, *DIRECTIONS, *more)


@pytest.mark.parametrize("data", ["loans.csv", "loans.jsonl", "loans.parquet"])
def test_every_output_has_them_as_they_are(folder: Path, data: str, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--options", "options.csv", "--changes", "changes.parquet", "--html", "report.html"]
    assert table("--id", "client", "-o", "out.csv", *more, data=data) == 0
    out = capsys.readouterr().out
    assert "client 00123: declined" in out
    assert "2 rows share their client with another row" in out
    assert "Written to out.csv, options.csv, changes.parquet and report.html." in out
    wide = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert wide["client"].tolist() == CLIENTS
    options = pd.read_csv("options.csv", dtype=str, keep_default_na=False)
    assert [CLIENTS[int(row)] for row in options["row"]] == options["client"].tolist()
    changes = pd.read_parquet("changes.parquet")
    assert changes["client"].tolist()[0] == "00123"
    assert "<td>00123</td>" in (folder / "report.html").read_text(encoding="utf-8")
    assert table("--id", "client", "-o", "out.jsonl", data=data) == 0
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["id"]["client"] or "" for line in lines] == CLIENTS


def test_a_command_may_be_repeated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a command has written, the same command may replace."""
    tables = ["-o", "out.jsonl", "--options", "options.csv", "--changes", "changes.parquet"]
    explain = ["explain", MODEL, "loans.csv", *DIRECTIONS, "--id", "client", "--row", "00123"]
    for _ in range(2):
        assert table("--id", "client", *tables) == 0
        assert flipset(*explain, "--proof", "one.json") == 0
        assert flipset(*explain, "--thresholds", "0.3,0.5", "--proof", "grades.jsonl") == 0
    assert flipset(*explain, "--proof", "loans.csv") == 2
    assert "--proof) is also an input" in capsys.readouterr().err


def test_a_space_file_has_the_decision_that_options_give(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--favorable", "below", "--outcomes", "refused,granted", "--score-label", "risk"]
    assert flipset("space", MODEL, "loans.csv", "--id", "client", *DIRECTIONS, *words, "-o", "space.toml") == 0
    text = (folder / "space.toml").read_text(encoding="utf-8")
    assert Space.from_toml(text).decision == Decision(0.5, "below", ("refused", "granted"), score_label="risk")
    assert '# score_format = "percent"' in text, "what was not given is there to be filled in"
    assert "# threshold" not in text
    assert flipset("explain", MODEL, "loans.csv", "--space", "space.toml", "--id", "client", "--row", "00123") == 0
    assert "Decision: granted (risk -0.4; a loan needs" not in (told := capsys.readouterr().out)
    assert "Decision: granted (risk -0.4; “granted” needs less than 0.5)" in told


def test_a_row_is_chosen_by_its_identifier(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explain = ["explain", MODEL, "loans.csv", *DIRECTIONS]
    assert flipset(*explain, "--id", "client", "--row", "00123", "--html", "one.html") == 0
    assert capsys.readouterr().out.startswith("Case: client 00123\nDecision: declined")
    assert "<title>flipset: client 00123</title>" in (folder / "one.html").read_text(encoding="utf-8")
    for row, words in {
        "123": "no row has this client; with --id, --row is an identifier, such as 00123",
        "007": "2 rows have this client, those with the numbers 4, 5; choose one of them without --id",
    }.items():
        assert flipset(*explain, "--id", "client", "--row", row) == 2
        assert words in capsys.readouterr().err
    assert flipset(*explain, "--drop", "client", "--row", "first") == 2
    assert "--row first: expected a number, counted from 0; give --id COLUMN" in capsys.readouterr().err
    assert flipset(*explain, "--drop", "client", "--row", "-1") == 2
    assert "the data have rows 0 to 5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--id", "clinet"], "--id clinet: the data have no such column; they have client, income, debt"),
        (["--id", "income", "--space", "space.toml"], "--id income is a column that the model sees"),
        (["--id", "client", "--only", "refused"], "only must be one of 'declined', 'approved', got 'refused'"),
        (["--id", "client", "--options", "options.jsonl"], "--options options.jsonl: expected a file ending in .csv"),
    ],
)
def test_what_is_refused_before_any_work(
    folder: Path, more: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--space" in more:
        assert flipset("space", MODEL, "loans.csv", "--drop", "client", *DIRECTIONS[:4], "-o", "space.toml") == 0
    directions = [] if "--space" in more else DIRECTIONS
    assert flipset("table", MODEL, "loans.csv", *directions, "-o", "out.csv", *more) == 2
    assert words in capsys.readouterr().err
    assert not (folder / "out.csv").exists()


def test_only_the_declined_and_a_run_that_is_resumed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import flipset.explain.explanations as written

    whole = ["--id", "client", "--only", "declined", "-o", "out.csv"]
    assert table(*whole) == 0
    expected = (folder / "out.csv").read_bytes()
    wide = pd.read_csv("out.csv")
    assert (wide["status"] == "not asked").tolist() == wide["decision"].tolist()
    assert (wide.loc[wide["decision"], "queries"] == 1).all()
    (folder / "out.csv").unlink()

    def full(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(written.Explanations, "write", full)
        assert table(*whole) == 130
    assert (folder / "out.csv.part").exists()
    assert table("--id", "client", "-o", "out.csv", "--resume") == 2  # another request
    assert table(*whole, "--resume") == 0
    assert (folder / "out.csv").read_bytes() == expected


def test_the_named_index_of_a_file_identifies_rows(folder: Path) -> None:
    assert table("-o", "out.csv", data="indexed.parquet") == 0
    assert pd.read_csv("out.csv", dtype=str, keep_default_na=False)["client"].tolist()[0] == "00123"


def test_rechecks_and_verification_name_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert table("--id", "client", "-o", "out.jsonl") == 0
    (folder / "mine_later.py").write_text(MINE.replace("/ 10", "/ 20"), encoding="utf-8")
    capsys.readouterr()
    assert flipset("recheck", "out.jsonl", "python:mine_later:score", "--threshold", "0.5", "-o", "report.csv",
                   "--data", "loans.csv") == 1  # fmt: skip
    report = pd.read_csv("report.csv", dtype=str, keep_default_na=False)
    assert report.columns[:2].tolist() == ["row", "client"]
    assert report["client"].tolist() == CLIENTS
    assert flipset("verify", "out.jsonl", "python:mine_later:score", "--threshold", "0.5", "--data", "loans.csv") == 1
    assert "row 0 (client 00123): NOT CONFIRMED" in capsys.readouterr().out
