"""`flipset recheck`: which explanations on file still hold under a new model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from flipset import InputError, read_explanations
from flipset.cli.exits import FAILED, NONE_EXPLAINED
from flipset.cli.files import InputFile, Writes, must_exist
from flipset.cli.options import Data, Model, ModelOptions, SearchOptions, SpaceOptions
from flipset.cli.printing import print_lines
from flipset.cli.printing import width as line_width  # `width` is an option of this command
from flipset.explain.rechecks import ENDINGS
from flipset.explain.table import WIDTH
from flipset.plural import count

if TYPE_CHECKING:
    from flipset import Explanation, RecheckSummary
    from flipset.cli.inputs import Opened

MODEL, SPACE, SEARCH = ModelOptions(), SpaceOptions(), SearchOptions()


def recheck(
    explanations: InputFile,
    model: Model | None = None,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"]), Writes("a report", also="a table")] = None,
    new_explanations: Annotated[
        Path | None, Parameter(name="--new-explanations"), Writes("a table", also="an explanation")
    ] = None,
    repair: Annotated[bool, Parameter(negative="")] = False,
    data: Data | None = None,
    width: int = WIDTH,
    max_table_queries: int | None = None,
    max_table_seconds: float | None = None,
    raw_text: Annotated[bool, Parameter(negative="")] = False,
    model_options: ModelOptions = MODEL,
    space_options: SpaceOptions = SPACE,
    search_options: SearchOptions = SEARCH,
) -> None:
    """Recheck explanations on file against a new model. Exit code 1 if a promise no longer holds.

    A promise holds if the decision on the row is unchanged and every counterfactual on file still flips it. Otherwise,
    the person needs a new letter, unless the row was approved and still is. The summary also counts the answers that
    are no longer proved to be the smallest, and the options that a space no longer allows.

    Example: flipset recheck explanations.jsonl new_model.ubj -o report.csv --repair --data loans.csv

    Parameters
    ----------
    explanations
        A .jsonl file, as `flipset table -o explanations.jsonl` writes it.
    model
        The new model: a file or python:package.module:object; omit it with --url.
    output
        The report to write: .csv, .jsonl for everything, or .html for people. Without it, the rows that need attention
        are printed.
    new_explanations
        The .jsonl file to write the new explanations to, for verify and for the next recheck; this needs --repair.
    repair
        Make a new explanation where the promise or the proof does not hold, or where what may change is not as it was;
        this needs --data. The options for allowed changes and for the search are about the new explanations. Unless
        --objective or --max-changes is given, both are as on file.
    data
        The table that costs, grids and the types of the columns are read from.
    width
        How many explanations are rechecked at a time; they share calls of the model.
    max_table_queries
        The largest number of queries in total.
    max_table_seconds
        Stop after this many seconds; what was not rechecked by then says so.
    raw_text
        Write texts to CSV as they are. By default, those that a spreadsheet would run as formulas get an apostrophe.
    """
    from flipset.show.rechecks import attention_lines, tell_rechecks

    if output is not None and output.suffix not in ENDINGS:
        raise InputError(f"{output}: expected a file ending in {', '.join(ENDINGS)}")
    if new_explanations is not None and not repair:
        raise InputError("--new-explanations needs --repair, which makes them")
    if new_explanations is not None and new_explanations.suffix != ".jsonl":
        raise InputError(f"{new_explanations}: expected a file ending in .jsonl")
    must_exist(explanations)
    if repair and data is None:
        raise InputError("--repair needs --data, the table that costs and grids are read from")
    if not repair and search_options != SEARCH:
        raise InputError("options for the search are about new explanations: add --repair")
    # Identifiers are those on file; the option only keeps a column of the data from the model.
    has_space = repair or replace(space_options, id=None) != SPACE
    if has_space and data is None:
        raise InputError("options for allowed changes need --data, the table that they are about")
    stored = read_explanations(explanations)
    opened = _open(stored.first(), model, data, model_options, space_options if has_space else None)
    results = opened.explainer.recheck(
        stored,
        repair=repair,
        has_space=has_space,
        progress=sys.stderr.isatty(),
        width=width,
        max_table_queries=max_table_queries,
        max_table_seconds=max_table_seconds,
        **(_request(search_options) if repair else {}),
    )
    about = {"asked": str(explanations), "model": opened.model, "identity": opened.identity}
    written = []
    if output is not None:
        results.write(output, raw_text=raw_text, **about)
        written.append(f"Written to {output}.")
    if new_explanations is not None:
        results.write_explanations(new_explanations)
        new = count(len(results.new_explanations()), "new explanation")
        written.append(f"{new} written to {new_explanations}.")
    summary, width_ = results.summary(), line_width()
    rows = [] if output is not None else ["", *attention_lines(results, width=width_)]
    ending = " ".join([*written, f"{count(results.queries, 'query')}."])
    print_lines([*tell_rechecks(summary, width_), *(rows if len(rows) > 1 else []), "", ending, *opened.bill])
    _end(summary)


def _end(summary: RecheckSummary) -> None:
    """End the command by what became of the explanations; return if every promise holds."""
    if summary.errors == summary.rows:
        print("flipset: no explanation could be rechecked", file=sys.stderr)
        sys.exit(NONE_EXPLAINED)
    if summary.new_letters or summary.out_of_date or summary.disallowed or summary.errors or summary.not_repaired:
        sys.exit(FAILED)


def _request(options: SearchOptions) -> dict[str, Any]:
    """Return the request of new explanations; the objective and the limit on changes are left to the file."""
    request = options.request()
    if options.objective == SEARCH.objective and options.max_changes is None:
        del request["objective"], request["max_changes"]
    return request


def _open(
    first: Explanation, spec: str | None, data: str | None, options: ModelOptions, space_options: SpaceOptions | None
) -> Opened:
    """Open the model; without options for a space, what could move is known from the explanations alone."""
    from flipset import Feature, Space
    from flipset.cli.inputs import open_model, positive_of, prepare, read_data
    from flipset.cli.space_inputs import make_space
    from flipset.cli.verifying import table_like

    if (spec is None) == (options.endpoint.url is None):
        raise InputError("give the model once: MODEL or --url")
    spec = spec or options.endpoint.url or ""
    id_column = None if space_options is None else space_options.id
    model, frame = open_model(spec, options), None if data is None else read_data(data, id_column)
    if space_options is None:
        space = Space([Feature(name, fixed=True) for name in first.row])
        if frame is not None:
            space = space.with_reference(table_like(first, frame))
    else:
        space = make_space(model, frame, positive_of(model, options), space_options)
    return prepare(spec, model, space, options, frame, data or "")
