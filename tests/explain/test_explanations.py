"""Tables of explanations as frames: types hold where some rows have no value."""

import json
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from flipset import Explainer, Explanations, Feature, FlipsetError, InputError, Space

SPACE = Space(
    [Feature("x", "integer", direction=+1, lower=0, upper=9), Feature("y", "integer", direction=+1, lower=0, upper=2)]
)
LIKE = {
    "array": None,
    "pandas": pd.DataFrame({"x": [1]}),
    "polars": pl.DataFrame({"x": [1]}),
    "arrow": pa.table({"x": [1]}),
}
ERROR = InputError("this row cannot be read")


def results(*rows: Any, space: Space = SPACE) -> list[Any]:
    explainer = Explainer(lambda table: table[:, 0] + table[:, 1] >= 10, space)
    return [row if isinstance(row, FlipsetError) else explainer.explain(row) for row in rows]


def framed(kind: str, found: list[Any], *, long: bool = False) -> Any:
    table = Explanations(tuple(found), ("x", "y"), 0, 0, LIKE[kind])
    return nw.from_native(table.to_frame(long=long), eager_only=True)


@pytest.mark.parametrize("kind", LIKE)
@pytest.mark.parametrize("long", [False, True])
def test_b16_one_error_changes_no_types(kind: str, long: bool) -> None:
    rows = results([1, 0], [9, 2])
    whole, with_error = framed(kind, rows, long=long), framed(kind, [*rows, ERROR], long=long)
    for name in with_error.columns:
        if name != "error":
            assert with_error[name].dtype == whole[name].dtype, name
    if not long:
        assert with_error["decision"].dtype == nw.Boolean
        assert with_error["decision"].to_list()[:2] == [False, True]
        assert with_error["decision"].is_null().to_list() == [False, False, True]
        for name in ("size", "lower", "upper", "ways", "queries", "new_x", "new_y"):
            assert with_error[name].dtype.is_integer(), name
            assert with_error[name].to_list()[:2] == whole[name].to_list()
            assert with_error[name].is_null().to_list() == [False, False, True]


@pytest.mark.parametrize("kind", LIKE)
def test_b16_errors_alone_have_types_too(kind: str) -> None:
    frame = framed(kind, [ERROR, ERROR])
    assert frame["decision"].dtype == nw.Boolean
    assert all(frame[name].dtype == nw.Int64 for name in ("size", "lower", "upper", "ways", "queries"))
    assert frame["error"].to_list() == ["this row cannot be read"] * 2


@pytest.mark.parametrize("kind", LIKE)
def test_b16_a_row_without_options_keeps_sizes_whole(kind: str) -> None:
    tight = SPACE.with_changes(bounds={"x": (0, 8), "y": (0, 1)})
    frame = framed(kind, [*results([1, 0]), *results([1, 0], space=tight)])
    assert frame["status"].to_list() == ["optimal", "none"]
    assert frame["size"].dtype.is_integer()
    assert frame["size"].is_null().to_list() == [False, True]


@pytest.mark.parametrize("kind", LIKE)
def test_b16_whole_numbers_among_others_are_floats(kind: str) -> None:
    mixed = Space([Feature("x", direction=+1, lower=0, upper=9, step=0.5), Feature("y", fixed=True)])
    explainer = Explainer(lambda table: table[:, 0] >= table[:, 1], mixed)
    frame = framed(kind, [explainer.explain([0.0, 9]), explainer.explain([0.0, 2.5]), ERROR])
    assert frame["new_x"].to_list()[:2] == [9.0, 2.5]
    assert frame["new_y"].to_list()[:2] == [9.0, 2.5]


@pytest.mark.parametrize("kind", LIKE)
@pytest.mark.parametrize("start", [2**62, 2**64 - 9])
def test_b16_large_whole_numbers_survive_an_error(kind: str, start: int) -> None:
    space = Space([Feature("x", "integer", direction=+1, lower=start, upper=start + 8), Feature("y", fixed=True)])
    explainer = Explainer(lambda table: [int(row[0]) - start >= 7 for row in table], space)
    frame = framed(kind, [explainer.explain([start, 0]), ERROR])
    assert frame["new_x"].to_list()[0] == start + 7


def test_b13_an_unknown_category_is_named_once() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["a", "b"]), "x": [1, 2]})
    explainer = Explainer(lambda rows: rows["x"] >= 2, Space.from_frame(frame, increasing=["x"]))
    with pytest.raises(InputError) as raised:
        explainer.scores(pd.DataFrame({"c": ["other"], "x": [1]}))
    assert str(raised.value).count("cannot hold 'other'") == 1
    assert np.all(explainer.scores(frame) == [0.0, 1.0])


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("kind", LIKE)
def test_c4_what_is_written_replaces_a_file_that_stays_private(ending: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{ending}"
    path.touch()
    path.chmod(0o600)
    Explanations(tuple(results([1, 0], ERROR)), ("x", "y"), 0, 0, LIKE[kind]).write(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_size
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="cannot be written: No such file"):
        Explanations((ERROR,), ("x", "y"), 0, 0, LIKE[kind]).write(tmp_path / "no" / path.name)


def test_c12_formulas_are_quoted_in_csv_alone(tmp_path: Path) -> None:
    table = Explanations((FlipsetError("=cmd|' /C calc'!A0"), FlipsetError("-5")), ("x", "y"), 0, 0)
    for raw, first in ((False, "'=cmd|' /C calc'!A0"), (True, "=cmd|' /C calc'!A0")):
        table.write(tmp_path / "t.csv", raw_text=raw)
        assert pd.read_csv(tmp_path / "t.csv", dtype=str)["error"].tolist() == [first, "-5"]
    table.write(tmp_path / "t.jsonl")
    assert json.loads((tmp_path / "t.jsonl").read_text().splitlines()[0]) == {"error": "=cmd|' /C calc'!A0"}
    assert table.to_dict()["error"][0] == "=cmd|' /C calc'!A0"
