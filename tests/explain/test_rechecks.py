"""`Rechecks`: a sequence with a summary, as a frame and in files of every format."""

import csv
import json
from pathlib import Path

import pytest

from flipset import InputError, Rechecks
from flipset.results.rechecks import COLUMNS
from tests.results.test_rechecks import ALL, BROKEN, CHANGED, KEPT

RECHECKS = Rechecks(tuple(ALL), queries=20, rounds=3)


def test_it_is_a_sequence() -> None:
    assert len(RECHECKS) == 5
    assert list(RECHECKS) == ALL
    assert RECHECKS[2] is BROKEN
    assert RECHECKS[2:4] == (BROKEN, CHANGED)
    assert repr(RECHECKS) == "<Rechecks: rows: 5, hold: 2, new letters: 2, errors: 1>"
    assert str(RECHECKS).startswith("2 of 4 promises hold; 2 people need a new letter.")
    assert "New letters needed" in RECHECKS._repr_html_()


def test_a_frame_keeps_the_types_of_columns_with_missing_values() -> None:
    frame = RECHECKS.to_frame()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["holds"].tolist()[:4] == [True, True, False, False]
    assert str(frame["holds"].dtype) == "boolean"
    assert str(frame["broken"].dtype) == "Int64"
    assert str(Rechecks((KEPT,), 1, 1).to_frame()["holds"].dtype) == "bool"


def test_files_of_every_format(tmp_path: Path) -> None:
    for ending in ("csv", "jsonl", "html"):
        RECHECKS.write(tmp_path / f"report.{ending}", asked="old.jsonl", model="new.ubj", identity="sha256:0")
    with (tmp_path / "report.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["row"] for line in lines] == ["0", "1", "2", "3", "4"]
    assert lines[4]["error"] == "cannot be read"
    data = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [one["holds"] for one in data] == [True, True, False, False, None]
    assert "old.jsonl" in (tmp_path / "report.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match=r"expected a file ending in .csv, .jsonl, .html"):
        RECHECKS.write(tmp_path / "report.txt")
