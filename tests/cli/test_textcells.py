"""A cell of text in a column of numbers costs its own row, also in a file of text."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from flipset.cli import app
from flipset.cli.textcells import as_rows, numbers_of, read_number

TABLE = """a,b,c,y
1,0.5,u,0
2,abc,v,1
3,0.7,u,1
x,0.9,v,0
5,,u,1
"""


def test_numbers_are_read_around_words() -> None:
    from io import StringIO

    frame = pd.read_csv(StringIO(TABLE))
    population = numbers_of(frame, ["a", "b", "c"])
    assert population["a"].tolist() == [1, 3, 5]
    assert str(population["a"].dtype) == "int64"
    assert population["b"].tolist()[:2] == [0.5, 0.7]
    assert population["c"].tolist() == ["u", "u", "u"]  # no cell of it is a number: it is no column of numbers
    rows = as_rows(frame, population)
    assert rows["a"].tolist() == [1, 2, 3, "x", 5]
    assert rows["b"].tolist()[1] == "abc"
    clean = pd.DataFrame({"a": [1, 2]})
    assert numbers_of(clean, ["a"]) is clean
    assert as_rows(clean, clean) is clean


@pytest.mark.parametrize("with_space", [True, False])
def test_a_word_in_a_file_costs_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_space: bool) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(TABLE, encoding="utf-8")
    Path("words_in_cells.py").write_text(
        "def score(rows):\n    return rows['a'] * 0.1 + rows['b'].fillna(0.5)\n", encoding="utf-8"
    )
    given: list[Any] = ["--increasing", "a,b", "--drop", "y"]
    if with_space:
        Path("clean.csv").write_text("a,b,c\n1,0.5,u\n3,0.7,u\n5,0.6,u\n", encoding="utf-8")
        _run("space", "python:words_in_cells:score", "clean.csv", "--increasing", "a,b", "-o", "space.toml")
        given = ["--space", "space.toml"]
    _run("table", "python:words_in_cells:score", "rows.csv", "-o", "out.csv", "--threshold", "1", *given, code=1)
    found = pd.read_csv("out.csv")
    assert found["error"].notna().tolist() == [False, True, False, True, False]
    assert found["error"][1].startswith("row 1: feature 'b': the row has 'abc'; expected a finite number")
    assert found["error"][3].startswith("row 3: feature 'a': the row has 'x'; expected a finite number")


def test_words_in_a_file_spoil_neither_an_audit_nor_a_verification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(TABLE, encoding="utf-8")
    Path("more_words.py").write_text(
        "def score(rows):\n    return rows['a'] * 0.1 + rows['b'].fillna(0.5)\n", encoding="utf-8"
    )
    given = ["python:more_words:score", "rows.csv", "--increasing", "a,b", "--drop", "y", "--threshold", "1"]
    _run("audit", *given)
    assert "2 rows left out; the first: row 1: feature 'b': the row has 'abc'" in capsys.readouterr().out
    _run("explain", *given, "--row", "0", "--proof", "p.json")
    _run("verify", "p.json", "python:more_words:score", "--data", "rows.csv", "--threshold", "1")
    assert "CONFIRMED, with the allowed ranges (give --space) taken from the file" in " ".join(
        capsys.readouterr().out.split()
    )


def _run(*arguments: Any, code: int = 0) -> None:
    try:
        app([str(argument) for argument in arguments])
    except SystemExit as ended:
        assert (ended.code or 0) == code
    else:
        assert not code


def test_c12_whole_numbers_of_hundreds_of_digits_stay_text() -> None:
    for digits in (308, 309, 400, 4_300, 5_000):
        text = "9" * digits
        assert read_number(text) == (int(text) if digits < 309 else text)
