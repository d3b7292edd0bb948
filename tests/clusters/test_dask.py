"""Dask on this machine: two workers, and one that dies."""

import re
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import dask.dataframe
import pytest

from flipset.clusters.batches import make_job
from flipset.clusters.frames import summarize_dask
from tests.clusters.tables import expected, explain_and_die, explainer, same, table

pytestmark = [
    pytest.mark.clusters,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
ROOT = Path(__file__).parent.parent.parent
from_pandas: Any = dask.dataframe.from_pandas


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    import distributed

    local: Any = distributed.LocalCluster
    client: Any = distributed.Client
    settings = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with local(**settings, memory_limit=0) as running, client(running):
            yield running


@pytest.fixture
def frame() -> Any:
    return from_pandas(table(), npartitions=16)


def test_two_workers_say_what_explain_table_says(cluster: Any, frame: Any) -> None:
    lazy = explainer().explain_dask(frame).persist()
    same(lazy.compute())
    assert summarize_dask(lazy) == expected().summary()
    assert summarize_dask(lazy, "region") == expected().summary_by(table()["region"])


def test_a_death_in_mid_run_changes_nothing(cluster: Any, frame: Any, tmp_path: Path) -> None:
    job = make_job(explainer(), list(frame.columns), None, {})
    meta = explainer().explain_dask(frame)._meta
    same(frame.map_partitions(partial(explain_and_die, job, str(tmp_path), "worker"), meta=meta).compute())
    assert (tmp_path / "worker").exists()  # somebody died


def test_the_code_of_the_how_to_runs(cluster: Any, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "howto" / "clusters.md").read_text(encoding="utf-8")
    block = re.findall(r"## Dask\n.*?```python\n(.*?)```", text, flags=re.DOTALL)[0]
    few = from_pandas(table().head(50).rename(columns={"id": "loan_id"}), npartitions=2)
    block = block.replace('"advice"', f'"{tmp_path}/advice"')
    exec(compile(block, "clusters.md", "exec"), {"explainer": explainer(), "dask_frame": few, "dd": dask.dataframe})
    assert len(dask.dataframe.read_parquet(tmp_path / "advice")) == 50
