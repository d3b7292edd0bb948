"""`flipset table`: explain all rows of a table, and summarize them. Here, or with --engine on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from flipset import InputError
from flipset.cli.files import Writes
from flipset.cli.options import Data, Model, ModelOptions, SearchOptions, SpaceOptions
from flipset.explain.estimate import SAMPLE
from flipset.explain.table import WIDTH

if TYPE_CHECKING:
    from flipset.explain.explanations import Shape

MODEL, SPACE, SEARCH = ModelOptions(), SpaceOptions(), SearchOptions()


def table(
    model: Model | None = None,
    data: Data | None = None,
    *,
    output: Annotated[
        Path | None,
        Parameter(name=["--output", "-o"]),
        Writes("a table", beside=(".part",), folder=True, also="an explanation"),
    ] = None,
    estimate: Annotated[bool, Parameter(negative="")] = False,
    sample: int | None = None,
    share_answers: Annotated[bool, Parameter(negative="")] = False,
    workers: int = 1,
    width: int = WIDTH,
    resume: Annotated[bool, Parameter(negative="")] = False,
    limit: int | None = None,
    max_table_queries: int | None = None,
    max_table_seconds: float | None = None,
    by: str | None = None,
    reference_group: str | None = None,
    only: str | None = None,
    options: Annotated[Path, Writes("a table")] | None = None,
    changes: Annotated[Path, Writes("a table")] | None = None,
    long: Annotated[bool, Parameter(negative="")] = False,
    raw_text: Annotated[bool, Parameter(negative="")] = False,
    html: Annotated[Path, Writes("a report")] | None = None,
    engine: str | None = None,
    master: str | None = None,
    keys: list[str] | None = None,
    model_options: ModelOptions = MODEL,
    space_options: SpaceOptions = SPACE,
    search_options: SearchOptions = SEARCH,
) -> None:
    """Explain all rows of a table, and print a summary. Exit code 1 if some rows fail, 3 if all do.

    Example: flipset table model.txt loans.csv.gz -o advice.csv --by region --workers 2

    Parameters
    ----------
    model
        A model file or python:package.module:object; omit it with --url.
    data
        The table; also the population that costs refer to.
    output
        The file to write: .csv, .parquet, or .jsonl for complete explanations.
    estimate
        Explain a sample of the rows, and print what the whole table will take: queries, calls, price and time. With
        --output, the sample is kept in a .part file, from which the same command with --resume instead continues.
    sample
        With --estimate, the number of rows in the sample; by default 200.
    share_answers
        For a model that answers 0 or 1: do not ask it about rows whose decision follows from that on another row.
    workers
        The number of processes.
    width
        How many rows are explained at a time; they share calls of the model.
    resume
        Continue a run that was interrupted; finished rows are not explained again.
    limit
        Explain only this many rows, from the top.
    max_table_queries
        The largest number of queries in total; rows that need more report what is proved by then.
    max_table_seconds
        Stop after this many seconds; rows under way report what is proved by then, and the others that they were not
        begun. --max-seconds counts the work for each row alone.
    by
        A column of the data; compare its groups, declined rows with declined rows.
    reference_group
        The group that the others are compared with, a value of the column --by; by default, the largest group.
    only
        "declined" or "approved", or the words of the space: explain only rows with this decision. The others are
        scored, and have the status "not asked".
    options
        Write one line for each option to this file: .csv or .parquet.
    changes
        Write one line for each change of an option to this file: .csv or .parquet.
    long
        Write one line for each counterfactual instead of one for each row.
    raw_text
        Write texts to CSV as they are. By default, those that a spreadsheet would run as formulas get an apostrophe.
    html
        Write an HTML report on the table to this file.
    engine
        Run on a cluster: "spark" or "dask". DATA is .parquet or .csv, a file or a folder; the output is a folder.
    master
        The cluster: a Spark master, sc://... for Spark Connect, or a Dask scheduler; by default, this machine.
    keys
        With --engine, columns to write beside each result; by default the column of --id or, without it, all columns
        that the model does not use.
    """
    budgets = {"max_table_queries": max_table_queries, "max_table_seconds": max_table_seconds}
    if by is None:
        _refuse({"--reference-group": reference_group}, "needs --by")
    if not estimate:
        _refuse({"--sample": sample}, "needs --estimate")
    if output is None and (engine is not None or not estimate):
        raise InputError("give the file to write: --output advice.csv, also .parquet or .jsonl; --estimate needs none")
    if engine is not None:
        assert output is not None, "refused above"
        from flipset.cli.cluster_tables import ClusterTable, explain_on_cluster

        # Rows are counted, timed and kept by one process: a cluster has many, which know nothing of each other.
        local: dict[str, Any] = {
            "--html": html,
            "--estimate": estimate,
            "--share-answers": share_answers,
            "--resume": resume,
            "--limit": limit,
            "--long": long,
            "--options": options,
            "--changes": changes,
            "--workers": workers != 1,
        }
        local |= {f"--{name.replace('_', '-')}": value for name, value in budgets.items()}
        _refuse(local, "cannot be combined with --engine")
        there = ClusterTable(engine, master, output, keys, by, raw_text, reference_group)
        request = search_options.request() | ({} if only is None else {"only": only})
        explain_on_cluster(there, model, data, model_options, space_options, request)
        return
    _refuse({"--master": master, "--keys": keys}, "needs --engine")
    from flipset.cli.inputs import open_all
    from flipset.cli.local_tables import LocalTable, estimate_here, explain_here

    settings = {"workers": workers, "width": width, "only": only, **budgets}
    tidy: dict[Shape, Path] = {} if options is None else {"options": options}
    tidy |= {} if changes is None else {"changes": changes}
    here = LocalTable(output, settings, resume, limit, by, reference_group, long, raw_text, html, tidy)
    if estimate:
        others = {"--thresholds": search_options.thresholds, "--resume": resume}
        limits = {"--max-table-queries": max_table_queries, "--max-table-seconds": max_table_seconds}
        _refuse(others | limits, "cannot be combined with --estimate")
    opened = open_all(model, data, model_options, space_options, share_answers=share_answers)
    if estimate:
        size = SAMPLE if sample is None else sample
        estimate_here(here, opened, model_options.positive, search_options.request(), size)
        return
    explain_here(here, opened, model_options.positive, search_options.request())


def _refuse(options: dict[str, Any], why: str) -> None:
    """Refuse the first of these options that is given."""
    wrong = next((option for option, value in options.items() if value), None)
    if wrong is not None:
        raise InputError(f"{wrong} {why}")
