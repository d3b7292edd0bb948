"""Columns of explanations as a frame: types that gaps do not change."""

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from flipset.results.frames import frame_of

COLUMNS: dict[str, list[Any]] = {
    "decision": [True, None],
    "size": [2, None],
    "score": [0.5, None],
    "status": ["optimal", None],
    "queries": [None, None],
    "mixed": [1, 0.5],
}


def test_pandas_has_nullable_types_with_and_without_gaps() -> None:
    frame = frame_of(COLUMNS)
    kinds = frame.dtypes.astype(str).to_dict()
    assert (kinds["decision"], kinds["size"], kinds["queries"]) == ("boolean", "Int64", "Int64")
    assert kinds["score"] == "float64"
    whole = frame_of({"decision": [True, False], "size": [1, 2]})
    assert whole.dtypes.astype(str).to_dict() == {"decision": "boolean", "size": "Int64"}


@pytest.mark.parametrize("like", [pl.DataFrame({"a": [1]}), pa.table({"a": [1]})], ids=["polars", "arrow"])
def test_others_have_their_own_kind_and_keep_flags_and_counts(like: Any) -> None:
    frame = frame_of(COLUMNS, like)
    assert type(frame) is type(like)
    table = frame.to_arrow() if isinstance(frame, pl.DataFrame) else frame
    kinds = {name: str(table.schema.field(name).type) for name in COLUMNS}
    assert (kinds["decision"], kinds["size"], kinds["queries"], kinds["mixed"]) == ("bool", "int64", "int64", "double")
    assert table.column("size").to_pylist() == [2, None]


@pytest.mark.parametrize("whole", [2**63, 2**64 - 1])
def test_large_whole_numbers_stay_whole(whole: int) -> None:
    assert frame_of({"size": [whole, None]})["size"].tolist()[0] == whole
    assert frame_of({"size": [whole, None]}, pa.table({"a": [1]})).column("size").to_pylist() == [whole, None]
    assert frame_of({"size": [2**70, None]})["size"].tolist()[0] == 2**70


def test_the_kind_of_a_frame_is_that_of_another() -> None:
    assert isinstance(frame_of({"size": [1]}, pd.DataFrame()), pd.DataFrame)
