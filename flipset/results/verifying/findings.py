"""What a verifier knows, and what was found so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

from flipset.proof import STEPS
from flipset.results.verification import Answer, Verification
from flipset.space.moves import MAX_BLOCK
from flipset.values.change import show

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flipset.space import Space
    from flipset.space.feature import Value
    from flipset.space.moves import Cells
    from flipset.values.costs import Measure

TOLERANCE = 1e-6
"""Scores that differ by less are the same: sums of floats may depend on what else is in the batch."""

MOST_PROBLEMS = 100
"""Problems that are told; more add nothing."""

FIELDS = (
    "decision", "score", "threshold", "status", "size", "lower", "upper", "max_changes", "objective", "flipsets",
    "reasons", "counterfactuals", "held_fixed", "contradictions", "grids", "row", "queries", "rounds", "proof", "moves",
)  # fmt: skip
"""What an explanation is made of: each is checked, or listed as not checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a verifier knows without the explanation, and how far to go.

    Attributes
    ----------
    space, cost
        What may change and what changes cost, if they are known.
    knows_values
        False where the space is known but not the table it goes with: then grids and costs are not.
    threshold, whose
        Where the decision turns, if that is known, and by whom.
    tolerance, max_block, steps, stop
        How much scores may differ, how many rows a question may be, how many steps the check of the proof may take, and
        a function that is asked now and then whether to stop.
    """

    space: Space | None = None
    cost: Measure | Mapping[str, Callable[[Any, Any], float]] | None = None
    knows_values: bool = True
    threshold: float | None = None
    whose: str = "the explainer has"
    tolerance: float = TOLERANCE
    max_block: int = MAX_BLOCK
    steps: int = STEPS
    stop: Callable[[], bool] | None = None


@dataclass(slots=True)
class Findings:
    """What was found so far."""

    problems: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    not_checked: dict[str, str] = field(default_factory=dict)
    decided: bool = True
    answers: list[Answer] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether to end here."""
        return bool(self.problems) or not self.decided

    def check(self, holds: bool, problem: str) -> bool:
        """Note a problem unless something holds."""
        if not holds and len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        return holds

    def leave_undecided(self, name: str, why: str) -> None:
        """Note that something was not decided."""
        self.decided = False
        self.not_checked[name] = why

    def result(self) -> Verification:
        """Return it all; what was not reached is listed as not checked."""
        left = {
            name: "not reached: the checks end with the first stage that fails"
            for name in FIELDS
            if name not in self.checked and name not in self.not_checked
        }
        checked = tuple(name for name in FIELDS if name in self.checked)
        return Verification(tuple(self.problems), checked, self.not_checked | left, self.decided, tuple(self.answers))


def same(a: Value, b: Value) -> bool:
    """Say whether two cells are the same: equal, NaN with NaN, and True is not 1."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (isnan(a) and isnan(b))
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def differences(row: Mapping[str, Value], other: Mapping[str, Value]) -> Cells:
    """Return the cells in which another row differs from a row."""
    return tuple(
        (i, value)
        for i, (before, value) in enumerate(zip(row.values(), other.values(), strict=True))
        if not same(before, value)
    )


def named(names: Sequence[str]) -> str:
    """Write some names, briefly."""
    shown = ", ".join(map(repr, names[:6]))
    return f"{shown} and {len(names) - 6:,} more" if len(names) > 6 else shown or "nothing"


def listed(cells: Cells, names: Sequence[str]) -> str:
    """Write some cells, briefly."""
    return ", ".join(f"{names[column]}={show(value)}" for column, value in cells[:6])
