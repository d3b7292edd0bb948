"""A table on a cluster: the order of the steps, what is refused before it starts, and a folder that is whole or absent.

The cluster is a pandas frame here. Real ones are in `tests/clusters/`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from flipset import Explainer, InputError, WorkerLost
from flipset.cli.cluster_tables import ClusterTable, explain_on_cluster
from flipset.cli.clusters import CLUSTERS
from flipset.cli.options import ModelOptions, SearchOptions, SpaceOptions
from flipset.clusters.texts import change_texts

FRAME = pd.DataFrame({"income": [1, 2, 7], "debt": [5, 6, 1], "id": ["a", "=b", "c"], "region": ["n", "s", "s"]})
MINE = "def score(rows):\n    return rows['income'] - rows['debt']\n"


class Pandas:
    """A cluster of one frame."""

    def __init__(self) -> None:
        self.written: Any = None
        self.found: Any = None

    def read(self, data: str, verbatim: str | None = None) -> Any:
        return pd.read_csv(data, dtype=None if verbatim is None else {verbatim: str})

    def sample(self, table: Any, rows: int) -> Any:
        return table.head(rows)

    def explain(self, explainer: Explainer, table: Any, keys: list[str] | None, request: Any) -> Any:
        self.found = explainer.explain_table(table[list(explainer.space.names)], **request)
        return pd.concat([table[keys], self.found.to_frame()], axis=1)

    def with_texts(self, table: Any, change: Any) -> Any:
        return change_texts(change, table)

    def write(self, explanations: Any, output: str) -> None:
        Path(output).mkdir()
        explanations.to_csv(Path(output) / "part-0.csv", index=False)

    def read_back(self, output: str) -> Any:
        self.written = pd.read_csv(Path(output) / "part-0.csv")
        return self.written

    def summarize(self, explanations: Any, by: str | None, decision: Any) -> Any:
        self.written = explanations
        return self.found.summary() if by is None else self.found.summary_by(explanations[by].tolist())


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Pandas:
    """A cluster called spark, in a folder with a table and a model."""
    made = Pandas()

    @contextmanager
    def started(master: str | None) -> Iterator[Pandas]:
        yield made

    monkeypatch.setitem(CLUSTERS, "spark", started)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")
    FRAME.to_csv("rows.csv", index=False)
    Path("mine_on_a_cluster.py").write_text(MINE, encoding="utf-8")
    return made


def explain(output: str = "out.csv", data: str = "rows.csv", journal: Path | None = None, **options: Any) -> None:
    there = ClusterTable(options.pop("engine", "spark"), None, Path(output), **options)
    model_options = ModelOptions(threshold=0, journal=journal)
    space_options = SpaceOptions(increasing=["income"], decreasing=["debt"], drop=["id", "region"])
    request = SearchOptions().request()
    explain_on_cluster(there, "python:mine_on_a_cluster:score", data, model_options, space_options, request)


def test_the_folder_has_the_keys_and_the_results(cluster: Pandas, capsys: pytest.CaptureFixture[str]) -> None:
    explain(by="region")
    written = pd.read_csv("out.csv/part-0.csv")
    assert written["id"].tolist() == ["a", "'=b", "c"]  # quoted for spreadsheets
    assert cluster.written["id"].tolist() == ["a", "=b", "c"]  # and not in the summary
    assert capsys.readouterr().out.endswith("\nWritten to out.csv.\n")
    assert [path.name for path in Path().glob(".*")] == []


def test_texts_are_written_raw(cluster: Pandas) -> None:
    explain(raw_text=True)
    assert pd.read_csv("out.csv/part-0.csv")["id"].tolist() == ["a", "=b", "c"]


@pytest.mark.parametrize(("by", "keys"), [(None, ["id"]), ("region", ["id", "region"])])
def test_groups_need_their_column_in_the_output(cluster: Pandas, by: str | None, keys: list[str]) -> None:
    explain(keys=["id"], by=by)
    assert list(pd.read_csv("out.csv/part-0.csv").columns[: len(keys) + 1]) == [*keys, "decision"]


def test_workers_find_modules_of_this_folder(cluster: Pandas, tmp_path: Path) -> None:
    explain()
    assert os.environ["PYTHONPATH"] == str(tmp_path)
    explain("again.csv")
    assert os.environ["PYTHONPATH"] == str(tmp_path)


def test_an_error_of_the_cluster_leaves_no_folder(cluster: Pandas, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(output: str) -> Any:
        raise RuntimeError("the executor is gone\nat line 1")

    monkeypatch.setattr(cluster, "read_back", fail)
    with pytest.raises(WorkerLost, match=r"^spark failed: .*the executor is gone$"):
        explain()
    assert sorted(path.name for path in Path().iterdir() if path.name != "__pycache__") == [
        "mine_on_a_cluster.py",
        "rows.csv",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "hadoop"}, "--engine hadoop: expected spark or dask"),
        ({"output": "out.jsonl"}, "out.jsonl: with --engine, tables are .parquet or .csv"),
        ({"data": "rows.json"}, "rows.json: with --engine"),
        ({"journal": Path("a.db")}, "--journal is a file on one machine"),
        ({"output": "rows.csv"}, "rows.csv exists already"),
        ({"data": "gone.csv"}, "there is no file gone.csv"),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_cluster_starts(
    cluster: Pandas, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    def never(master: str | None) -> Any:
        raise AssertionError("started")

    monkeypatch.setitem(CLUSTERS, "spark", never)
    with pytest.raises(InputError, match=message):
        explain(**options)


def test_a_cluster_that_is_not_installed_says_what_to_install(cluster: Pandas, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(master: str | None) -> Any:
        raise ImportError("no", name="pyspark")

    monkeypatch.setitem(CLUSTERS, "spark", missing)
    with pytest.raises(InputError, match=r"--engine spark needs pyspark: pip install 'flipset\[spark\]'"):
        explain()
