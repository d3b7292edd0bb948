"""Many explanations as columns, and their summary.

A row that could not be explained has an error in place of an explanation. It has a row in the columns too, with the
message of the error, and it is counted as an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from flipset.errors import NOT_MONOTONE, BudgetExhausted, FlipsetError, InputError
from flipset.results.basis import weakest
from flipset.results.data import ExplanationData
from flipset.results.groups import GroupSummaries
from flipset.results.summary import Counts, write_sets
from flipset.space.feature import plain
from flipset.space.words import Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flipset.results.summary import TableSummary

Results: TypeAlias = Sequence[ExplanationData | FlipsetError]
"""For each row of a table, in order, its explanation or its error."""


# --- columns ----------------------------------------------------------------------------------------------------------


def further_columns(more: int | None, curve: bool, constrained: bool) -> tuple[str, ...]:
    """Return the columns that a table has only where they were asked for, or where the space has constraints."""
    wanted = {"larger": more is not None, "curve": curve, "broken": constrained}
    return tuple(name for name, is_wanted in wanted.items() if is_wanted)


def further_in(results: Iterable[ExplanationData | FlipsetError]) -> tuple[str, ...]:
    """Return the columns of `further_columns` that some explanation has."""
    more, curve, constrained = None, False, False
    for result in results:
        if not isinstance(result, FlipsetError):
            more, curve = more or result.more, curve or bool(result.curve)
            constrained = constrained or (result.rules is not None and bool(result.rules.constraints))
    return further_columns(more, curve, constrained)


def wide_names(columns: Sequence[str], further: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of the columns of a table of explanations."""
    return ("decision", "outcome", "score", "status", "basis", "size", "lower", "upper", "ways", "flipsets", "reasons",
            "cost", "cost_at_least", "advice", "leads_to", *further, *(f"new_{name}" for name in columns), "queries",
            "error")  # fmt: skip


def wide_columns(results: Results, columns: Sequence[str], further: Sequence[str] = ()) -> dict[str, list[Any]]:
    """Return columns with one row for each result; `columns` are those whose new values are included.

    `further` are columns of `further_columns`.
    """
    return _columns(wide_names(columns, further), wide_rows(results, columns, further))


def wide_rows(
    results: Iterable[ExplanationData | FlipsetError], columns: Sequence[str], further: Sequence[str] = ()
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of `wide_columns`, one at a time."""
    blank: dict[str, Any] = dict.fromkeys(wide_names(columns, further))
    for result in results:
        # `blank` gives the order of the columns, and the cells that a result does not have.
        cells = blank | _wide(result, columns)
        yield tuple(cells[name] for name in blank)


def long_names(columns: Sequence[str], further: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of the columns of a table of counterfactuals."""
    mark = ["larger"] if "larger" in further else []
    return ("row", "flipset", *mark, "cost", "score", "advice", *(f"new_{name}" for name in columns))


def long_columns(results: Results, columns: Sequence[str], further: Sequence[str] = ()) -> dict[str, list[Any]]:
    """Return columns with one row for each counterfactual; "row" is the number of its explanation.

    Where larger options were asked for, "larger" says whether its flip set is larger than the smallest.
    """
    return _columns(long_names(columns, further), long_rows(results, columns, further))


def long_rows(
    results: Iterable[ExplanationData | FlipsetError], columns: Sequence[str], further: Sequence[str] = ()
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of `long_columns`, one at a time."""
    for i, result in enumerate(results):
        if not isinstance(result, FlipsetError):
            for is_larger, options in ((False, result.counterfactuals), (True, result.larger)):
                mark = [is_larger] if "larger" in further else []
                for one in options:
                    new = [one.row[name] for name in columns]
                    yield (i, ", ".join(one.flipset), *mark, one.cost, one.score, str(one), *new)


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
    asked: dict[str, Any] = {
        "decision": result.decision,
        "outcome": result.outcome,
        "score": result.score,
        "status": result.status,
        "queries": result.queries,
        "broken": write_sets([(text,) for text in broken_of(result)]),
    }
    if result.status == "not asked":
        return asked
    row = asked | {
        "basis": weakest(result.basis.values()),
        "size": result.size,
        "lower": result.lower,
        "upper": result.upper,
        "ways": len(result.flipsets),
        "flipsets": write_sets(result.flipsets),
        "reasons": write_sets(result.reasons),
        "larger": write_sets([one.flipset for one in result.larger]),
        "curve": "; ".join(f"{point.changes}: {point.counterfactual.cost!r}" for point in result.curve),
    }
    if result.counterfactuals:
        best = result.counterfactuals[0]  # the cheapest
        row |= {"cost": best.cost, "cost_at_least": _least_cost(result), "advice": str(best)}
        row |= {f"new_{name}": best.row[name] for name in columns}
        row["leads_to"] = result.words.decision.outcome(not result.decision)
    return row


def broken_of(result: ExplanationData) -> tuple[str, ...]:
    """Return the constraints that a row itself breaks."""
    return () if result.rules is None else result.rules.broken


# --- summaries --------------------------------------------------------------------------------------------------------


def _least_cost(result: ExplanationData) -> float:
    """Return the proved bound under the costs of all options; the cheapest is proved if it costs no more."""
    return min(one.cost_at_least for one in result.counterfactuals)


def summarize(results: Results) -> TableSummary:
    """Return the summary of results."""
    return _counted(results).summary(words_of(results).decision)


def summarize_by(results: Results, groups: Iterable[Any], reference: Any = None) -> GroupSummaries:
    """Return the summary of each group, compared with one of them; `groups` has one value for each result."""
    labels = list(groups)
    if len(labels) != len(results):
        raise InputError(f"groups must have one value for each row: {len(results)}, got {len(labels)}")
    members: dict[Any, list[ExplanationData | FlipsetError]] = {}
    for label, result in zip(map(plain, labels), results, strict=True):
        members.setdefault(label, []).append(result)
    decision = words_of(results).decision
    summaries = {group: _counted(rows).summary(decision) for group, rows in members.items()}
    return GroupSummaries.compared(summaries, reference)


def _counted(results: Iterable[ExplanationData | FlipsetError]) -> Counts:
    counts = Counts()
    for result in results:
        if isinstance(result, FlipsetError):
            # By the message, as in a cluster: an error that was kept in a file has no other kind.
            contradicts = str(result).startswith(NOT_MONOTONE)
            counts.add_error(contradicts=contradicts, not_begun=isinstance(result, BudgetExhausted))
        else:
            counts.add(
                result.decision,
                result.status,
                result.size,
                result.flipsets,
                result.reasons,
                basis=weakest(result.basis.values()),
                cost=proved_cost(result),
                broken=broken_of(result),
            )
    return counts


def proved_cost(result: ExplanationData) -> float | None:
    """Return the cost of the cheapest option; None if there is none, or if it is not proved to be the cheapest."""
    best = min((one.cost for one in result.counterfactuals), default=None)
    return None if best is None or _least_cost(result) < best else best


def feature_labels(results: Iterable[ExplanationData | FlipsetError]) -> dict[str, str]:
    """Return what people call the features of results, by their names."""
    return words_of(results).labels


def words_of(results: Iterable[ExplanationData | FlipsetError]) -> Words:
    """Return the words of the space of results, which all explanations carry."""
    return next((one.words for one in results if not isinstance(one, FlipsetError)), Words())
