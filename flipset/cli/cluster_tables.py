"""`flipset table --engine`: read, explain, write and summarize a table on a Spark or Dask cluster.

The table never passes through this process: only a sample of it, for bounds and costs, and the counts of the summary
do. The output folder appears only when it is complete.
"""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset import Explainer, FlipsetError, InputError, WorkerLost
from flipset.cli.clusters import CLUSTERS
from flipset.cli.exits import end_by_rows
from flipset.cli.inputs import decision_of, given, open_model, positive_of
from flipset.cli.option_values import items
from flipset.cli.printing import print_summary
from flipset.cli.rows import ids_of
from flipset.cli.space_inputs import make_space
from flipset.errors import first_line
from flipset.results.groups import GroupSummaries
from flipset.results.spreadsheets import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flipset.cli.clusters import Cluster
    from flipset.cli.options import ModelOptions, SpaceOptions
    from flipset.results.summary import TableSummary

POPULATION = 100_000
"""Rows from the top of the table that serve as the population: bounds, steps and costs are read from them."""

READ = (".parquet", ".csv")


@dataclass(frozen=True, slots=True)
class ClusterTable:
    """Where a table is explained, and what is written; `flipset table --help` describes the options."""

    engine: str
    master: str | None
    output: Path
    keys: list[str] | None = None
    by: str | None = None
    raw_text: bool = False
    reference_group: str | None = None

    @property
    def quotes_texts(self) -> bool:
        """Whether texts that a spreadsheet would run as formulas are written with an apostrophe."""
        return self.output.suffix == ".csv" and not self.raw_text


def explain_on_cluster(
    there: ClusterTable,
    model: str | None,
    data: str | None,
    model_options: ModelOptions,
    space_options: SpaceOptions,
    request: Mapping[str, Any],
) -> None:
    """Explain a table on a cluster, write a folder, print the summary, and end by how many rows failed."""
    spec, table = given(model, data, model_options)
    loaded = open_model(spec, model_options)
    _check(there, table, model_options)
    _let_workers_import_from_here()
    try:
        with CLUSTERS[there.engine](there.master) as cluster, _whole_folder(there.output) as beside:
            rows = cluster.read(table, space_options.id)
            sample = cluster.sample(rows, POPULATION)
            positive = positive_of(loaded, model_options)
            space = make_space(loaded, sample, positive, space_options)
            decision = decision_of(space.decision, model_options)
            explainer = Explainer(
                loaded, space, threshold=model_options.threshold, decision=decision, positive=positive
            )
            ids_of(sample, space, space_options.id)  # refuses one that the model sees
            keys = _keys(there, list(sample.columns), space.names, space_options.id)
            written = _write(cluster, cluster.explain(explainer, rows, keys, request), there, beside)
            summary: TableSummary = cluster.summarize(written, None, decision)
            by_group = None if there.by is None else cluster.summarize(written, there.by, decision)
    except ImportError as error:
        raise InputError(f"--engine {there.engine} needs {error.name}: pip install 'flipset[{there.engine}]'") from None
    except FlipsetError:
        raise
    except Exception as error:  # clusters raise errors of many kinds, without a common base
        raise WorkerLost(f"{there.engine} failed: {first_line(error)}") from error
    # After the folder is in its place: a reference group that is not there must not cost the explanations.
    groups = None if by_group is None else GroupSummaries.compared(by_group.summaries, there.reference_group)
    print_summary(summary, groups, [f"Written to {there.output}."], words=explainer.space.words, by=there.by)
    end_by_rows(summary.errors, summary.rows, summary.stopped)


def _check(there: ClusterTable, data: str, model_options: ModelOptions) -> None:
    """Refuse what cannot be done before a cluster is started."""
    if there.engine not in CLUSTERS:
        raise InputError(f"--engine {there.engine}: expected {' or '.join(CLUSTERS)}")
    for path in (data, str(there.output)):
        if not path.endswith(READ):
            raise InputError(f"{path}: with --engine, tables are {' or '.join(READ)}")
    if model_options.journal is not None:
        raise InputError("--journal is a file on one machine and cannot be combined with --engine")
    if there.output.exists():
        raise InputError(f"{there.output} exists already: delete it, or choose another output")
    if "://" not in data and not Path(data).exists():
        raise InputError(f"there is no file {data}")


def _let_workers_import_from_here() -> None:
    """Let workers that are started on this machine find the module of python:module:object, as this process does."""
    before = os.environ.get("PYTHONPATH")
    if os.getcwd() not in (before or "").split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.getcwd(), before)))


def _keys(there: ClusterTable, columns: list[str], used: tuple[str, ...], id_column: str | None) -> list[str]:
    """Return the columns to write beside each result: partitions have no common order by which to find a row."""
    if id_column is not None:
        keys = list(dict.fromkeys([id_column, *items(there.keys or [])]))
    else:
        keys = [name for name in columns if name not in used] if there.keys is None else items(there.keys)
    # The summary is made from the output, so the column that it is grouped by must be there.
    return keys if there.by is None or there.by in keys else [*keys, there.by]


def _write(cluster: Cluster, explanations: Any, there: ClusterTable, folder: Path) -> Any:
    """Write the explanations, and read them back: whatever is computed from them otherwise asks the model again."""
    if not there.quotes_texts:
        cluster.write(explanations, str(folder))
        return cluster.read_back(str(folder))
    cluster.write(cluster.with_texts(explanations, quote), str(folder))
    # The summary is of the file that was written, so what was quoted for spreadsheets is unquoted again.
    return cluster.with_texts(cluster.read_back(str(folder)), unquote)


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
