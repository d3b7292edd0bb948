"""What `Explainer.explain` returns: the decision, the least that would turn it, the reasons, and the proof."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flipset.drivers import run
from flipset.exchange import dump, load
from flipset.models import in_order_of, read_model, settle
from flipset.plots import ChangesDisplay
from flipset.report import explanation_html, fragment
from flipset.rows import ask_rows
from flipset.verifying import TOLERANCE, verifying

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.change import Counterfactual
    from flipset.moves import Cells, Moves
    from flipset.proof import Proof
    from flipset.result import Status
    from flipset.space import Space
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
        nothing within it), "stopped" (a budget ran out) or, with `strict=False`, "unproved" (the model contradicts
        itself: the flip sets do flip, but others may be smaller, or as small).
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
    contradictions
        When unproved, the pairs of rows that were met: one whose decision is turned, and one at least as far in every
        direction whose is not.
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
    contradictions: tuple[tuple[Mapping[str, Value], Mapping[str, Value]], ...] = ()

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

    def verify(self, model: Any, *, positive: Any = None, tolerance: float = TOLERANCE) -> bool:
        """Check what is claimed against the proof, and ask a model the proof's questions again.

        The model is given arrays, or frames where it knows its columns by name; `Explainer.verify` is for models that
        need frames of particular types.

        Examples
        --------
        >>> from flipset import Explainer, Explanation, Feature, Space
        >>> space = Space([Feature("income", "integer", direction=+1, lower=0, upper=100)])
        >>> def approve(rows):
        ...     return rows[:, 0] >= 60
        >>> sent = Explanation.from_json(Explainer(approve, space).explain([40]).to_json())
        >>> sent.verify(approve), sent.verify(lambda rows: rows[:, 0] >= 70)
        (True, False)
        """
        names = tuple(self.row)
        predict = in_order_of(settle(read_model(model, positive), self.threshold), names)
        row = tuple(self.row.values())

        def oracle(changes: Sequence[Cells]) -> list[float]:
            return ask_rows(predict, len(names), None, [(row, cells) for cells in changes])

        return run(verifying(self, tolerance), oracle)

    def plot(self, *, space: Space | None = None, ax: Any = None) -> ChangesDisplay:
        """Draw how far each feature moves; with the space, on its whole scale and over the population."""
        return ChangesDisplay.from_explanation(self, space).plot(ax)

    def _repr_html_(self) -> str:
        return fragment(explanation_html(self))

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
