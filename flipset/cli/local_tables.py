"""`flipset table` on this machine: rows are explained into a file, then summarized."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset import Fault, FlipsetError, InputError
from flipset.boundary.outputs import check_writable, write_text
from flipset.cli.exits import end_by_rows, is_limited
from flipset.cli.printing import print_lines, print_summary, width
from flipset.cli.resumable import ENDINGS, estimate_in_file, explain_to_file
from flipset.plural import count
from flipset.results.groups import find_group
from flipset.show.words import joined
from flipset.space.feature import plain
from flipset.space.row_id import is_known
from flipset.values.change import show_threshold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flipset.cli.inputs import Opened
    from flipset.explain.explanations import Explanations, Shape
    from flipset.results.groups import GroupSummaries
    from flipset.space.ids import Ids


@dataclass(frozen=True, slots=True)
class LocalTable:
    """Which rows are explained, how, and what is written; `flipset table --help` describes the options.

    `settings` are arguments of `Explainer.explain_table`. `tidy` has the files for tables of options and changes. There
    is an `output` unless rows are only estimated.
    """

    output: Path | None
    settings: dict[str, Any]
    resume: bool = False
    limit: int | None = None
    by: str | None = None
    reference_group: str | None = None
    long: bool = False
    raw_text: bool = False
    html: Path | None = None
    tidy: Mapping[Shape, Path] = field(default_factory=dict)


def explain_here(table: LocalTable, opened: Opened, positive: str | None, request: dict[str, Any]) -> None:
    """Explain the rows, write them, print the summary, and end by how many rows failed."""
    rows = _rows(table, opened.frame)
    ids = None if opened.ids is None else opened.ids.part(range(len(rows)))
    if request["thresholds"] is not None:
        _explain_thresholds(table, opened, rows, ids, request)
        return
    assert table.output is not None, "only an estimate needs no file"
    kind = {"model": opened.identity, "positive": positive}
    explanations = explain_to_file(
        opened.explainer,
        rows,
        table.output,
        kind,
        request,
        table.settings,
        resume=table.resume,
        long=table.long,
        raw_text=table.raw_text,
        ids=ids,
        tidy=table.tidy,
    )
    summary = explanations.summary()
    groups = _compared(table, explanations, rows)
    files = joined([str(path) for path in (table.output, *table.tidy.values(), table.html) if path])
    written = f"Written to {files}. {count(explanations.queries, 'query')}."
    notes = [*([] if ids is None else _notes(ids)), written, *opened.bill]
    words = opened.explainer.space.words
    if table.html is not None:
        from flipset.show.report import report_table

        write_text(
            table.html,
            report_table(
                explanations,
                asked=opened.data,
                model=opened.model,
                identity=opened.identity,
                groups=groups,
                ids=None if ids is None else ids.listed(),
                by=None if table.by is None else words.of(table.by),
            ),
        )
    print_summary(summary, groups, notes, explanations.cases(width()), words=words, by=table.by)
    end_by_rows(summary.errors - summary.not_begun, summary.rows, summary.not_begun + summary.stopped)


def estimate_here(
    table: LocalTable, opened: Opened, positive: str | None, request: dict[str, Any], sample: int
) -> None:
    """Print what explaining the rows will take, from a sample; keep the sample for a run that writes a file."""
    rows = _rows(table, opened.frame)
    ids = None if opened.ids is None else opened.ids.part(range(len(rows)))
    kind = {"model": opened.identity, "positive": positive}
    estimate = estimate_in_file(opened.explainer, rows, table.output, kind, request, table.settings, sample, ids)
    print_lines(estimate.lines(width()))
    if table.output is not None:
        print_lines([f"The rows of the sample are kept for {table.output}: give the same command with --resume"])
        print_lines(["instead of --estimate, and without --sample, to explain the rest."])


def _explain_thresholds(table: LocalTable, opened: Opened, rows: Any, ids: Ids | None, request: dict[str, Any]) -> None:
    """Explain the rows for several thresholds, and write a table for each."""
    for option, value in (("--resume", table.resume), ("--html", table.html), ("--options or --changes", table.tidy)):
        if value:
            raise InputError(f"{option} cannot be combined with --thresholds: give one --threshold at a time")
    assert table.output is not None, "only an estimate needs no file"
    ending = table.output.suffix
    outputs = [table.output.with_stem(f"{table.output.stem}-{one:g}") for one in request["thresholds"]]
    for one in outputs:
        if ending not in ENDINGS or (table.long and ending == ".jsonl"):
            raise InputError(f"{table.output}: expected a file ending in {', '.join(ENDINGS)}; --long needs a table")
        if one.exists() and one.resolve() in {Path(name).resolve() for name in (opened.model, opened.data)}:
            raise InputError(f"{one} would be written for a threshold, and is read: choose another -o")
        check_writable(one)
    explainer = opened.explainer
    several = explainer.explain_table(rows[list(explainer.space.table_columns)], id=ids, **table.settings, **request)
    errors = limited = 0
    for output, threshold, explanations in zip(outputs, several.thresholds, several, strict=True):
        if (fault := next((result for result in explanations if isinstance(result, Fault)), None)) is not None:
            raise fault
        explanations.write(output, long=table.long, raw_text=table.raw_text)
        groups = _compared(table, explanations, rows)
        notes = [f"Written to {output}.", ""]
        print_lines([f"Threshold {show_threshold(threshold)}", ""])
        print_summary(explanations.summary(), groups, notes, words=explainer.space.words, by=table.by)
        errors += sum(isinstance(result, FlipsetError) for result in explanations)
        limited += sum(is_limited(result) for result in explanations)
    alone = sum(explanations.queries for explanations in several)
    together = f"{count(several.queries, 'query')} for all thresholds together; one by one, they take {alone:,}."
    print_lines([together, *opened.bill])
    end_by_rows(errors, len(rows) * len(outputs), limited)


def _compared(table: LocalTable, explanations: Explanations, rows: Any) -> GroupSummaries | None:
    """Return the summaries of groups, if there is a column to group by."""
    return None if table.by is None else explanations.summary_by(rows[table.by].tolist(), table.reference_group)


def _notes(ids: Ids) -> Iterator[str]:
    """Say where identifiers do not identify rows: a join by them would lose or repeat rows."""
    listed = ids.listed()
    missing = sum(not is_known(own) for own in listed)
    times = Counter(tuple(own.values()) for own in listed if is_known(own))
    repeated = sum(n for n in times.values() if n > 1)
    name = ", ".join(ids.names)
    if missing:
        yield f"Note: {count(missing, 'row')} without {name}."
    if repeated:
        yield f"Note: {count(repeated, 'row')} share their {name} with another row; their numbers tell them apart."


def _rows(table: LocalTable, frame: Any) -> Any:
    """Return the rows to explain; refuse options that do not fit the data, before any row is explained."""
    if table.by is not None and table.by not in frame.columns:
        columns = ", ".join(list(frame.columns)[:12])
        raise InputError(f"--by {table.by}: the data have no such column; they have {columns}")
    if table.limit is not None and table.limit < 1:
        raise InputError(f"--limit {table.limit}: expected at least 1")
    rows = frame if table.limit is None else frame.iloc[: table.limit]
    if table.by is not None and table.reference_group is not None:
        find_group(table.reference_group, sorted({plain(value) for value in rows[table.by].tolist()}, key=str))
    return rows
