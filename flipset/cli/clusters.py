"""Spark and Dask, as `flipset table --engine` uses them: the same operations on a table that stays in the cluster."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flipset import Explainer
    from flipset.space.words import Decision


class Cluster(Protocol):
    """The operations on a table that a cluster must have."""

    def read(self, data: str, verbatim: str | None = None) -> Any:
        """Read the table; the column `verbatim` of a text file as it stands there."""

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

    def summarize(self, explanations: Any, by: str | None, decision: Decision) -> Any:
        """Summarize the explanations of a decision, by group if there is one."""


class Spark:
    """Spark, through a master or a Connect server."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def read(self, data: str, verbatim: str | None = None) -> Any:
        """Read the table."""
        if data.endswith(".parquet"):
            return self.session.read.parquet(data)
        # FAILFAST: by default, Spark turns lines that it cannot read into rows of nulls.
        read = self.session.read.csv(data, header=True, inferSchema=True, mode="FAILFAST")
        if verbatim is None or verbatim not in read.columns:
            return read
        from pyspark.sql import types

        # The types that were inferred, with text for the identifiers: 00123 would be read as a number.
        fields = [
            types.StructField(one.name, types.StringType() if one.name == verbatim else one.dataType)
            for one in read.schema.fields
        ]
        return self.session.read.csv(data, header=True, schema=types.StructType(fields), mode="FAILFAST")

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

    def summarize(self, explanations: Any, by: str | None, decision: Decision) -> Any:
        """Summarize the explanations of a decision, by group if there is one."""
        from flipset.clusters.frames import summarize_spark

        return summarize_spark(explanations, by, decision=decision)


class Dask:
    """Dask, through a scheduler."""

    def read(self, data: str, verbatim: str | None = None) -> Any:
        """Read the table."""
        import dask.dataframe as dd

        if data.endswith(".parquet"):
            return dd.read_parquet(data)
        types: Any = None if verbatim is None else {verbatim: "string"}
        return dd.read_csv(f"{data}/*.csv" if Path(data).is_dir() else data, dtype=types)

    def sample(self, table: Any, rows: int) -> Any:
        """Return the first rows."""
        # All partitions: by default, Dask looks at the first alone, which may be small or empty.
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
        # Types are given, because Dask guesses them from the first rows, where a column of texts may be empty.
        texts = dict.fromkeys(("status", "flipsets", "reasons", "advice", "error"), "string")
        # Costs are read to the last bit, as Spark reads them.
        exact = {"float_precision": "round_trip"}
        return dd.read_csv(f"{output}/part-*.csv", dtype={**texts, "size": "float64"}, **names, **exact)

    def summarize(self, explanations: Any, by: str | None, decision: Decision) -> Any:
        """Summarize the explanations of a decision, by group if there is one."""
        from flipset.clusters.frames import summarize_dask

        return summarize_dask(explanations, by, decision=decision)


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
            # Loopback alone: a cluster on this machine is for this user, and Spark listens on all addresses by default.
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
    # One thread for each worker: explaining is mostly Python, of which one thread runs at a time. No limit of memory,
    # because Dask kills a worker that exceeds its share.
    local = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "threads_per_worker": 1, "memory_limit": 0}
    with cluster_here(**local) as cluster, connect(cluster):
        yield Dask()


CLUSTERS: dict[str, Callable[[str | None], AbstractContextManager[Cluster]]] = {"spark": _spark, "dask": _dask}
