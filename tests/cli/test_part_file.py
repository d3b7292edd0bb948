"""Unfinished tables: each line belongs to its row, and the file to one run at a time."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import InputError
from flipset.cli.part_file import FORMAT, open_part, row_digests
from tests.hostile import json_files, only_own_errors

ABOUT = {"model": "m", "positive": None, "data": "d"}
ROWS = row_digests(["[1]", "[2]", "[3]"])
RESULTS: list[Any] = [{"error": "x"}, {"score": 0.1, "cell": "a\u2028b\x85c"}, {"n": [1, None, {"float": "inf"}]}]


def write(path: Path, *places: int) -> None:
    with open_part(path, ABOUT, ROWS, resume=path.exists()) as part:
        for place in places:
            part.add(place, RESULTS[place])


def read(path: Path, about: dict[str, Any] = ABOUT, rows: list[bytes] = ROWS) -> dict[int, Any]:
    with open_part(path, about, rows, resume=True) as part:
        return dict(part.results())


def test_results_come_back(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.part"
    write(path, 2, 0)
    assert read(path) == {2: RESULTS[2], 0: RESULTS[0]}
    write(path, 1)
    assert read(path) == dict(enumerate(RESULTS))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text().split("\n")[0])["format"] == FORMAT


def test_the_half_line_of_a_killed_run_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.part"
    write(path, 1)
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        assert read(path) == {}
        write(path, 0)
        assert read(path) == {0: RESULTS[0]}
        path.unlink()
    path.write_bytes(whole + b'{"row": 2, "resul')
    write(path, 0)
    assert read(path) == {1: RESULTS[1], 0: RESULTS[0]}


def test_a_run_is_resumed_only_as_it_was_begun(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.part"
    write(path, 0)
    before = path.read_bytes()
    for name in ("positive", "data", "model"):
        with pytest.raises(InputError, match=f"belongs to a run with a different {name}: delete it"):
            read(path, ABOUT | {name: "other"})
    with pytest.raises(InputError, match=r"continue it with --resume, or delete the file$"):
        open_part(path, ABOUT, ROWS, resume=False).__enter__()
    path.write_text('{"format": "flipset-table-part/1", "model": "m"}\n')
    with pytest.raises(InputError, match="a different format: delete it"):
        read(path)
    path.write_bytes(before)
    assert read(path) == {0: RESULTS[0]}


def test_c12_results_of_other_rows_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.part"
    write(path, 0, 1)
    header, first, second, _ = path.read_text(encoding="utf-8").split("\n")
    one, two = json.loads(first), json.loads(second)
    swapped = [{**one, "row": 1}, {**two, "row": 0}]
    forged = [
        swapped,
        [{**one, "result": two["result"]}, {**two, "result": one["result"]}],
        [{**one, "result": {"error": "y"}}],
        [{**one, "row": 7}],
        [{**one, "check": ""}],
    ]
    for lines in forged:
        path.write_text("\n".join([header, *map(json.dumps, lines), ""]))
        before = path.read_bytes()
        with pytest.raises(InputError, match=r"that is not about that row of the table, or was changed: delete it"):
            read(path)
        assert path.read_bytes() == before


def test_c12_a_result_is_used_only_for_a_row_with_the_same_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.part"
    write(path, 0, 1)
    with pytest.raises(InputError, match="a result for row 0 that is not about that row"):
        read(path, rows=[ROWS[1], ROWS[0], ROWS[2]])
    with pytest.raises(InputError, match="a result for row 1 that is not about that row"):
        read(path, rows=[ROWS[0], *row_digests(["[2.0]", "[3]"])])
    with pytest.raises(InputError, match="a result for row 1"):
        read(path, rows=ROWS[:1])


@pytest.mark.parametrize(
    "text", ["x\n", "[]\n", "{}\n", '{"row": 1}\n', "null\n", "[" * 5000 + "\n", "\x00\n", "1\n2\n"]
)
def test_what_is_not_a_part_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv.part"
    path.write_text(text)
    with pytest.raises(InputError, match=r"cannot be read: .*delete it|a different format: delete it"):
        read(path)
    assert path.read_text() == text


@given(st.binary(max_size=40))
def test_any_line_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, line: bytes) -> None:
    path = tmp_path_factory.mktemp("part") / "t.csv.part"
    write(path, 0)
    path.write_bytes(path.read_bytes() + line.replace(b"\n", b" ") + b"\n")
    try:
        assert read(path) == {0: RESULTS[0]}
    except InputError as error:
        assert "delete" in str(error)


def test_a_run_that_ends_before_the_first_result_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.part"
    with pytest.raises(ZeroDivisionError), open_part(path, ABOUT, ROWS, resume=False):
        raise ZeroDivisionError
    assert not path.exists()
    write(path, 0)
    with pytest.raises(ZeroDivisionError), open_part(path, ABOUT, ROWS, resume=True):
        raise ZeroDivisionError
    assert path.exists()


def test_c12_a_full_disk_keeps_what_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.part"
    done = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True, check=True)
    assert done.stdout == f"{path} cannot be written: File too large\n"
    assert read(path, rows=row_digests(map(str, range(99)))).keys() == {0, 1}


FULL = """
import resource, sys
from pathlib import Path
from flipset import StorageError
from flipset.cli.part_file import open_part, row_digests
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))
about = {"model": "m", "positive": None, "data": "d"}
try:
    with open_part(Path(sys.argv[1]), about, row_digests(map(str, range(99))), resume=False) as part:
        for i in range(99):
            part.add(i, {"error": "x" * 1_000})
except StorageError as error:
    print(error)
"""

HOLD = """
import sys
from pathlib import Path
from flipset.cli.part_file import open_part
with open_part(Path(sys.argv[1]), {"model": "m", "positive": None, "data": "d"}, [b"a"], resume=False) as part:
    part.add(0, {"error": "x"})
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such lock")
def test_c12_two_runs_at_once_are_refused_and_a_crash_frees_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.part"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        before = path.read_bytes()
        for resume in (False, True):
            with pytest.raises(
                InputError, match="is in use by another run: wait until it is finished, or choose another"
            ):
                open_part(path, ABOUT, [b"a"], resume=resume).__enter__()
        assert path.read_bytes() == before
        other.kill()
        other.communicate()
    assert read(path, rows=[b"a"]) == {0: {"error": "x"}}


def test_c12_a_file_that_another_run_removed_meanwhile_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv.part"

    def lock_after_the_end(_: object) -> bool:
        path.unlink()
        return True

    monkeypatch.setattr("flipset.cli.part_file._lock", lock_after_the_end)
    with pytest.raises(InputError, match="is in use by another run"):
        open_part(path, ABOUT, ROWS, resume=True).__enter__()


def test_c4_a_link_in_place_of_the_part_file_is_not_followed(tmp_path: Path) -> None:
    path, secret = tmp_path / "t.csv.part", tmp_path / "secret"
    secret.write_text("secret")
    path.symlink_to(secret)
    with pytest.raises(InputError, match="cannot be written: Too many levels of symbolic links"):
        read(path)
    assert secret.read_text() == "secret"


def take_up(path: Path, *lines: str) -> dict[int, Any]:
    """Read a file with these lines after the first, as a run with --resume does."""
    with open_part(path, {"model": "m"}, [b"a", b"b"], resume=False) as part:
        part.add(0, {"error": "no"})
    with path.open("a", encoding="utf-8", errors="replace") as file:
        file.write("".join(line + "\n" for line in lines))
    with open_part(path, {"model": "m"}, [b"a", b"b"], resume=True) as part:
        return dict(part.done)


@pytest.mark.parametrize(
    "entry",
    [3, [], {}, {"row": True, "result": {}}, {"row": -1, "check": "", "result": {}}, [[[]]],
     {"row": 1, "check": "", "result": 2}, {"row": "1", "check": "", "result": {}},
     {"row": 1, "check": 3, "result": {}},
     {"row": 1, "check": "", "result": {"error": 5}}, {"row": 1, "check": "", "result": {}, "x": 1}],
)  # fmt: skip
def test_c12_malformed_lines_are_refused(entry: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t.part cannot be read: .*; delete it to start again"):
        take_up(tmp_path / "t.part", json.dumps(entry))


def test_c12_changed_lines_raise_no_other_error(tmp_path: Path) -> None:
    entry = {"row": 1, "check": "x", "result": {"row": {"a": 1}, "queries": 3, "rounds": [1]}}
    for seed in range(100):
        text = json_files(entry, Random(seed))
        only_own_errors(lambda text=text, seed=seed: take_up(tmp_path / f"{seed}.part", text), InputError)  # type: ignore[misc]


def test_c8_results_stay_in_the_file_and_come_back_in_the_order_of_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.part"
    with open_part(path, ABOUT, ROWS, resume=False) as part:
        for place in (2, 0, 1):
            part.add(place, RESULTS[place])
        starts = [path.read_bytes().index(f'{{"row": {place},'.encode()) for place in range(3)]
        assert part.done == dict(enumerate(starts))
        assert list(part.results()) == list(enumerate(RESULTS))
    with open_part(path, ABOUT, ROWS, resume=True) as part:
        assert part.done == dict(enumerate(starts))
        part.add(1, {"error": "again"})  # the file goes on at its end, wherever it was read
        assert list(part.results()) == [(0, RESULTS[0]), (1, {"error": "again"}), (2, RESULTS[2])]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such lock")
def test_c8_reading_results_does_not_give_up_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.part"
    write(path, 0)
    with open_part(path, ABOUT, ROWS, resume=True) as part:
        assert list(part.results()) == [(0, RESULTS[0])]
        other = subprocess.run([sys.executable, "-c", HOLD, path], capture_output=True, text=True, check=False)
        assert "is in use by another run" in other.stderr
