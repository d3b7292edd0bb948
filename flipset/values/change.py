"""What changes: one column, a whole row, and the trade between two columns."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nextafter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.space.feature import Value

How: TypeAlias = Literal["at least", "at most", "becomes"]


@dataclass(frozen=True, slots=True)
class Change:
    """One column that changes. Going further than "at least" or "at most", within bounds, keeps the decision turned."""

    feature: str
    before: Value
    after: Value
    how: How

    def __str__(self) -> str:
        if self.how == "becomes":
            return f"{self.feature}: {show(self.before)} becomes {show(self.after)}"
        return f"{self.feature}: {show(self.before)} → {self.how} {show(self.after)}"


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A row with the other decision, confirmed by the model as it stands here.

    Attributes
    ----------
    flipset
        The features and groups that change.
    changes
        Column by column what changes.
    cost
        What the changes cost together.
    cost_at_least
        What is proved: no counterfactual of this flip set, or with `objective="cost"` of any, costs less. Equal to
        `cost` unless a budget ran out or `values=False` was asked for.
    score
        What the model says to the row.
    row
        All of its values.
    """

    flipset: tuple[str, ...]
    changes: tuple[Change, ...]
    cost: float
    cost_at_least: float
    score: float
    row: Mapping[str, Value]

    def __str__(self) -> str:
        return "; ".join(map(str, self.changes))


@dataclass(frozen=True, slots=True)
class Frontier:
    """All least pairs of values of two features that flip a decision: beyond each of them it stays flipped.

    Attributes
    ----------
    features, before
        The two features, and the values they have.
    points
        The pairs, from least of the first to least of the second.
    queries
        How many rows the model was asked.
    """

    features: tuple[str, ...]
    before: tuple[Value, ...]
    points: tuple[tuple[Value, ...], ...]
    queries: int


def show_threshold(threshold: float) -> str:
    """Write a threshold as a person would: the next number above 0.5 is "more than 0.5"."""
    below = nextafter(threshold, -inf)
    if len(repr(threshold)) > 12 and len(repr(below)) < 12:
        return f"more than {show(below)}"
    return show(threshold)


def show(value: Any) -> str:
    """Write a value as a person would, and exactly: advice that is rounded may not be enough."""
    if value is None:
        return "missing"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)
