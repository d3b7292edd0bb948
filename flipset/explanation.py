"""What `Explainer.explain` returns: the decision, the least that would turn it, the reasons, and the proof."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flipset.exchange import dump, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.change import Counterfactual
    from flipset.moves import Moves
    from flipset.proof import Proof
    from flipset.result import Status
    from flipset.space.feature import Value


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

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists, numbers and strings; docs/explanation-json.md lists the fields."""
        return dump(self)

    def to_json(self) -> str:
        """Write everything as JSON."""
        return json.dumps(dump(self), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """Read what `to_json` wrote."""
        return cls(**load(text))

    def to_frame(self) -> Any:
        """Return the counterfactuals as a pandas frame, one row each: the flip set, the cost, and the new values."""
        import pandas as pd

        columns: dict[str, list[Any]] = {
            "flipset": [", ".join(one.flipset) for one in self.counterfactuals],
            "cost": [one.cost for one in self.counterfactuals],
            "score": [one.score for one in self.counterfactuals],
        }
        for name in self.row:
            columns[name] = [one.row[name] for one in self.counterfactuals]
        return pd.DataFrame(columns)
