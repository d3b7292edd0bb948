"""Identifiers of rows come through to every result, and change no answer."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from flipset import Explainer, Explanation, Feature, InputError, Space, read_explanations

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "xy"])
CLIENTS = ["00123", "7", "7", None]
DATA: dict[str, Any] = {"client": CLIENTS, "x": [1, 9, 3, 2], "y": [0, 9, 3, 2]}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def explainer() -> Explainer:
    return Explainer(lambda rows: rows[:, 0] + rows[:, 1], SPACE, threshold=10)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_have_them_beside_each_line(kind: str) -> None:
    table = FRAMES[kind](DATA)
    found = explainer().explain_table(table, id="client")
    wide = nw.from_native(found.to_frame(), eager_only=True)
    assert type(found.to_frame()) is type(table)
    assert wide.columns[0] == "client"
    assert [None if pd.isna(one) else one for one in wide["client"].to_list()] == CLIENTS
    for frame in (found.options(), found.changes(), found.to_frame(long=True)):
        lines = nw.from_native(frame, eager_only=True)
        assert lines.columns[:2] == ["row", "client"]
        for row, client in zip(lines["row"].to_list(), lines["client"].to_list(), strict=True):
            assert CLIENTS[row] is None or client == CLIENTS[row]


def test_equal_answers_are_equal_explanations_whoever_they_are_about() -> None:
    table = pd.DataFrame(DATA)
    with_ids, without = explainer().explain_table(table, id="client"), explainer().explain_table(table)
    assert with_ids.results == without.results
    assert with_ids[0].id == {"client": "00123"}
    assert without[0].id is None
    equal = explainer().explain_table([[1, 1], [1, 1]], id=["a", "b"])
    assert [one.id for one in equal] == [{"id": "a"}, {"id": "b"}]
    assert equal[0] == equal[1]


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(["a", "b", "b", "c"], name="client"),
        pd.Index([10, 20, 30, 40]),
        pd.MultiIndex.from_tuples([("n", 1), ("n", 2), ("s", 1), ("s", 1)], names=["region", "client"]),
        pd.date_range("2026-01-01", periods=4, name="day"),
        pd.CategoricalIndex(["a", "b", "a", "c"]),
        pd.RangeIndex(4),
        pd.RangeIndex(10, 14),
    ],
    ids=lambda index: type(index).__name__,
)
def test_the_frame_that_comes_out_has_the_index_that_went_in(index: Any) -> None:
    table = pd.DataFrame({name: DATA[name] for name in "xy"}, index=index)
    frame = explainer().explain_table(table).to_frame()
    pd.testing.assert_index_equal(frame.index, index)
    assert frame.columns[0] == "decision"
    assert len(table.join(frame.reset_index(drop=True).set_axis(index))) >= 4


def test_types_are_the_same_whichever_rows_fail() -> None:
    def kinds(frame: Any) -> dict[str, str]:
        # Narwhals looks at the cells of a column of objects; the type is that of the column.
        own = frame.dtypes if isinstance(frame, pd.DataFrame) else nw.from_native(frame, eager_only=True).schema
        return {name: str(dtype) for name, dtype in own.items()}

    error = InputError("no")
    for make in FRAMES.values():
        table = make(DATA)
        good = explainer().explain_table(table, id="client")
        failing = replace(good, results=(error, *good.results[1:]))
        nothing = replace(good, results=(error,) * 4)
        empty = explainer().explain_table(table[:0] if make is not pa.table else table.slice(0, 0), id="client")
        for shape in ("to_frame", "options", "changes"):
            whole = kinds(getattr(good, shape)())
            for other in (failing, nothing, empty):
                assert kinds(getattr(other, shape)()) == whole, shape


def test_pandas_types_are_nullable_with_and_without_errors() -> None:
    frame = explainer().explain_table(pd.DataFrame(DATA), id="client").to_frame()
    kinds = {name: str(dtype) for name, dtype in frame.dtypes.items()}
    assert kinds["decision"] == "boolean"
    assert {kinds[name] for name in ("size", "lower", "upper", "ways", "queries", "new_x")} == {"Int64"}


def test_files_have_them(tmp_path: Path) -> None:
    found = explainer().explain_table(pd.DataFrame(DATA).set_index("client"))
    for shape in ("rows", "options", "changes"):
        found.write(tmp_path / "t.csv", shape=shape)
        found.write(tmp_path / "t.parquet", shape=shape)
        text = pd.read_csv(tmp_path / "t.csv", dtype=str)
        assert text["client"].dropna().tolist()[0] == "00123"
        assert pd.read_parquet(tmp_path / "t.parquet")["client"].dropna().tolist()[0] == "00123"
    found.write(tmp_path / "t.jsonl")
    again = list(read_explanations(tmp_path / "t.jsonl"))
    assert [one.id for one in again] == [{"client": client} for client in CLIENTS]
    with pytest.raises(InputError, match=r"t.jsonl: options is for .csv and .parquet"):
        found.write(tmp_path / "t.jsonl", shape="options")


def test_an_error_names_its_row_and_keeps_its_identifier(tmp_path: Path) -> None:
    rows = [[1, 1], ["much", 1]]
    found = explainer().explain_table(rows, id=["00123", "00124"])
    assert str(found[1]).startswith("row 1 (id 00124): feature 'x'")
    assert found[1].id == {"id": "00124"}
    found.write(tmp_path / "t.jsonl")
    assert json.loads((tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()[1])["id"] == {"id": "00124"}
    assert [one.id for one in read_explanations(tmp_path / "t.jsonl")] == [{"id": "00123"}, {"id": "00124"}]
    assert "id 00124" in str(found)


def test_rechecks_keep_them() -> None:
    found = explainer().explain_table([[1, 1], ["much", 1], [9, 9]], id=["a", "b", "c"])
    new = Explainer(lambda rows: rows[:, 0] + rows[:, 1], SPACE, threshold=12)
    checked = new.recheck(found, repair=True)
    assert [one.id for one in checked] == [{"id": "a"}, {"id": "b"}, {"id": "c"}]
    assert checked[0].repaired is not None
    assert checked[0].repaired.id == {"id": "a"}
    assert checked.to_frame()["id"].tolist() == ["a", "b", "c"]
    assert repr(checked[0]).startswith("<Recheck: row 0 (id a): a new letter is needed")
    assert "\n" not in repr(checked[0])


def test_one_row_has_one() -> None:
    e = explainer().explain([1, 1], id="00123")
    assert e.id == {"id": "00123"}
    assert str(e).startswith("Case: id 00123\nDecision: declined")
    assert Explanation.from_json(e.to_json()).id == e.id
    assert "Case" not in str(explainer().explain([1, 1]))
    labelled = pd.DataFrame({"x": [1], "y": [1]}, index=pd.Index(["A1"], name="client"))
    assert explainer().explain(labelled).id == {"client": "A1"}


@pytest.mark.parametrize("shown", [str, repr])
def test_text_is_short_and_repr_is_one_line(shown: Any) -> None:
    found = explainer().explain_table(pd.DataFrame({"x": [1, 9] * 500, "y": [0, 9] * 500}))
    for one in (found, found[0], found[0].counterfactuals[0], found[0].counterfactuals[0].changes[0]):
        assert len(shown(one)) < 3_000
        assert shown is str or "\n" not in shown(one)
    assert "The first 3 of 1,000 rows:" in str(found)
