"""What an earlier run left is read as any other file: what is malformed is named, and nothing else is raised."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from flipset import InputError
from flipset.cli.resumable import FORMAT, _take_up
from tests.hostile import json_files, only_own_errors

HEADER = {"format": FORMAT, "model": "m", "space": "s"}


def left(path: Path, *entries: Any) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in (HEADER, *entries)), encoding="utf-8")
    return path


def test_results_of_an_earlier_run_are_taken_up(tmp_path: Path) -> None:
    part = left(tmp_path / "t.part", {"row": 3, "result": {"error": "no"}}, {"row": 1, "result": {"queries": 2}})
    with part.open("a", encoding="utf-8") as file:
        file.write('{"row": 7, "resu')
    assert _take_up(part, HEADER, resume=True) == {3: {"error": "no"}, 1: {"queries": 2}}
    assert "resu" not in part.read_text(encoding="utf-8").splitlines()[-1].removeprefix('{"row": 1, "result"')


@pytest.mark.parametrize(
    "entry",
    [3, [], {}, {"row": True, "result": {}}, {"row": -1, "result": {}}, {"row": 1, "result": 2}, [[[]]],
     {"row": "1", "result": {}}, {"row": 1, "result": {"error": 5}}, {"row": 1, "result": {}, "x": 1}],
)  # fmt: skip
def test_c12_malformed_lines_are_refused(entry: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t.part cannot be read: .*; delete it to start again"):
        _take_up(left(tmp_path / "t.part", entry), HEADER, resume=True)


def test_c12_changed_lines_raise_no_other_error(tmp_path: Path) -> None:
    part = tmp_path / "t.part"
    entry = {"row": 1, "result": {"row": {"a": 1}, "queries": 3, "rounds": [1]}}
    for seed in range(200):
        text = json_files(entry, Random(seed))
        part.write_text(json.dumps(HEADER) + "\n" + text + "\n", encoding="utf-8", errors="replace")
        only_own_errors(lambda: _take_up(part, HEADER, resume=True), InputError)
