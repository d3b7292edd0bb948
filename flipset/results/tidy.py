"""Explanations as tidy tables: one line for each option, or one for each change of an option.

Lines name their row by its number, counted from 0; the identifier of the row is put beside it (`Explanations.options`).
"option" counts the options of a row from 1, the cheapest first. So the two tables are joined by "row" and "option".

Computed columns that change with an option have lines of their own in the table of changes: `how` is "follows" there,
and the cost 0.

`before` and `after` hold values of many columns, so they are texts: exactly what the data have. Where a value is a
number or a truth value, `before_number` and `after_number` have it as a number, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipset.errors import FlipsetError
from flipset.values.change import Consequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flipset.results.data import ExplanationData
    from flipset.space.feature import Value
    from flipset.values.change import Change

OPTIONS = ("row", "option", "leads_to", "changes", "flipset", "cost", "cost_at_least", "score", "text")
"""The columns of a table of options."""

CHANGES = (
    "row", "option", "feature", "label", "before", "after", "how", "before_number", "after_number", "cost", "text",
)  # fmt: skip
"""The columns of a table of changes."""


def option_rows(results: Iterable[ExplanationData | FlipsetError]) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of a table of options."""
    for row, result in enumerate(results):
        if isinstance(result, FlipsetError):
            continue
        leads_to = result.words.decision.outcome(not result.decision)
        for n, one in enumerate(result.counterfactuals, start=1):
            features = ", ".join(one.flipset)
            yield row, n, leads_to, len(one.flipset), features, one.cost, one.cost_at_least, one.score, str(one)


def change_rows(results: Iterable[ExplanationData | FlipsetError]) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of a table of changes."""
    for row, result in enumerate(results):
        if isinstance(result, FlipsetError):
            continue
        for n, one in enumerate(result.counterfactuals, start=1):
            each: tuple[Change | Consequence, ...] = (*one.changes, *one.consequences)
            for change in each:
                how, cost = ("follows", 0.0) if isinstance(change, Consequence) else (change.how, change.cost)
                before, after = change.before, change.after
                yield (
                    row, n, change.feature, change.label, _text(before), _text(after), how,
                    _number(before), _number(after), cost, str(change),
                )  # fmt: skip


def _text(value: Value) -> str | None:
    """Write a value exactly, for programs; a missing value stays missing."""
    if value is None:
        return None
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _number(value: Value) -> float | None:
    return float(value) if isinstance(value, (bool, int, float)) else None
