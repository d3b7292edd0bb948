"""What commands write: files that are whole, or not there."""

from pathlib import Path

import pytest

from flipset import InputError
from flipset.cli.outputs import keep, whole_file, write_text


def test_a_file_takes_its_place_when_all_went_well(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with whole_file(path) as beside:
        assert beside.suffix == ".csv"
        beside.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")

    def fail(beside: Path) -> None:
        beside.write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), whole_file(path) as beside:
        fail(beside)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"out.txt cannot be written: No such file"):
        write_text(tmp_path / "nowhere" / "out.txt", "text")
    write_text(tmp_path / "out.txt", "größer")
    assert (tmp_path / "out.txt").read_bytes() == "größer".encode()


def test_what_is_read_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data.csv"
    with pytest.raises(InputError, match="is also an input"):
        keep([None, "data.csv"], None, data)
    keep([str(data)], tmp_path / "other.csv")
