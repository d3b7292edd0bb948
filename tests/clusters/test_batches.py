"""A batch in, a batch out: what `explain_table` says, in the cluster's own types, and no row that ends the others."""

import pickle
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from flipset import Explainer, Feature, InputError, Journal, Space
from flipset.clusters.batches import count_batch, explain_batch, make_job
from flipset.clusters.frames import summarize_dask
from flipset.models.remote.endpoint import Endpoint
from flipset.results.summary import Counts, read_sets, write_sets
from flipset.results.table import wide_names
from tests.models.test_models import DOWN, fit_xgb
from tests.models.test_models import X as TABLE
from tests.ruled import ruled_explainer, ruled_space
from tests.ruled import table as ruled_table


def plain(values: Any) -> list[Any]:
    """Return cells such that missing ones are alike."""
    return [None if value is None or value is pd.NA or value != value else value for value in values]


def columns_of(batch: Any) -> dict[str, list[Any]]:
    if hasattr(batch, "to_pydict"):
        return {name: plain(cells) for name, cells in batch.to_pydict().items()}
    return {name: plain(batch[name].tolist()) for name in batch.columns}


FRAME = TABLE.head(120).assign(id=np.arange(120), group=np.where(np.arange(120) % 3 == 0, "x, y", "z"))


@pytest.fixture(scope="module")
def explainer(tmp_path_factory: pytest.TempPathFactory) -> Explainer:
    path = tmp_path_factory.mktemp("model") / "model.ubj"
    fit_xgb().save_model(path)
    return Explainer(str(path), Space.from_frame(TABLE, decreasing=DOWN))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def as_arrow(frame: Any) -> Any:
    return pa.RecordBatch.from_pandas(frame, preserve_index=False)


def as_it_is(frame: Any) -> Any:
    return frame


KINDS = {"pandas": as_it_is, "arrow": as_arrow}
to_dask: Any = dask.dataframe.from_pandas


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_explained_as_a_table_is(explainer: Explainer, kind: str) -> None:
    expected = explainer.explain_table(FRAME)
    job = make_job(explainer, list(FRAME.columns), None, {})
    found = explain_batch(job, KINDS[kind](FRAME))
    columns = columns_of(found)
    assert list(columns) == ["id", "group", *wide_names(TABLE.columns)]
    assert {name: columns[name] for name in wide_names(TABLE.columns)} == {
        name: plain(cells) for name, cells in expected.to_dict().items()
    }
    assert columns["id"] == list(range(120))
    for by in (None, "group"):
        counts = count_batch(found, by)
        parts = list(zip(*(counts[name] for name in ("side", "kind", "of", "n")), strict=True))
        assert Counts.from_parts(parts).summary() == expected.summary()


def test_a_batch_of_no_rows_has_the_same_columns(explainer: Explainer) -> None:
    job = make_job(explainer, list(FRAME.columns), ["id"], {})
    for make in KINDS.values():
        whole, none = (explain_batch(job, make(part)) for part in (FRAME.head(3), FRAME.head(0)))
        assert len(columns_of(none)["id"]) == 0
        if isinstance(whole, pd.DataFrame):
            assert none.dtypes.tolist() == whole.dtypes.tolist()
        else:
            assert none.schema == whole.schema


def score_mixed(table: Any) -> Any:
    amount, n, kind = (table[name].tolist() for name in ("amount", "n", "kind"))
    if "boom" in kind:
        raise RuntimeError("this row again")
    return [
        float((0 if x is None or x != x else x) + (0 if k is None or k is pd.NA or k != k else k) + (w == "b") >= 6)
        for x, k, w in zip(amount, n, kind, strict=True)
    ]


MIXED = pd.DataFrame(
    {
        "amount": [1.0, None, 3.0, 2.0],
        "n": pd.array([1, 2, None, 3], dtype="Int64"),
        "kind": ["a", "b", "a", "b"],
        "old": [True, False, True, True],
        "key": ["p", "q", "r", "s"],
    }
)


def mixed() -> Explainer:
    features = [
        Feature("amount", direction=+1, lower=0, upper=5, step=0.5),
        Feature("n", "integer", direction=+1, lower=0, upper=3),
        Feature("kind", "categorical", options=("a", "b")),
        Feature("old", fixed=True),
    ]
    return Explainer(score_mixed, Space(features, reference=MIXED.drop(columns="key")))


@pytest.mark.parametrize("kind", KINDS)
def test_types_of_columns_are_kept(kind: str) -> None:
    e = mixed()
    expected = e.explain_table(MIXED)
    columns = columns_of(explain_batch(make_job(e, list(MIXED.columns), None, {}), KINDS[kind](MIXED)))
    assert columns["key"] == ["p", "q", "r", "s"]
    assert {name: columns[name] for name in expected.to_dict()} == {
        name: plain(cells) for name, cells in expected.to_dict().items()
    }
    assert {type(value) for value in columns["new_old"] if value is not None} <= {bool}


def test_decimals_and_dictionaries_of_arrow_are_read() -> None:
    e = mixed()
    batch = pa.RecordBatch.from_pandas(MIXED, preserve_index=False)
    amounts = pa.array([None if x != x else Decimal(str(x)) for x in MIXED["amount"]], pa.decimal128(10, 2))
    batch = batch.set_column(0, "amount", amounts)
    batch = batch.set_column(2, "kind", batch.column(2).dictionary_encode())
    found = columns_of(explain_batch(make_job(e, list(MIXED.columns), None, {}), batch))
    assert found["advice"] == plain(e.explain_table(MIXED).to_dict()["advice"])


def score_first(rows: Any) -> Any:
    return [float((0 if cell is None or cell != cell else cell) >= 3) for cell in np.asarray(rows, dtype=object)[:, 0]]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pa.array([1, None, 4, 2], pa.int64()), "numeric"),
        (pa.array([1, None, 4, 2], pa.uint64()), "integer"),
        (pa.array([1, 2, 4, 2], pa.int32()).dictionary_encode(), "numeric"),
        (pa.array([1.5, None, 4.0, 2.0], pa.float32()), "numeric"),
        (pa.array([True, None, False, True]), "numeric"),
    ],
    ids=["int64", "uint64", "dictionary", "float32", "bool"],
)
def test_arrow_types_are_explained_as_a_table_of_arrow_is(cells: Any, kind: Any) -> None:
    feature = Feature("a", kind, direction=+1, lower=0, upper=9, step=None if kind == "integer" else 0.5)
    e = Explainer(score_first, Space([feature, Feature("text", fixed=True)]))
    batch = pa.record_batch({"a": cells, "text": pa.array(["x", None, "y", "z"]).dictionary_encode()})
    plain_cells = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
    table = pa.table({"a": plain_cells, "text": pa.array(["x", None, "y", "z"])})
    expected = {name: plain(column) for name, column in e.explain_table(table).to_dict().items()}
    assert columns_of(explain_batch(make_job(e, ["a", "text"], None, {}), batch)) == expected


def test_a_value_that_does_not_fit_is_an_error_of_its_row() -> None:
    e = Explainer(
        score_first, Space([Feature("a", direction=+1, lower=0, upper=9), Feature("n", direction=-1, lower=0, upper=9)])
    )
    batch = pa.record_batch({"a": [1.0, 1.0], "n": pa.array([5, 1_700_000_000_123_456_789])})
    found = columns_of(explain_batch(make_job(e, ["a", "n"], None, {}), batch))
    assert found["status"] == ["optimal", None]
    assert "is not a float without loss" in found["error"][1]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_cannot_be_explained_have_an_error_and_end_nothing(kind: str) -> None:
    e = mixed()
    bad = MIXED.assign(kind=["a", "boom", "a", "b"])
    found = columns_of(explain_batch(make_job(e, list(MIXED.columns), None, {}), KINDS[kind](bad)))
    whole = columns_of(explain_batch(make_job(e, list(MIXED.columns), None, {}), KINDS[kind](MIXED)))
    assert found["error"][1] is not None
    assert "this row again" in found["error"][1] or "boom" in found["error"][1]
    assert found["status"][1] is None
    for i in (0, 2, 3):
        assert found["error"][i] is None
        assert found["advice"][i] == whole["advice"][i]


def test_an_error_that_nobody_foresaw_is_an_error_of_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    e = mixed()
    job = make_job(e, list(MIXED.columns), None, {})
    honest = Explainer.explain_table

    def broken(self: Explainer, table: Any, **request: Any) -> Any:
        if (table["n"] == 2).any():
            raise ZeroDivisionError("nobody foresaw this")
        return honest(self, table, **request)

    monkeypatch.setattr(Explainer, "explain_table", broken)
    found = columns_of(explain_batch(job, MIXED))
    assert found["error"] == [None, "ZeroDivisionError: nobody foresaw this", None, None]


def test_the_model_is_opened_once_in_a_process(explainer: Explainer, monkeypatch: pytest.MonkeyPatch) -> None:
    import flipset.clusters.batches

    opened: list[int] = []
    loads = pickle.loads

    def counted(parcel: bytes) -> Any:
        opened.append(len(parcel))
        return loads(parcel)

    monkeypatch.setattr(pickle, "loads", counted)
    monkeypatch.setattr(flipset.clusters.batches, "_opened", {})
    job = make_job(explainer, list(FRAME.columns), None, {"reasons": False})
    again = pickle.loads(pickle.dumps(job))
    opened.clear()
    for one in (job, job, again):
        explain_batch(one, FRAME.head(2))
    assert len(opened) == 1


def test_a_file_or_an_address_is_all_that_a_job_carries(explainer: Explainer) -> None:
    job = make_job(explainer, list(FRAME.columns), None, {})
    assert b"model.ubj" in job.parcel
    assert b"learner" not in job.parcel  # nothing of the model itself
    at = Explainer(Endpoint("http://127.0.0.1:9/invocations"), explainer.space)
    assert b"http://127.0.0.1:9/invocations" in make_job(at, list(FRAME.columns), None, {}).parcel


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"columns": ["radius"]}, "no column 'texture'"),
        ({"keys": ["nothing"]}, "no column 'nothing'"),
        ({"columns": [*FRAME.columns, "advice"]}, "key 'advice' is also a column of the explanations"),
        ({"request": {"max_table_queries": 5}}, "max_table_queries cannot be kept by workers"),
        ({"request": {"batch": 0}}, "batch"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_runs(explainer: Explainer, how: Any, words: str) -> None:
    given = {"columns": list(FRAME.columns), "keys": None, "request": {}} | how
    with pytest.raises(InputError, match=words):
        make_job(explainer, **given)


def test_models_and_journals_that_cannot_travel_are_refused(explainer: Explainer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a model that can be sent"):
        make_job(Explainer(lambda rows: rows[:, 0], explainer.space), list(FRAME.columns), None, {})
    kept = Explainer(fit_xgb(), explainer.space, journal=Journal(tmp_path / "answers.db", model="x"))
    with pytest.raises(InputError, match="a journal is a file of one machine"):
        make_job(kept, list(FRAME.columns), None, {})


def test_dask_has_the_same_rows_index_and_summary(explainer: Explainer) -> None:
    frame = FRAME.set_index(np.arange(120) * 10)
    expected = explainer.explain_table(FRAME)
    lazy = explainer.explain_dask(to_dask(frame, npartitions=5), max_changes=3)
    found = lazy.compute()
    assert lazy.npartitions == 5
    assert lazy.dtypes.tolist() == found.dtypes.tolist()
    assert found.index.tolist() == frame.index.tolist()
    assert found["id"].tolist() == frame["id"].tolist()
    assert plain(found["advice"]) == plain(expected.to_dict()["advice"])
    assert summarize_dask(lazy) == expected.summary()
    assert summarize_dask(lazy, "group") == expected.summary_by(FRAME["group"])


def test_sets_are_read_as_they_were_written() -> None:
    names = ["a", "b, c", "d | e", ' "quoted" ', "", "back\\slash"]
    sets = [(name, other) for name in names for other in names if name != other]
    assert read_sets(write_sets(sets)) == sets
    assert read_sets(write_sets([])) == []


@pytest.mark.parametrize("kind", KINDS)
def test_rules_go_to_the_workers_and_broken_ones_are_counted(kind: str) -> None:
    frame = ruled_table().assign(id=range(10))
    expected = ruled_explainer().explain_table(frame[list(ruled_space().names)])
    job = pickle.loads(pickle.dumps(make_job(ruled_explainer(), list(frame.columns), ["id"], {})))
    found = explain_batch(job, KINDS[kind](frame))
    columns = columns_of(found)
    assert columns["new_dti"] == expected.to_dict()["new_dti"]
    assert "broken" in columns
    counts = count_batch(found)
    parts = list(zip(*(counts[name] for name in ("side", "kind", "of", "n")), strict=True))
    summary = Counts.from_parts(parts).summary()
    assert summary == expected.summary()
    assert summary.broken == {"late_90 <= late_60": 1}


def test_a_key_cannot_be_called_as_the_column_of_broken_constraints() -> None:
    with pytest.raises(InputError, match="the key 'broken' is also a column of the explanations"):
        make_job(ruled_explainer(), [*ruled_space().names, "broken"], None, {})
