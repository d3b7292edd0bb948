"""Cells of journals that somebody changed: one line that names the file and the cell."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from flipset import Explainer, Feature, Journal, Space, StorageError
from flipset.cli import main
from flipset.explain.batch_size import choose_batch
from flipset.journal.cells import read_day, read_score, read_setting
from flipset.models.remote.endpoint import Endpoint

SPACE = Space([Feature(name, direction=+1, lower=0, upper=9) for name in "ab"])
PATH = Path("answers.db")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "answers.db"
    journal = Journal(path, model="m")
    Explainer(lambda rows: np.asarray(rows).sum(axis=1) / 20, SPACE, journal=journal).scores([[1.0, 2.5]])
    journal.close()
    return path


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute(statement)
        file.commit()


@pytest.mark.parametrize("score", ["'abc'", "x'00ff'", "CAST(x'66' AS TEXT)"])
def test_c12_a_score_that_is_no_number_is_one_line(written: Path, score: str) -> None:
    change(written, f"UPDATE typed_answers SET score = {score}")
    journal = Journal(written, model="m")
    with pytest.raises(StorageError, match=r"answers\.db was changed: .* is no score; restore a copy"):
        journal.model()(np.array([[1.0, 2.5]]))
    with pytest.raises(StorageError, match="is no score"):
        Explainer(lambda rows: 1 / 0, SPACE, journal=journal).scores([[1.0, 2.5]])
    with pytest.raises(StorageError, match="is no score"):
        journal.model()(np.array([[1, 2.5]], dtype=np.float32))  # looked up by its values alone


@pytest.mark.parametrize("at", ["'x'", str(2**63 - 1), str(-(2**63))])
def test_c12_a_time_that_is_none_is_one_line(written: Path, at: str, capsys: pytest.CaptureFixture[str]) -> None:
    change(written, f"UPDATE typed_answers SET at = {at}")
    with pytest.raises(SystemExit) as end:
        main(["journal", str(written)])
    assert end.value.code == 4
    assert "is no time; restore a copy" in capsys.readouterr().err


def test_c12_other_parts_are_shown_as_they_are(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(written, "INSERT INTO about VALUES (x'ff', x'ff')")
    with pytest.raises(SystemExit) as end:
        main(["journal", str(written)])
    assert end.value.code == 0
    assert r"b'\xff'" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["x", "-5", "0", "", "1.5", "٣", "9" * 5000])
def test_c12_a_batch_that_is_no_number_is_one_line(written: Path, text: str) -> None:
    change(written, f"INSERT INTO about VALUES ('batch alone', '{text}')")
    with Endpoint("http://127.0.0.1:9/v2/models/m/infer") as endpoint:
        choosing = choose_batch(endpoint, Journal(written, model="m"), [], 1)
        with pytest.raises(StorageError, match=r"answers\.db was changed: .* is no whole number from 1"):
            next(choosing)


def test_cells_are_read() -> None:
    assert read_score(0.5, PATH) == 0.5
    assert read_score(1, PATH) == 1
    assert read_day(0, PATH).startswith(("1969-12-31", "1970-01-01"))
    assert read_setting("32", PATH) == 32
    with pytest.raises(StorageError):
        read_score(None, PATH)


@pytest.mark.parametrize(("day", "gone"), [("0001-01-01", 0), ("1960-01-01", 0), ("9999-12-31", 1)])
def test_c12_any_day_may_be_the_one_to_forget_before(
    written: Path, day: str, gone: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["journal", str(written), "--forget-before", day])
    assert end.value.code == 0
    assert f"Deleted: {gone} score" in capsys.readouterr().out
