"""Many explanations as columns, and their summary.

A row that could not be explained has an error in place of an explanation. It has a row in the columns too, with the
message of the error, and it is counted as an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from flipset.errors import FlipsetError, InputError, NotMonotone
from flipset.results.basis import weakest
from flipset.results.data import ExplanationData
from flipset.results.summary import Counts, write_sets
from flipset.space.feature import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flipset.results.summary import Summary

Results: TypeAlias = Sequence[ExplanationData | FlipsetError]
"""For each row of a table, in order, its explanation or its error."""


# --- columns ----------------------------------------------------------------------------------------------------------


def wide_names(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns of a table of explanations."""
    return ("decision", "score", "status", "basis", "size", "lower", "upper", "ways", "flipsets", "reasons", "cost",
            "advice", *(f"new_{name}" for name in columns), "queries", "error")  # fmt: skip


def wide_columns(results: Results, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return columns with one row for each result; `columns` are those whose new values are included."""
    return _columns(wide_names(columns), wide_rows(results, columns))


def wide_rows(results: Iterable[ExplanationData | FlipsetError], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of `wide_columns`, one at a time."""
    blank: dict[str, Any] = dict.fromkeys(wide_names(columns))
    for result in results:
        # `blank` gives the order of the columns, and the cells that a result does not have.
        yield tuple((blank | _wide(result, columns)).values())


def long_names(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns of a table of counterfactuals."""
    return ("row", "flipset", "cost", "score", "advice", *(f"new_{name}" for name in columns))


def long_columns(results: Results, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return columns with one row for each counterfactual; "row" is the number of its explanation."""
    return _columns(long_names(columns), long_rows(results, columns))


def long_rows(results: Iterable[ExplanationData | FlipsetError], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of `long_columns`, one at a time."""
    for i, result in enumerate(results):
        if not isinstance(result, FlipsetError):
            for one in result.counterfactuals:
                new = [one.row[name] for name in columns]
                yield (i, ", ".join(one.flipset), one.cost, one.score, str(one), *new)


def _columns(names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in names}
    # Row by row, so that the rows themselves are not all in memory beside their columns.
    into = [cells.append for cells in columns.values()]
    for row in rows:
        for append, cell in zip(into, row, strict=True):
            append(cell)
    return columns


def _wide(result: ExplanationData | FlipsetError, columns: Sequence[str]) -> dict[str, Any]:
    """Return the cells of a result that has any, by the names of their columns."""
    if isinstance(result, FlipsetError):
        return {"error": str(result)}
    row: dict[str, Any] = {
        "decision": result.decision,
        "score": result.score,
        "status": result.status,
        "basis": weakest(result.basis.values()),
        "size": result.size,
        "lower": result.lower,
        "upper": result.upper,
        "ways": len(result.flipsets),
        "flipsets": write_sets(result.flipsets),
        "reasons": write_sets(result.reasons),
        "queries": result.queries,
    }
    best = min(result.counterfactuals, key=lambda one: one.cost, default=None)
    if best is not None:
        row |= {"cost": best.cost, "advice": str(best), **{f"new_{name}": best.row[name] for name in columns}}
    return row


# --- summaries --------------------------------------------------------------------------------------------------------


def summarize(results: Iterable[ExplanationData | FlipsetError]) -> Summary:
    """Return the summary of results."""
    counts = Counts()
    for result in results:
        if isinstance(result, FlipsetError):
            counts.add_error(contradicts=isinstance(result, NotMonotone))
        else:
            basis = weakest(result.basis.values())
            counts.add(result.status, result.size, result.flipsets, result.reasons, basis)
    return counts.summary()


def summarize_by(results: Results, groups: Iterable[Any]) -> dict[Any, Summary]:
    """Return the summary of each group; `groups` has one value for each result."""
    labels = list(groups)
    if len(labels) != len(results):
        raise InputError(f"groups must have one value for each row: {len(results)}, got {len(labels)}")
    members: dict[Any, list[ExplanationData | FlipsetError]] = {}
    for label, result in zip(map(plain, labels), results, strict=True):
        members.setdefault(label, []).append(result)
    # By text, since labels may be of several types, which cannot be compared.
    return {group: summarize(members[group]) for group in sorted(members, key=str)}
