"""What changes: one column (`Change`), a whole row (`Counterfactual`), or two columns together (`Frontier`)."""

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
    """One column that changes.

    With "at least" or "at most", any value further on, within the allowed range, keeps the decision flipped, too.
    """

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
    """A row with the other decision. The model has scored exactly this row.

    Attributes
    ----------
    flipset
        The features and groups that change.
    changes
        The changes, column by column.
    cost
        The cost of all changes together.
    cost_at_least
        The proved lower bound: no counterfactual of this flip set, or of any with `objective="cost"`, costs less. It
        equals `cost` unless a budget ran out or `values=False` was given.
    score
        The model's score of the row.
    row
        All values of the row, by name.
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
    """All least pairs of values of two features that flip a decision; every pair beyond one of them flips it, too.

    Attributes
    ----------
    features, before
        The two features, and the values they have in the row.
    points
        The pairs, from the least value of the first feature to the least value of the second.
    queries
        How many queries it took.
    """

    features: tuple[str, ...]
    before: tuple[Value, ...]
    points: tuple[tuple[Value, ...], ...]
    queries: int


def show_threshold(threshold: float) -> str:
    """Write a threshold as a person would: the next float above 0.5 is "more than 0.5"."""
    # A threshold with many digits, next to a number with few, stands for "more than" that number.
    below = nextafter(threshold, -inf)
    if len(repr(threshold)) > 12 and len(repr(below)) < 12:
        return f"more than {show(below)}"
    return show(threshold)


def show(value: Any) -> str:
    """Write a value as a person would, but in full precision: a rounded value may not be enough to flip."""
    if value is None:
        return "missing"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)
