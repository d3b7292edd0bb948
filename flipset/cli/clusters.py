"""`flipset table --engine`: the table is read, explained, written and summed up in Spark or Dask."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from flipset import Explainer, FlipsetError, InputError, WorkerLost
from flipset.cli.inputs import make_space, positive_of
from flipset.errors import first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flipset.cli.options import ModelOptions, SpaceOptions
    from flipset.results.summary import Summary

POPULATION = 100_000
"""Rows from the top of the table that stand for its population: bounds, steps and costs are read off them."""

READ = (".parquet", ".csv")


class Engine(Protocol):
    """What a table needs of an engine."""

    def read(self, data: str) -> Any:
        """Return the table."""

    def sample(self, table: Any, rows: int) -> Any:
        """Return its first rows, as a pandas frame."""

    def explain(self, explainer: Explainer, table: Any, keys: list[str] | None, request: Mapping[str, Any]) -> Any:
        """Return explanations."""

    def write(self, found: Any, output: str) -> None:
        """Write explanations to a folder."""

    def read_back(self, output: str) -> Any:
        """Return the explanations that were written."""

    def summarize(self, found: Any, by: str | None) -> Any:
        """Sum explanations up."""


class Spark:
    """Spark, at a master or a Connect server."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def read(self, data: str) -> Any:
        """Return the table."""
        if data.endswith(".parquet"):
            return self.session.read.parquet(data)
        return self.session.read.csv(data, header=True, inferSchema=True, mode="FAILFAST")

    def sample(self, table: Any, rows: int) -> Any:
        """Return its first rows."""
        return table.limit(rows).toArrow().to_pandas()

    def explain(self, explainer: Explainer, table: Any, keys: list[str] | None, request: Mapping[str, Any]) -> Any:
        """Return explanations."""
        return explainer.explain_spark(table, keys=keys, **request)

    def write(self, found: Any, output: str) -> None:
        """Write explanations to a folder."""
        writer = found.write.mode("errorifexists")
        if output.endswith(".parquet"):
            writer.parquet(output)
        else:
            writer.csv(output, header=True)

    def read_back(self, output: str) -> Any:
        """Return the explanations that were written."""
        return self.read(output)

    def summarize(self, found: Any, by: str | None) -> Any:
        """Sum explanations up."""
        from flipset.clusters.frames import summarize_spark

        return summarize_spark(found, by)


class Dask:
    """Dask, at a scheduler."""

    def read(self, data: str) -> Any:
        """Return the table."""
        import dask.dataframe as dd

        if data.endswith(".parquet"):
            return dd.read_parquet(data)
        return dd.read_csv(f"{data}/*.csv" if Path(data).is_dir() else data)

    def sample(self, table: Any, rows: int) -> Any:
        """Return its first rows."""
        return table.head(rows, npartitions=-1, compute=True)

    def explain(self, explainer: Explainer, table: Any, keys: list[str] | None, request: Mapping[str, Any]) -> Any:
        """Return explanations."""
        return explainer.explain_dask(table, keys=keys, **request)

    def write(self, found: Any, output: str) -> None:
        """Write explanations to a folder."""
        if output.endswith(".parquet"):
            found.to_parquet(output, write_index=False)
        else:
            found.to_csv(f"{output}/part-*.csv", index=False)

    def read_back(self, output: str) -> Any:
        """Return the explanations that were written."""
        import dask.dataframe as dd

        if output.endswith(".parquet"):
            return self.read(output)
        names = {"keep_default_na": False, "na_values": [""]}  # a column may be called NA
        texts = dict.fromkeys(("status", "flipsets", "reasons", "advice", "error"), "string")
        return dd.read_csv(f"{output}/part-*.csv", dtype={**texts, "size": "float64"}, **names)

    def summarize(self, found: Any, by: str | None) -> Any:
        """Sum explanations up."""
        from flipset.clusters.frames import summarize_dask

        return summarize_dask(found, by)


@contextmanager
def _spark(master: str | None) -> Iterator[Engine]:
    from pyspark.sql import SparkSession

    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # what is used works
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
def _dask(scheduler: str | None) -> Iterator[Engine]:
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


ENGINES: dict[str, Callable[[str | None], AbstractContextManager[Engine]]] = {"spark": _spark, "dask": _dask}


def explain_in_engine(
    name: str,
    master: str | None,
    model: Any,
    data: str,
    output: Path,
    keys: list[str] | None,
    by: str | None,
    how: ModelOptions,
    what: SpaceOptions,
    request: Mapping[str, Any],
) -> tuple[Summary, dict[Any, Summary]]:
    """Explain a table in an engine into a folder; return what the explanations say together, and by group."""
    _check(name, data, output, how)
    if os.getcwd() not in os.environ.get("PYTHONPATH", "").split(os.pathsep):  # where python:module:object may lie
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH"))))
    try:
        with ENGINES[name](master) as engine, _whole_folder(output) as beside:
            table = engine.read(data)
            sample = engine.sample(table, POPULATION)
            positive = positive_of(model, how.positive)
            space = make_space(model, sample, positive, what)
            explainer = Explainer(model, space, threshold=how.threshold, positive=positive)
            known_by = [name for name in sample.columns if name not in space.names] if keys is None else list(keys)
            if by is not None and by not in known_by:
                known_by.append(by)
            engine.write(engine.explain(explainer, table, known_by, request), str(beside))
            written = engine.read_back(str(beside))
            return engine.summarize(written, None), {} if by is None else engine.summarize(written, by)
    except ImportError as error:
        raise InputError(f"--engine {name} needs {error.name}: pip install 'flipset[{name}]'") from None
    except FlipsetError:
        raise
    except Exception as error:  # whatever an engine raises, of which there are many kinds
        raise WorkerLost(f"{name} failed: {first_line(error)}") from error


def _check(name: str, data: str, output: Path, how: ModelOptions) -> None:
    """Refuse what cannot be done, before an engine is started."""
    if name not in ENGINES:
        raise InputError(f"--engine {name}: expected {' or '.join(ENGINES)}")
    for path in (data, str(output)):
        if not path.endswith(READ):
            raise InputError(f"{path}: with --engine, tables are {' or '.join(READ)}")
    if how.journal is not None:
        raise InputError("--journal is a file of one machine: leave it out with --engine")
    if output.exists():
        raise InputError(f"{output} is there already: delete it, or write to another place")
    if "://" not in data and not Path(data).exists():
        raise InputError(f"there is no file {data}")


@contextmanager
def _whole_folder(path: Path) -> Iterator[Path]:
    """Give a folder beside this one to write to; it takes this one's place when all went well."""
    beside = path.with_name(f".{path.stem}.unfinished{path.suffix}")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        yield beside
        beside.replace(path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
