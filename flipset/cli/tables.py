"""`flipset table`: explain all rows of a table, and summarize them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from flipset import FlipsetError, InputError
from flipset.cli.exits import end_by_rows, is_limited
from flipset.cli.files import Writes
from flipset.cli.options import Data, Model, ModelOptions, SearchOptions, SpaceOptions
from flipset.cli.printing import print_lines
from flipset.cli.printing import width as line_width  # `width` is an option of this command
from flipset.explain.table import WIDTH
from flipset.outputs import write_text
from flipset.plural import count

MODEL, SPACE, SEARCH = ModelOptions(), SpaceOptions(), SearchOptions()


def table(
    model: Model | None = None,
    data: Data | None = None,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"]), Writes("a table", beside=(".part",), folder=True)],
    workers: int = 1,
    width: int = WIDTH,
    resume: Annotated[bool, Parameter(negative="")] = False,
    limit: int | None = None,
    max_table_queries: int | None = None,
    max_table_seconds: float | None = None,
    by: str | None = None,
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
        A column of the data; compare its groups.
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
        With --engine, columns that identify a row; by default, all columns that the model does not use.
    """
    if engine is not None:
        unsupported: dict[str, Any] = {
            "--html": html,
            "--resume": resume,
            "--limit": limit,
            "--long": long,
            "--workers": workers != 1,
        }
        unsupported |= {"--max-table-queries": max_table_queries, "--max-table-seconds": max_table_seconds}
        wrong = next((option for option, value in unsupported.items() if value), None)
        if wrong is not None:
            raise InputError(f"{wrong} cannot be combined with --engine")
        options = model_options, space_options, search_options
        _on_cluster(engine, master, model, data, output, keys, by, raw_text, *options)
        return
    if master is not None or keys is not None:
        raise InputError("--master and --keys need --engine")
    from flipset.cli.inputs import open_all
    from flipset.cli.resumable import explain_to_file
    from flipset.show.text import tell_groups, tell_summary

    opened = open_all(model, data, model_options, space_options)
    frame = opened.frame
    if by is not None and by not in frame.columns:
        raise InputError(f"--by {by}: the data have no such column; they have {', '.join(list(frame.columns)[:12])}")
    if limit is not None and limit < 1:
        raise InputError(f"--limit {limit}: expected at least 1")
    chosen = frame if limit is None else frame.iloc[:limit]
    kind = {"model": opened.identity, "positive": model_options.positive}
    settings: dict[str, Any] = {"workers": workers, "width": width, "max_table_queries": max_table_queries}
    settings["max_table_seconds"] = max_table_seconds
    request, form = search_options.request(), {"long": long, "raw_text": raw_text}
    explanations = explain_to_file(opened.explainer, chosen, output, kind, request, settings, resume=resume, **form)
    summary = explanations.summary()
    lines = list(tell_summary(summary, line_width()))
    groups = {} if by is None else explanations.summary_by(chosen[by].tolist())
    if groups:
        lines += ["", *tell_groups(groups)]
    print_lines([*lines, "", f"Written to {output}. {count(explanations.queries, 'query')}.", *opened.bill])
    if html is not None:
        from flipset.show.report import report_table

        write_text(
            html,
            report_table(explanations, asked=opened.data, model=opened.model, identity=opened.identity, groups=groups),
        )
    limited = [result for result in explanations if is_limited(result)]
    not_begun = sum(isinstance(result, FlipsetError) for result in limited)
    end_by_rows(summary.errors - not_begun, summary.rows, len(limited))


def _on_cluster(
    engine: str,
    master: str | None,
    model: str | None,
    data: str | None,
    output: Path,
    keys: list[str] | None,
    by: str | None,
    raw_text: bool,
    model_options: ModelOptions,
    space_options: SpaceOptions,
    search_options: SearchOptions,
) -> None:
    from flipset.cli.clusters import explain_on_cluster
    from flipset.cli.inputs import given, items, open_model
    from flipset.show.text import tell_groups, tell_summary

    spec, table = given(model, data, model_options)
    chosen = None if keys is None else items(keys)
    loaded, request = open_model(spec, model_options), search_options.request()
    summary, groups = explain_on_cluster(
        engine, master, loaded, table, output, chosen, by, raw_text, model_options, space_options, request
    )
    lines = list(tell_summary(summary, line_width()))
    print_lines([*lines, *(["", *tell_groups(groups)] if groups else []), "", f"Written to {output}."])
    end_by_rows(summary.errors, summary.rows, round(summary.stopped * (summary.rows - summary.errors)))
