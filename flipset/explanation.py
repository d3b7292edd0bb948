"""What `Explainer.explain` returns: the decision, the least that would turn it, the reasons, and the proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.moves import Moves
    from flipset.proof import Proof
    from flipset.result import Status
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
class Explanation:
    """One decision, explained.

    Attributes
    ----------
    decision, score, threshold
        What the model says to the row; the decision is `score >= threshold`.
    status
        "optimal" (proved: these are all smallest flip sets), "none" (proved: nothing flips; or, with `max_changes`,
        nothing within it) or "stopped" (a budget ran out).
    size
        The number of changes needed, or their weight where features have weights; None unless optimal.
    lower, upper
        What is proved about the size.
    flipsets
        All smallest sets of features and groups whose change flips the decision, by name.
    reasons
        Sets of features that hold the decision: while one of them stays as it is, nothing else helps.
    counterfactuals
        For each flip set the cheapest row. With `objective="cost"` the cheapest of all.
    held_fixed
        Features and groups that were not moved: fixed, or without direction and options.
    grids
        For each column that changes in a counterfactual, the values that were considered.
    row
        The row explained.
    queries, rounds
        How many rows the model was asked, in how many calls.
    proof
        Zeros and ones over `features`, to be checked and replayed.
    features
        The features and groups that could move, in the order in which the proof numbers them.
    """

    decision: bool
    score: float
    threshold: float
    status: Status
    size: int | float | None
    lower: int | float | None
    upper: int | float | None
    flipsets: tuple[tuple[str, ...], ...]
    reasons: tuple[tuple[str, ...], ...]
    counterfactuals: tuple[Counterfactual, ...]
    held_fixed: tuple[str, ...]
    grids: Mapping[str, str]
    row: Mapping[str, Value]
    queries: int
    rounds: int
    proof: Proof
    moves: Moves = field(repr=False, compare=False)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of what could move."""
        return tuple(unit.name for unit in self.moves.units)


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


def show(value: Any) -> str:
    """Write a value as a person would, and exactly: advice that is rounded may not be enough."""
    if value is None:
        return "missing"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)
