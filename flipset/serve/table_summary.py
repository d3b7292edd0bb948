"""The summary of the page: how many changes rows need, and which features are in flip sets and reasons.

It counts only rows that are explained so far, so it may be asked for at any time. Rows are counted in arrays, into the
same counts as in the rest of the library, so that shares, figures and intervals have one definition. Costs are not
among them: the background work finds flip sets, and no values.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import NOT_MONOTONE, InputError
from flipset.results.groups import SMALL, GroupSummaries
from flipset.results.summary import SIDES, Counts
from flipset.serve.groups import groups_of
from flipset.show.group_tables import figure_tables, group_notes, shown_groups

if TYPE_CHECKING:
    from flipset.results.summary import Side, TableSummary
    from flipset.serve.row_results import Bools, Part, RowResults
    from flipset.space.words import FeatureWords

MOST_COMPARED = 100
"""The most groups that can be compared."""


def summarize_rows(
    results: RowResults, by: str = "", reference: str = "", words: FeatureWords | None = None
) -> dict[str, Any]:
    """Return the summary of explained rows, declined and approved apart; with `by`, compare the groups of a column.

    Groups are compared with the group `reference`, by default with the largest; `words` are those of the column.
    """
    # One copy for all parts, so that the groups add up to the whole while more rows are explained.
    known = results.known
    everything = _dump(counted(results, known).summary(results.decision), results)
    if not by:
        return {"all": everything, "groups": []}
    values = np.array(groups_of(results.frame, by), dtype=object)
    different = sorted(set(values))
    if len(different) > MOST_COMPARED:
        raise InputError(f"{by!r} has {len(different):,} values; at most {MOST_COMPARED} can be compared")
    summaries = {value: counted(results, known & (values == value)).summary(results.decision) for value in different}
    groups = GroupSummaries.compared(summaries, reference or None)
    return {
        "all": everything,
        "reference": groups.reference,
        "small": SMALL,
        "groups": [_dump_group(groups, group, results) for group in groups],
        "shown": shown_groups(groups),
        "tables": {side: _tables(groups, side, words) for side in SIDES},
    }


def counted(results: RowResults, rows: Bools) -> Counts:
    """Count rows that have a result."""
    counts = Counts()
    failed = rows & results.have("error")
    for row in np.flatnonzero(failed).tolist():
        counts.add_error(contradicts=results.errors.get(row, "").startswith(NOT_MONOTONE))
    above = results.scores >= results.threshold
    for side, chosen in (("above", rows & ~failed & above), ("below", rows & ~failed & ~above)):
        for status in ("optimal", "incomplete", "none", "stopped", "unproved"):
            counts.of[side, f"is {status}", ""] += int((chosen & results.have(status)).sum())
        proved = chosen & results.have("optimal")
        sized = proved | (chosen & results.have("incomplete"))
        counts.of[side, "one change", ""] += int((sized & results.one_change).sum())
        sizes, rows_of_size = np.unique(results.sizes[sized], return_counts=True)
        for size, n in zip(sizes.tolist(), rows_of_size.tolist(), strict=True):
            counts.add_size(side, size, n)
        # A row without an option has reasons but no flip set, so the shares are of different rows.
        whose: dict[Part, Bools] = {"some": proved, "all": proved, "reason": chosen}
        for part, own in whose.items():
            for name, n in zip(results.units, results.parts[part][own].sum(axis=0).tolist(), strict=True):
                if n:
                    counts.of[side, part, name] += n
    return counts


def _dump(summary: TableSummary, results: RowResults) -> dict[str, Any]:
    """Return a summary as JSON holds it."""
    sides: dict[str, Any] = {side: _dump_side(summary, side, results) for side in SIDES}
    return {"rows": summary.rows, "errors": summary.errors, "contradicted": summary.contradicted} | sides


def _dump_side(summary: TableSummary, side: Side, results: RowResults) -> dict[str, Any]:
    one = summary.of(side)
    shares = {"some": one.in_some, "all": one.in_all, "reason": one.in_reasons}
    return {
        "outcome": one.outcome,
        # Whether scores of these rows are at or above the threshold: filters know rows by this.
        "decision": summary.decision.is_favorable(True) == (side == "approved"),
        "rows": one.rows,
        "statuses": dict(one.statuses),
        "sizes": [{"size": size, "rows": n} for size, n in one.sizes.items()],
        "one_change": one.one_change,
        "mean_size": None if isnan(one.mean_size) else one.mean_size,
        "features": [
            {"name": name, **{part: share.get(name, 0.0) for part, share in shares.items()}}
            for name in results.units
            if any(name in share for share in shares.values())
        ],
    }


def _dump_group(groups: GroupSummaries, group: Any, results: RowResults) -> dict[str, Any]:
    figures = {side: {name: figure.cells() for name, figure in groups.figures(group, side).items()} for side in SIDES}
    return {"group": group, **_dump(groups[group], results), "figures": figures}


def _tables(groups: GroupSummaries, side: Side, words: FeatureWords | None) -> dict[str, Any]:
    """Return the figures as the page shows them: the texts of the terminal and the report."""
    tables = figure_tables(groups, side, words)
    shown = [
        {"title": one.title, "head": list(one.head), "lines": [list(line) for line in one.lines]} for one in tables
    ]
    return {"notes": list(group_notes(groups, side, words)), "figures": shown}
