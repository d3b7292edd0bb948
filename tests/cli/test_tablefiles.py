"""Tables are read as pandas reads them, and refused before they are built where they are too large."""

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from flipset import InputError
from flipset.cli import tablefiles
from flipset.cli.inputs import read_data
from flipset.cli.space_inputs import columns_of
from flipset.cli.tablefiles import read_table

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 1.5], "c": ["x", 'y,"', "ü\n"]})


def write(frame: pd.DataFrame, path: Path) -> str:
    name = path.name
    if name.endswith((".csv", ".csv.gz")):
        frame.to_csv(path, index=False)
    elif name.endswith(".tsv"):
        frame.to_csv(path, index=False, sep="\t")
    elif name.endswith(".jsonl"):
        frame.to_json(path, orient="records", lines=True)
    elif name.endswith(".parquet"):
        frame.to_parquet(path)
    else:
        frame.to_feather(path)
    return str(path)


KINDS = [".csv", ".csv.gz", ".tsv", ".jsonl", ".parquet", ".feather", ".arrow"]


@pytest.mark.parametrize("kind", KINDS)
def test_tables_are_read(kind: str, tmp_path: Path) -> None:
    pd.testing.assert_frame_equal(read_table(write(FRAME, tmp_path / f"t{kind}")), FRAME, check_dtype=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("limit", "what"), [("MOST_COLUMNS", "columns"), ("MOST_TABLE_CELLS", "cells")])
def test_c2_tables_that_are_too_large_are_refused(
    kind: str, limit: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame({f"x{i}": range(50) for i in range(12)})
    path = write(frame, tmp_path / f"t{kind}")
    assert read_table(path).shape == (50, 12)
    monkeypatch.setattr(tablefiles, limit, {"columns": 10, "cells": 400}[what])
    with pytest.raises(InputError, match=f"may have (10|400) {what}, and has"):
        read_table(path)


def test_c2_a_small_file_that_holds_many_bytes_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"a,b\n" + b"1,2\n" * 1_000_000)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(tablefiles, "MOST_TABLE_BYTES", 1_000_000)
    with pytest.raises(InputError, match="may have 1,000,000 bytes"):
        read_data(str(path))
    monkeypatch.setattr(tablefiles, "MOST_TABLE_BYTES", 10)
    with pytest.raises(InputError, match="may have 10 bytes"):
        read_data(str(path))


def test_c2_a_parquet_file_that_repeats_a_value_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(pd.DataFrame({"a": [7] * 100_000}), tmp_path / "t.parquet")
    monkeypatch.setattr(tablefiles, "MOST_TABLE_CELLS", 99_999)
    monkeypatch.setattr(pd, "read_parquet", lambda *_: pytest.fail("it was read before it was counted"))
    with pytest.raises(InputError, match="may have 99,999 cells, and has 100,000"):
        read_data(path)


def test_c2_json_lines_with_other_columns_each_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tablefiles, "MOST_TABLE_CELLS", 5_000)
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps({f"x{i}": 1}) for i in range(100)), encoding="utf-8")
    with pytest.raises(InputError, match="may have 5,000 cells"):
        read_data(str(path))


def test_standard_input_is_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(content: bytes) -> Any:
        return type("Stdin", (), {"buffer": io.BytesIO(content)})

    monkeypatch.setattr(sys, "stdin", given(b"a,b\n1,2\n"))
    assert read_data("-").to_dict("list") == {"a": [1], "b": [2]}
    monkeypatch.setattr(tablefiles, "MOST_TABLE_BYTES", 5)
    monkeypatch.setattr(sys, "stdin", given(b"a,b\n1,2\n"))
    with pytest.raises(InputError, match="- may have 5 bytes"):
        read_data("-")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1, 2]", "line 2 of .* must be an object, got a list"),
        ("3", "line 2 of .* must be an object, got 3"),
        ('{"a": ' + "[" * 100_000, "line 2 of .* not nested so deeply"),
        ('{"a": 1, "a": 2}', "line 2 of .* with the name 'a' twice"),
        ('{"a": NaN}', "line 2 of .* has no NaN"),
        ("{", "line 2 of .* must be JSON"),
    ],
)
def test_c12_lines_that_are_no_rows_are_named(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"a": 1}}\n{line}\n', encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_data(str(path))


def test_c12_nested_cells_of_used_columns_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1, "tags": [1]}\n{"a": {"b": 2}, "tags": []}\n', encoding="utf-8")
    frame = read_data(str(path))
    with pytest.raises(InputError, match="row 1 of the data has several values in the column 'a'"):
        columns_of(frame, ["a"], "the model was fitted with")
    path.write_text('{"a": 1, "tags": [1]}\n', encoding="utf-8")
    assert list(columns_of(read_data(str(path)), ["a"], "the model was fitted with").columns) == ["a"]


def test_other_files_are_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="expected a table ending in"):
        read_table(str(path))
