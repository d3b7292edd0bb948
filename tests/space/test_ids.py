"""Identifiers read from a table: from a column, an index or a list, with their types."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from flipset import InputError
from flipset.space.ids import Ids, read_ids, read_row_id

CLIENTS = {"client": ["00123", "7", "7", None], "x": [1, 2, 3, 4]}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def read(table: Any, given: Any = None, rows: int = 4) -> Ids | None:
    return read_ids(table, given, ("x",), {"score", "row"}, rows)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_of_any_frame(kind: str) -> None:
    ids = read(FRAMES[kind](CLIENTS), "client")
    assert ids is not None
    assert (ids.names, ids.of_index, len(ids)) == (("client",), False, 4)
    assert [own["client"] for own in ids.listed()] == ["00123", "7", "7", None]
    assert ids.part([3, 0, 0]).listed() == [{"client": None}, {"client": "00123"}, {"client": "00123"}]


def test_an_index_is_an_identifier_unless_it_only_counts_rows() -> None:
    frame = pd.DataFrame(CLIENTS)
    assert read(frame) is None
    assert read(pl.DataFrame(CLIENTS)) is None
    assert read(np.zeros((4, 1))) is None
    ids = read(frame.set_index("client"))
    assert ids is not None
    assert ids.of_index
    assert [own["client"] for own in ids.listed()] == ["00123", "7", "7", None]
    some = read(frame.iloc[1:3])
    assert some is not None
    assert some.listed() == [{"id": 1}, {"id": 2}]


def test_levels_of_an_index_are_columns() -> None:
    index = pd.MultiIndex.from_tuples([("north", 1), ("north", 2)], names=["region", None])
    ids = read(pd.DataFrame({"x": [1, 2]}, index=index))
    assert ids is not None
    assert ids.listed() == [{"region": "north", "id_1": 1}, {"region": "north", "id_1": 2}]
    # A name that a column of results has, or that the model sees, is not taken.
    taken = read(pd.DataFrame({"x": [1]}, index=pd.Index(["a"], name="score")))
    assert taken is not None
    assert taken.names == ("id",)


def test_a_level_of_an_index_can_be_named() -> None:
    frame = pd.DataFrame(CLIENTS).set_index("client")
    ids = read(frame, "client")
    assert ids is not None
    assert ids.listed()[0] == {"client": "00123"}


def test_one_identifier_for_each_row() -> None:
    for given in (["a", "b"], np.array(["a", "b"]), pd.Series(["a", "b"])):
        ids = read([[1], [2]], given, rows=2)
        assert ids is not None
        assert ids.listed() == [{"id": "a"}, {"id": "b"}]
    named = read([[1], [2]], pd.Series(["a", "b"], name="client"), rows=2)
    assert named is not None
    assert named.names == ("client",)


@pytest.mark.parametrize(
    ("table", "given", "error"),
    [
        (pd.DataFrame(CLIENTS), "x", "id='x' is a column that the model sees"),
        (pd.DataFrame(CLIENTS), "clinet", "id='clinet': the table has no such column; it has 'client', 'x'"),
        (pd.DataFrame(CLIENTS), "score", "id='score' is also the name of a column of the results: rename"),
        (pd.DataFrame(CLIENTS), ["a"], "id must have one identifier for each row: 4, got 1"),
        (pd.DataFrame(CLIENTS), 17, "id must be the name of a column, or one identifier for each row, got int"),
        ([[1]], "client", "the table has no names: give one identifier for each row"),
    ],
)
def test_what_is_refused(table: Any, given: Any, error: str) -> None:
    with pytest.raises(InputError, match=error):
        read(table, given)


def test_types_are_kept_when_rows_are_gathered() -> None:
    frame = pd.DataFrame({"client": pd.Categorical(["a", "b"]), "x": [1, 2]})
    ids = read(frame, "client", rows=2)
    assert ids is not None
    gathered = ids.at([1, 1, 0])["client"].to_native()
    assert str(gathered.dtype) == "category"
    assert gathered.tolist() == ["b", "b", "a"]


def test_the_identifier_of_one_row() -> None:
    frame = pd.DataFrame({"x": [1, 2]}, index=pd.Index(["A17", "A18"], name="client"))
    assert read_row_id(frame.loc["A17"], None) == {"id": "A17"}
    assert read_row_id(frame.loc[["A17"]], None) == {"client": "A17"}
    assert read_row_id({"x": 1}, "00123") == {"id": "00123"}
    assert read_row_id([1], {"client": np.int64(7)}) == {"client": 7}
    # The number of a row identifies nobody.
    plain = pd.DataFrame({"x": [1, 2]})
    assert read_row_id(plain.iloc[1], None) is None
    assert read_row_id(plain.iloc[[1]], None) is None
    assert read_row_id([1], None) is None
    with pytest.raises(InputError, match="id must be one identifier"):
        read_row_id([1], ["a", "b"])
