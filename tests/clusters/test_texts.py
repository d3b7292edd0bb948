"""Texts of a batch, changed in pandas frames and Arrow batches alike."""

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from flipset.clusters.frames import change_texts_dask
from flipset.clusters.texts import change_texts
from flipset.results.spreadsheets import quote, unquote

CELLS: dict[str, Any] = {"=name": ["=1", None, "a"], "n": [-1, 2, 3], "x": [-1.5, None, 2.0], "-5": [True, False, True]}


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_c12_texts_of_a_frame_are_quoted_and_come_back(dtype: Any) -> None:
    frame = pd.DataFrame(CELLS, index=[5, 6, 6]).astype({"=name": dtype})
    written = change_texts(quote, frame)
    assert list(written.columns) == ["'=name", "n", "x", "-5"]
    assert written["'=name"].tolist()[::2] == ["'=1", "a"]
    assert written["'=name"].isna().tolist() == [False, True, False]
    assert written.index.tolist() == [5, 6, 6]
    assert frame["=name"].tolist()[0] == "=1"  # the frame that was given is as it was
    back = change_texts(unquote, written)
    pd.testing.assert_frame_equal(back, frame.astype({"=name": object if dtype == "category" else dtype}))
    assert change_texts(quote, frame.iloc[:0]).dtypes.tolist() == written.dtypes.tolist()  # Dask reads types from none


def test_c12_texts_of_an_arrow_batch_are_quoted_and_come_back() -> None:
    batch = pa.RecordBatch.from_pydict(CELLS)
    written = change_texts(quote, batch)
    assert written.to_pydict() == {"'=name": ["'=1", None, "a"], **{name: CELLS[name] for name in ("n", "x", "-5")}}
    assert change_texts(unquote, written).equals(batch)
    coded = pa.RecordBatch.from_arrays([pa.array(["=1", "a"]).dictionary_encode()], names=["k"])
    assert change_texts(quote, coded).to_pydict() == {"k": ["'=1", "a"]}


def test_c12_texts_of_a_dask_frame_are_quoted_and_come_back() -> None:
    dask: Any = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"=name": ["=1", "b", "-c"], "n": [-1, 2, 3]})
    written = change_texts_dask(dask.from_pandas(frame, npartitions=2), quote)
    assert list(written.columns) == ["'=name", "n"]
    assert written.compute(scheduler="synchronous")["'=name"].tolist() == ["'=1", "b", "'-c"]
    back = change_texts_dask(written, unquote).compute(scheduler="synchronous")
    assert back.to_dict("list") == frame.to_dict("list")
