"""The terms of a verification, and its findings so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

from flipset.boundary.limits import MAX_BLOCK
from flipset.proof import STEPS
from flipset.results.basis import Fingerprints
from flipset.results.verification import Answer, Verification
from flipset.values.change import show

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from flipset.results.basis import Basis
    from flipset.results.data import ExplanationData
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.feature import Value
    from flipset.values.costs import Measure

TOLERANCE = 1e-6
"""Scores that differ by less count as equal: sums of floats may depend on the other rows of a batch."""

MOST_PROBLEMS = 100
"""The most problems that are reported."""

FIELDS = (
    "decision", "score", "threshold", "status", "size", "lower", "upper", "max_changes", "objective", "flipsets",
    "reasons", "counterfactuals", "held_fixed", "contradictions", "grids", "row", "queries", "rounds", "proof", "moves",
    "basis", "audited_pairs", "contradicted", "fingerprints", "words", "held_because", "own_bounds", "id",
    "max_options", "diverse", "more", "larger", "larger_end", "curve", "curve_end",
    "rules",
)  # fmt: skip
"""The fields of an explanation: each is checked, or listed as not checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the verifier knows independently of the explanation, and the limits of the verification.

    Attributes
    ----------
    space, cost
        The allowed changes and their costs, if known.
    knows_values
        False if the space is known but not its table: then grids and costs cannot be checked.
    threshold, whose
        The threshold, if known, and where it comes from.
    thresholds
        Several thresholds, of which an explanation must have one; they take the place of `threshold`.
    monotonicity
        For each column that may move, why the score is taken to follow its direction; None if the space is not known.
    contradicted
        The columns whose directions two rows of this model contradict; None if such rows were not looked for.
    own_model, fingerprints
        The fingerprints of the model, and those of the space and the table.
    tolerance, max_block, steps, stop
        How much scores may differ, how many rows a query may have, how many steps all checks together may take, and a
        function that is called from time to time and returns whether to stop.
    """

    space: Space | None = None
    cost: Measure | Mapping[str, Callable[[Any, Any], float]] | None = None
    knows_values: bool = True
    threshold: float | None = None
    whose: str = "the explainer has"
    thresholds: tuple[float, ...] = ()
    monotonicity: Mapping[str, Basis] | None = None
    contradicted: Collection[str] | None = None
    own_model: Sequence[str] = ()
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    tolerance: float = TOLERANCE
    max_block: int = MAX_BLOCK
    steps: int = STEPS
    stop: Callable[[], bool] | None = None


@dataclass(slots=True)
class Findings:
    """The findings so far."""

    problems: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    not_checked: dict[str, str] = field(default_factory=dict)
    decided: bool = True
    answers: list[Answer] = field(default_factory=list)
    same_model: bool | None = None
    other_version: str | None = None
    also_contradicted: tuple[str, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether the verification ends here: there is a problem, or a check was not decided."""
        return bool(self.problems) or not self.decided

    def check(self, holds: bool, problem: str) -> bool:
        """Add a problem unless the check passed; return whether it did."""
        # A false file may have a problem in each of a million entries.
        if not holds and len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        return holds

    def leave_undecided(self, why: str) -> None:
        """Record that a check was not decided, and why: then nothing is known about the proof."""
        self.decided = False
        self.not_checked["proof"] = why

    def result(self) -> Verification:
        """Return the verification; fields that were not reached are listed as not checked."""
        left = {
            name: f"not reached, because an earlier stage {'failed' if self.decided else 'was not decided'}"
            for name in FIELDS
            if name not in self.checked and name not in self.not_checked
        }
        checked = tuple(name for name in FIELDS if name in self.checked)
        return Verification(
            tuple(self.problems),
            checked,
            self.not_checked | left,
            self.decided,
            tuple(self.answers),
            self.same_model,
            self.other_version,
            self.also_contradicted,
        )


def same(a: Value, b: Value) -> bool:
    """Say whether two cells are the same: NaN equals NaN, and True differs from 1."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (isnan(a) and isnan(b))
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def differences(row: Mapping[str, Value], other: Mapping[str, Value]) -> Cells:
    """Return the cells of the other row that differ."""
    return tuple(
        (i, value)
        for i, (before, value) in enumerate(zip(row.values(), other.values(), strict=True))
        if not same(before, value)
    )


def named(names: Sequence[str]) -> str:
    """Write the first names of a list."""
    shown = ", ".join(map(repr, names[:6]))
    return f"{shown} and {len(names) - 6:,} more" if len(names) > 6 else shown or "nothing"


def listed(cells: Cells, names: Sequence[str]) -> str:
    """Write the first cells of a list."""
    return ", ".join(f"{names[column]}={show(value)}" for column, value in cells[:6])


def kinds_of_options(e: ExplanationData) -> list[str]:
    """Return where an explanation has counterfactuals, for messages about all of them."""
    kinds = {"counterfactuals[]": e.counterfactuals, "larger[]": e.larger, "curve[].counterfactual": e.curve}
    return [name for name, some in kinds.items() if some]
