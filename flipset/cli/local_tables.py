"""`flipset table` on this machine: rows are explained into a file, then summarized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flipset import FlipsetError, InputError
from flipset.boundary.outputs import write_text
from flipset.cli.exits import end_by_rows, is_limited
from flipset.cli.printing import print_summary
from flipset.cli.resumable import explain_to_file
from flipset.plural import count

if TYPE_CHECKING:
    from pathlib import Path

    from flipset.cli.inputs import Opened


@dataclass(frozen=True, slots=True)
class LocalTable:
    """Which rows are explained, how, and what is written; `flipset table --help` describes the options.

    `settings` are arguments of `Explainer.explain_table`.
    """

    output: Path
    settings: dict[str, Any]
    resume: bool = False
    limit: int | None = None
    by: str | None = None
    long: bool = False
    raw_text: bool = False
    html: Path | None = None


def explain_here(table: LocalTable, opened: Opened, positive: str | None, request: dict[str, Any]) -> None:
    """Explain the rows, write them, print the summary, and end by how many rows failed."""
    rows = _rows(table, opened.frame)
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
    )
    summary = explanations.summary()
    groups = {} if table.by is None else explanations.summary_by(rows[table.by].tolist())
    written = f"Written to {table.output}. {count(explanations.queries, 'query')}."
    print_summary(summary, groups, [written, *opened.bill])
    if table.html is not None:
        from flipset.show.report import report_table

        write_text(
            table.html,
            report_table(explanations, asked=opened.data, model=opened.model, identity=opened.identity, groups=groups),
        )
    limited = [result for result in explanations if is_limited(result)]
    not_begun = sum(isinstance(result, FlipsetError) for result in limited)
    end_by_rows(summary.errors - not_begun, summary.rows, len(limited))


def _rows(table: LocalTable, frame: Any) -> Any:
    """Return the rows to explain; refuse options that do not fit the data, before any row is explained."""
    if table.by is not None and table.by not in frame.columns:
        columns = ", ".join(list(frame.columns)[:12])
        raise InputError(f"--by {table.by}: the data have no such column; they have {columns}")
    if table.limit is not None and table.limit < 1:
        raise InputError(f"--limit {table.limit}: expected at least 1")
    return frame if table.limit is None else frame.iloc[: table.limit]
