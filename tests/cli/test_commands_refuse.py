"""What is broken gets one line that says what to do, exit code 2, and leaves nothing behind."""

from pathlib import Path

import pytest
import skops.io

from flipset.cli import main
from flipset.cli.option_values import number
from tests.cli.test_commands import folder

__all__ = ["folder"]  # the files that all commands are tried on

BROKEN = [
    (("explain", "model.txt", "junk.csv", "--row", 0), "junk.csv cannot be read as a table"),
    (("explain", "model.txt", "empty.csv", "--row", 0), "empty.csv cannot be read as a table"),
    (("explain", "model.txt", "header.csv", "--row", 0), "header.csv has no rows"),
    (("explain", "model.txt", "gone.csv", "--row", 0), "there is no file gone.csv"),
    (("explain", "model.txt", "table.xlsx", "--row", 0), "expected a table ending in .csv"),
    (("explain", "model.txt", "other.csv", "--row", 0), "the data have no column 'radius'"),
    (("explain", "wide.txt", "table.csv", "--row", 0), "wide.txt is not a LightGBM model"),
    (("explain", "junk.ubj", "table.csv", "--row", 0), "junk.ubj cannot be read as a model"),
    (("explain", "model.pkl", "table.csv", "--row", 0), "is a pickle, which can run any program"),
    (("explain", "model.pkl", "table.csv", "--row", 0), "If you trust it: --allow-pickle"),
    (("explain", "python:mine", "table.csv", "--row", 0), "expected python:package.module:object"),
    (("explain", "python:mine:gone", "table.csv", "--row", 0), "cannot be imported"),
    (("explain", "model.ubj", "table.csv", "--row", 0), "no directions are known"),
    (("explain", "model.txt", "table.csv", "--row", 999), "the data have rows 0 to 94"),
    (("explain", "model.txt", "table.csv"), "choose a row"),
    (("explain", "model.txt", "table.csv", "--where", "id >"), "cannot be read"),
    (("explain", "model.txt", "table.csv", "--where", "id > 3"), "exactly 1 is expected"),
    (("explain", "model.txt", "table.csv", "--where", "id = 6"), "write == to compare"),
    (("explain", "model.txt", "table.csv", "--where", "id"), "is not a condition"),
    (
        ("explain", "model.ubj", "table.csv", "--row", 0, "--increasing", "radius", "--decreasing", "radius"),
        "and in --decr",
    ),
    (("explain", "model.txt", "table.csv", "--row", 0, "--html", "table.csv"), "is also an input"),
    (("table", "model.txt", "table.csv", "-o", "table.csv"), "is also an input"),
    (("table", "model.txt", "table.csv", "-o", "out.jsonl", "--long"), "--long needs .csv or .parquet"),
    (("table", "model.txt", "table.csv", "-o", "out.csv", "--engine", "hadoop"), "expected spark or dask"),
    (("table", "model.txt", "table.csv", "-o", "out.jsonl", "--engine", "dask"), "tables are .parquet or .csv"),
    (("table", "model.txt", "gone.csv", "-o", "out.csv", "--engine", "dask"), "there is no file gone.csv"),
    (
        ("table", "model.txt", "table.csv", "-o", "out.csv", "--engine", "dask", "--limit", 3),
        "--limit cannot be combined with",
    ),
    (("table", "model.txt", "table.csv", "-o", "out.csv", "--master", "local"), "--master needs --engine"),
    (
        ("table", "model.txt", "table.csv", "-o", "out.csv", "--engine", "dask", "--journal", "a.db"),
        "file on one machine",
    ),
    (("table", "model.txt", "table.csv", "-o", "out.csv", "--batch", 0), "batch must be a whole number"),
    (("table", "model.txt", "table.csv", "-o", "out.csv", "--workers", 0), "workers must be a whole number"),
    (("explain", "model.txt", "table.csv", "--row", 0, "--fix", "nobody"), "there is no feature 'nobody'"),
    (("explain", "model.txt", "table.csv", "--row", 0, "--bounds", "radius"), "expected COLUMN=VALUE"),
    (("explain", "model.txt", "table.csv", "--row", 0, "--bounds", "radius=a:b"), "the data have no column 'a'"),
    (("explain", "model.txt", "table.csv", "--row", 0, "--quantiles", "5"), "expected LOWER:UPPER"),
    (("explain", "model.txt", "table.csv", "--row", 0, "--objective", "x"), 'objective must be "size" or "cost"'),
    (("explain", "model.txt", "table.csv", "--row", 0, "--space", "gone.toml"), "gone.toml cannot be read"),
    (("explain", "model.txt", "table.csv", "--row", 0, "--proof", "no/such/proof.json"), "cannot be written"),
    (("explain", "python:mine:score", "other.csv", "--row", 0, "--increasing", "a"), "the model raised KeyError"),
    (("explain", "model.txt", "table.csv", "--row", "x"), "--row x: expected a number"),
    (("explain", "model.txt", "table.csv", "--rwo", 0), "Unknown option"),
    (("table", "model.txt", "table.csv"), "give the file to write"),
    (("table", "model.txt", "table.csv", "-o", "no/such/out.csv"), "cannot be written"),
    (("table", "model.txt", "table.csv", "-o", "out.xlsx"), "expected a file ending in .csv, .parquet, .jsonl"),
    (("table", "model.txt", "table.csv", "-o", "out.csv", "--by", "nobody"), "the data have no such column"),
]


@pytest.mark.parametrize(("arguments", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_what_is_broken_gets_one_line(
    arguments: tuple[object, ...],
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "junk.csv").write_bytes(bytes(range(256)) * 20)
    (folder / "junk.ubj").write_bytes(bytes(range(256)))
    (folder / "empty.csv").write_bytes(b"")
    (folder / "header.csv").write_text("a,b\n", encoding="utf-8")
    (folder / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (folder / "wide.txt").write_text("hello", encoding="utf-8")
    (folder / "model.pkl").write_bytes(b"x")
    (folder / "table.xlsx").write_bytes(b"x")
    before = {file.name for file in folder.iterdir()}
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert ended.value.code == 2
    told_off = capsys.readouterr().err.strip().splitlines()
    assert len(told_off) == 1
    assert message in told_off[0]
    assert {file.name for file in folder.iterdir()} - before <= {"__pycache__"}


class Strange:
    size = 3


def test_b13_the_error_about_a_skops_file_names_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    skops.io.dump({"model": Strange()}, "model.skops")
    Path("table.csv").write_text("x\n1\n2\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["explain", "model.skops", "table.csv", "--row", "0"])
    said = capsys.readouterr().err
    assert "If you trust it: --trusted tests.cli.test_commands_refuse.Strange" in " ".join(said.split())
    assert "load_model" not in said


@pytest.mark.parametrize(
    ("text", "value"),
    [("9223372036854775807", 2**63 - 1), ("5", 5), ("-3", -3), ("5.0", 5.0), ("1e3", 1e3), (" ", None)],
)
def test_a5_whole_numbers_on_the_command_line_are_exact(text: str, value: float | None) -> None:
    assert number("bounds", text) == value
    assert type(number("bounds", text)) is type(value)
