"""Many explanations as columns, and their summary.

A row that could not be explained has an error in place of an explanation. It has a row in the columns too, with the
message of the error, and it is counted as an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from flipset.errors import FlipsetError, InputError
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
    return ("decision", "score", "status", "size", "lower", "upper", "ways", "flipsets", "reasons", "cost", "advice",
            *(f"new_{name}" for name in columns), "queries", "error")  # fmt: skip


def wide_columns(results: Results, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return columns with one row for each result; `columns` are those whose new values are included."""
    rows = [_wide(result, columns) for result in results]
    return {name: [row[name] for row in rows] for name in wide_names(columns)}


def long_columns(results: Results, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return columns with one row for each counterfactual; "row" is the number of its explanation."""
    rows = [row for i, result in enumerate(results) for row in _long(i, result, columns)]
    names = ("row", "flipset", "cost", "score", "advice", *(f"new_{name}" for name in columns))
    return {name: [row[name] for row in rows] for name in names}


def _wide(result: ExplanationData | FlipsetError, columns: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(wide_names(columns))
    if isinstance(result, FlipsetError):
        return row | {"error": str(result)}
    row |= {
        "decision": result.decision,
        "score": result.score,
        "status": result.status,
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


def _long(i: int, result: ExplanationData | FlipsetError, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    if not isinstance(result, FlipsetError):
        for one in result.counterfactuals:
            yield {
                "row": i,
                "flipset": ", ".join(one.flipset),
                "cost": one.cost,
                "score": one.score,
                "advice": str(one),
                **{f"new_{name}": one.row[name] for name in columns},
            }


# --- summaries --------------------------------------------------------------------------------------------------------


def summarize(results: Iterable[ExplanationData | FlipsetError]) -> Summary:
    """Return the summary of results."""
    counts = Counts()
    for result in results:
        if isinstance(result, FlipsetError):
            counts.add_error()
        else:
            counts.add(result.status, result.size, result.flipsets, result.reasons)
    return counts.summary()


def summarize_by(results: Results, groups: Iterable[Any]) -> dict[Any, Summary]:
    """Return the summary of each group; `groups` has one value for each result."""
    labels = list(groups)
    if len(labels) != len(results):
        raise InputError(f"groups must have one value for each row: {len(results)}, got {len(labels)}")
    members: dict[Any, list[ExplanationData | FlipsetError]] = {}
    for label, result in zip(map(plain, labels), results, strict=True):
        members.setdefault(label, []).append(result)
    return {group: summarize(members[group]) for group in sorted(members, key=str)}
