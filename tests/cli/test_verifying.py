"""`flipset verify` of a file with many explanations: one line for each that fails, a summary, and an exit code."""

import json
from pathlib import Path
from typing import Any

import pytest

from flipset import Explanation, read_explanations
from flipset.cli.exits import ERROR, FAILED, SUCCESS
from flipset.cli.options import ModelOptions, SpaceOptions
from flipset.cli.verifying import open_verifier, table_like
from flipset.results.verifying import Terms
from tests.cli.test_recheck import folder, run

__all__ = ["folder"]  # the fixture

OLD, NEW = "python:rechecked_models:old", "python:rechecked_models:new"
GIVEN = ("--data", "rows.csv", "--space", "space.toml", "--threshold", "0.5")


def test_all_are_proved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run("verify", "on_file.jsonl", OLD, *GIVEN) == SUCCESS
    assert " ".join(capsys.readouterr().out.split()).startswith(
        "By its name, this is the model of 20 explanations; the content was not compared. 20 of 20 explanations PROVED"
    )
    assert run("verify", "on_file.jsonl", OLD, "--data", "rows.csv") == SUCCESS
    assert "CONFIRMED, with the allowed ranges (give --space)" in " ".join(capsys.readouterr().out.split())


def test_each_that_fails_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = Path("on_file.jsonl").read_text(encoding="utf-8").splitlines()
    forged = json.loads(texts[1]) | {"queries": 3, "score": 0.25}
    lines = [texts[0], json.dumps(forged), "{", '{"error": "no such row"}', texts[2]]
    Path("mixed.jsonl").write_text("\n".join(lines), encoding="utf-8")
    capsys.readouterr()
    assert run("verify", "mixed.jsonl", OLD, *GIVEN) == FAILED
    first, second, third, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("row 1: NOT CONFIRMED: ")
    assert second.startswith("row 2: the line cannot be read: ")
    assert third == "row 3: no such row"
    assert " ".join(rest).startswith(
        "By its name, this is the model of 3 explanations; the content was not compared. 2 of 5 "
    )


def test_another_model_and_too_few_steps(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run("verify", "on_file.jsonl", NEW, *GIVEN) == FAILED
    out = capsys.readouterr().out
    assert "NOT CONFIRMED" in out
    assert run("verify", "on_file.jsonl", OLD, *GIVEN, "--max-steps", "5") == FAILED
    out = capsys.readouterr().out
    assert out.startswith("row 0: NOT DECIDED: not decided in 5 steps")
    assert "0 of 20 explanations" in out


def test_an_empty_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.jsonl").write_text("\n", encoding="utf-8")
    assert run("verify", "empty.jsonl", OLD) == ERROR
    assert "empty.jsonl has no explanations" in capsys.readouterr().err


def test_the_model_and_the_table_are_opened_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flipset.cli import inputs

    opened: list[str] = []
    read = inputs.read_data

    def counted(spec: str, id_column: str | None = None) -> Any:
        opened.append(spec)
        return read(spec, id_column)

    monkeypatch.setattr(inputs, "read_data", counted)
    assert run("verify", "on_file.jsonl", OLD, *GIVEN) == SUCCESS
    assert opened == ["rows.csv"]
    first = read_explanations("on_file.jsonl").first()
    assert list(table_like(first, read("rows.csv")).columns) == ["a", "b", "c"]
    verify = open_verifier(OLD, "rows.csv", ModelOptions(), SpaceOptions(), Terms(), lambda predict: predict, first)
    on_file = list(read_explanations("on_file.jsonl"))
    assert len(on_file) == 20
    assert all(isinstance(e, Explanation) and verify(e) for e in on_file)
