"""`flipset table --engine`: read, explain, write and summarize a table on a Spark or Dask cluster.

The table never passes through this process: only a sample of it, for bounds and costs, and the counts of the summary
do. The output folder appears only when it is complete.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import warnings
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from flipset import Explainer, FlipsetError, InputError, WorkerLost
from flipset.cli.inputs import make_space, positive_of
from flipset.errors import first_line
from flipset.results.spreadsheets import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flipset.cli.options import ModelOptions, SpaceOptions
    from flipset.results.summary import Summary

POPULATION = 100_000
"""Rows from the top of the table that serve as the population: bounds, steps and costs are read from them."""

READ = (".parquet", ".csv")


class Cluster(Protocol):
    """The operations on a table that a cluster must have."""

    def read(self, data: str) -> Any:
        """Read the table."""

    def sample(self, table: Any, rows: int) -> Any:
        """Return the first rows as a pandas frame."""

    def explain(self, explainer: Explainer, table: Any, keys: list[str] | None, request: Mapping[str, Any]) -> Any:
        """Explain the table."""

    def with_texts(self, table: Any, change: Callable[[Any], Any]) -> Any:
        """Return the table with every text changed."""

    def write(self, explanations: Any, output: str) -> None:
        """Write the explanations to a folder."""

    def read_back(self, output: str) -> Any:
        """Read the explanations that were written."""

    def summarize(self, explanations: Any, by: str | None) -> Any:
        """Summarize the explanations, by group if there is one."""


class Spark:
    """Spark, through a master or a Connect server."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def read(self, data: str) -> Any:
        """Read the table."""
        if data.endswith(".parquet"):
            return self.session.read.parquet(data)
        return self.session.read.csv(data, header=True, inferSchema=True, mode="FAILFAST")

    def sample(self, table: Any, rows: int) -> Any:
        """Return the first rows."""
        return table.limit(rows).toArrow().to_pandas()

    def explain(self, explainer: Explainer, table: Any, keys: list[str] | None, request: Mapping[str, Any]) -> Any:
        """Explain the table."""
        return explainer.explain_spark(table, keys=keys, **request)

    def with_texts(self, table: Any, change: Callable[[Any], Any]) -> Any:
        """Return the table with every text changed."""
        from flipset.clusters.frames import change_texts_spark

        return change_texts_spark(table, change)

    def write(self, explanations: Any, output: str) -> None:
        """Write the explanations to a folder."""
        writer = explanations.write.mode("errorifexists")
        if output.endswith(".parquet"):
            writer.parquet(output)
        else:
            writer.csv(output, header=True)

    def read_back(self, output: str) -> Any:
        """Read the explanations that were written."""
        return self.read(output)

    def summarize(self, explanations: Any, by: str | None) -> Any:
        """Summarize the explanations, by group if there is one."""
        from flipset.clusters.frames import summarize_spark

        return summarize_spark(explanations, by)


class Dask:
    """Dask, through a scheduler."""

    def read(self, data: str) -> Any:
        """Read the table."""
        import dask.dataframe as dd

        if data.endswith(".parquet"):
            return dd.read_parquet(data)
        return dd.read_csv(f"{data}/*.csv" if Path(data).is_dir() else data)

    def sample(self, table: Any, rows: int) -> Any:
        """Return the first rows."""
        return table.head(rows, npartitions=-1, compute=True)

    def explain(self, explainer: Explainer, table: Any, keys: list[str] | None, request: Mapping[str, Any]) -> Any:
        """Explain the table."""
        return explainer.explain_dask(table, keys=keys, **request)

    def with_texts(self, table: Any, change: Callable[[Any], Any]) -> Any:
        """Return the table with every text changed."""
        from flipset.clusters.frames import change_texts_dask

        return change_texts_dask(table, change)

    def write(self, explanations: Any, output: str) -> None:
        """Write the explanations to a folder."""
        if output.endswith(".parquet"):
            explanations.to_parquet(output, write_index=False)
        else:
            explanations.to_csv(f"{output}/part-*.csv", index=False)

    def read_back(self, output: str) -> Any:
        """Read the explanations that were written."""
        import dask.dataframe as dd

        if output.endswith(".parquet"):
            return self.read(output)
        names = {"keep_default_na": False, "na_values": [""]}  # a feature may be called NA
        texts = dict.fromkeys(("status", "flipsets", "reasons", "advice", "error"), "string")
        return dd.read_csv(f"{output}/part-*.csv", dtype={**texts, "size": "float64"}, **names)

    def summarize(self, explanations: Any, by: str | None) -> Any:
        """Summarize the explanations, by group if there is one."""
        from flipset.clusters.frames import summarize_dask

        return summarize_dask(explanations, by)


@contextmanager
def _spark(master: str | None) -> Iterator[Cluster]:
    from pyspark.sql import SparkSession

    warnings.filterwarnings(
        "ignore", "PySpark does not yet fully support pandas", FutureWarning
    )  # the parts used here do work
    builder: Any = SparkSession.builder.appName("flipset")
    if master is not None and master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.master(master or "local[*]").config("spark.ui.showConsoleProgress", sys.stderr.isatty())
        if master is None or master.startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            for name in ("spark.driver.host", "spark.driver.bindAddress"):
                builder = builder.config(name, "127.0.0.1")
            builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    session = builder.getOrCreate()
    try:
        yield Spark(session)
    finally:
        session.stop()


@contextmanager
def _dask(scheduler: str | None) -> Iterator[Cluster]:
    import distributed

    connect: Any = distributed.Client
    cluster_here: Any = distributed.LocalCluster

    if scheduler is not None:
        with connect(scheduler):
            yield Dask()
        return
    local = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "threads_per_worker": 1, "memory_limit": 0}
    with cluster_here(**local) as cluster, connect(cluster):
        yield Dask()


CLUSTERS: dict[str, Callable[[str | None], AbstractContextManager[Cluster]]] = {"spark": _spark, "dask": _dask}


def explain_on_cluster(
    name: str,
    master: str | None,
    model: Any,
    data: str,
    output: Path,
    keys: list[str] | None,
    by: str | None,
    raw_text: bool,
    model_options: ModelOptions,
    space_options: SpaceOptions,
    request: Mapping[str, Any],
) -> tuple[Summary, dict[Any, Summary]]:
    """Explain a table on a cluster, write a folder, and return the summary of all rows and of each group."""
    _check(name, data, output, model_options)
    if os.getcwd() not in os.environ.get("PYTHONPATH", "").split(
        os.pathsep
    ):  # so that workers find python:module:object
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH"))))
    try:
        with CLUSTERS[name](master) as cluster, _whole_folder(output) as beside:
            table = cluster.read(data)
            sample = cluster.sample(table, POPULATION)
            positive = positive_of(model, model_options.positive)
            space = make_space(model, sample, positive, space_options)
            explainer = Explainer(model, space, threshold=model_options.threshold, positive=positive)
            identifying = [name for name in sample.columns if name not in space.names] if keys is None else list(keys)
            if by is not None and by not in identifying:
                identifying.append(by)
            explanations = cluster.explain(explainer, table, identifying, request)
            # The summary is of the file that was written, so what was quoted for spreadsheets is unquoted again.
            as_text = output.suffix == ".csv" and not raw_text
            cluster.write(cluster.with_texts(explanations, quote) if as_text else explanations, str(beside))
            written = cluster.read_back(str(beside))
            written = cluster.with_texts(written, unquote) if as_text else written
            return cluster.summarize(written, None), {} if by is None else cluster.summarize(written, by)
    except ImportError as error:
        raise InputError(f"--engine {name} needs {error.name}: pip install 'flipset[{name}]'") from None
    except FlipsetError:
        raise
    except Exception as error:  # clusters raise errors of many kinds, without a common base
        raise WorkerLost(f"{name} failed: {first_line(error)}") from error


def _check(name: str, data: str, output: Path, model_options: ModelOptions) -> None:
    """Refuse what cannot be done before a cluster is started."""
    if name not in CLUSTERS:
        raise InputError(f"--engine {name}: expected {' or '.join(CLUSTERS)}")
    for path in (data, str(output)):
        if not path.endswith(READ):
            raise InputError(f"{path}: with --engine, tables are {' or '.join(READ)}")
    if model_options.journal is not None:
        raise InputError("--journal is a file on one machine and cannot be combined with --engine")
    if output.exists():
        raise InputError(f"{output} exists already: delete it, or choose another output")
    if "://" not in data and not Path(data).exists():
        raise InputError(f"there is no file {data}")


@contextmanager
def _whole_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside this one; it replaces this one if nothing fails."""
    # The cluster makes the folder, so the name must be one that nobody can have prepared.
    beside = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.unfinished{path.suffix}")
    try:
        yield beside
        beside.replace(path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
