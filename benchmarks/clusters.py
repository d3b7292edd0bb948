"""Rows a second in Spark and Dask: `python -m benchmarks.clusters` on this machine, with one worker and with two.

Workers are processes: Spark's `local-cluster` with executors of one core, Dask's `LocalCluster` with one thread each.
Every run is on rows of its own in Parquet, warm (a small table has gone before), and its result is counted, not
collected.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xgboost

from benchmarks.pages import print_and_write
from flipset import Explainer, Space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Cluster = Callable[[Explainer, str], int]

PAGE = Path(__file__).parent.parent / "docs" / "clusters.md"
NAMES = tuple("abcd")
WEIGHTS = np.array([3.0, 2.0, 1.5, -2.0])
PART = 2_500
"""Rows of a partition."""


def rows(n: int, seed: int = 0) -> pd.DataFrame:
    table = np.random.default_rng(seed).normal(size=(n, len(NAMES)))
    return pd.DataFrame(table, columns=list(NAMES)).assign(id=np.arange(n))


def explainer(folder: Path) -> Explainer:
    table = rows(20_000, seed=1)
    label = (table[list(NAMES)].to_numpy() @ WEIGHTS > 1).astype(int)
    signs = tuple(int(sign) for sign in np.sign(WEIGHTS))
    model = xgboost.XGBClassifier(n_estimators=50, max_depth=3, monotone_constraints=signs, n_jobs=1)
    model.fit(table[list(NAMES)], label)
    model.save_model(folder / "model.ubj")
    space = Space.from_frame(table[list(NAMES)].head(2_000), increasing=["a", "b", "c"], decreasing=["d"])
    return Explainer(str(folder / "model.ubj"), space)


def written(folder: Path, n: int) -> str:
    """Return a folder of Parquet files with n rows."""
    path = folder / f"rows-{n}.parquet"
    if not path.exists():
        path.mkdir()
        table = rows(n)
        for i, start in enumerate(range(0, n, PART)):
            table.iloc[start : start + PART].to_parquet(path / f"part-{i:05}.parquet", index=False)
    return str(path)


@contextmanager
def spark(workers: int) -> Iterator[Cluster]:
    from pyspark.sql import SparkSession

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": os.getcwd()}
    builder: Any = SparkSession.builder.master(f"local-cluster[{workers},1,2048]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.files.openCostInBytes": "0",
        "spark.sql.files.maxPartitionBytes": str(PART * 60),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()

    def count(explainer: Explainer, path: str) -> int:
        found: int = explainer.explain_spark(session.read.parquet(path)).agg({"queries": "count"}).collect()[0][0]
        return found

    try:
        yield count
    finally:
        session.stop()


@contextmanager
def dask(workers: int) -> Iterator[Cluster]:
    import dask.dataframe as dd
    import distributed

    cluster_here: Any = distributed.LocalCluster
    client: Any = distributed.Client
    local = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "threads_per_worker": 1, "memory_limit": 0}

    def count(explainer: Explainer, path: str) -> int:
        return int(explainer.explain_dask(dd.read_parquet(path))["queries"].count().compute())

    with cluster_here(n_workers=workers, **local) as running, client(running):
        yield count


def timed(run: Cluster, explainer: Explainer, path: str, n: int) -> float:
    start = time.perf_counter()
    assert run(explainer, path) == n
    return time.perf_counter() - start


CLUSTERS = {"dask": dask, "spark": spark}


def page(folder: Path, sizes: list[int], clusters: list[str]) -> Iterator[str]:
    """Measure, and write it down."""
    job = explainer(folder)
    yield from ("# Rows a second in Spark and Dask", "")
    yield from (
        "Written by `make clusters` (`python -m benchmarks.clusters`). Four features, an XGBoost model of 50 trees in",
        f"a file, all of what `explain_table` does, partitions of {PART:,} rows, one machine with {os.cpu_count()}",
        "cores that the cluster, its driver and its workers share.",
        "",
        "| cluster | workers | rows | seconds | rows a second | against the first of its kind |",
        "|---|--:|--:|--:|--:|--:|",
    )
    for name in clusters:
        start = CLUSTERS[name]
        ratio: dict[int, float] = {}
        for workers, chosen in ((2, sizes), (1, [size for size in sizes if size == sizes[min(1, len(sizes) - 1)]])):
            with start(workers) as run:
                run(job, written(folder, PART * 4))
                first = None
                for n in chosen:
                    seconds = timed(run, job, written(folder, n), n)
                    first = first or n / seconds
                    if n == sizes[min(1, len(sizes) - 1)]:
                        ratio[workers] = seconds
                    speed = n / seconds
                    yield f"| {name.title()} | {workers} | {n:,} | {seconds:.1f} | {speed:,.0f} | {speed / first:.2f} |"
        yield f"| {name.title()} | 2 ÷ 1 | | {ratio[2] / ratio[1]:.2f} | | |"


def main() -> None:
    """Read the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--clusters", nargs="+", default=list(CLUSTERS), choices=list(CLUSTERS))
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    with TemporaryDirectory() as folder:
        print_and_write(page(Path(folder), given.rows, given.clusters), given.output)


if __name__ == "__main__":
    main()
