"""The fields of an explanation, without methods that use them.

`written` converts this data to JSON and back, `table` and `summary` count it, `verifying` checks it, and the package
`show` displays it. `flipset.Explanation`, the class that users hold, adds methods that call all of these, so it is
defined after them, in `explain/explanation.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from flipset.results.basis import Fingerprints
from flipset.space.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flipset.proof import Proof
    from flipset.results.basis import Basis
    from flipset.space.feature import Value
    from flipset.space.moves import Moves
    from flipset.space.row_id import RowId
    from flipset.space.told_rules import ToldRules
    from flipset.values.change import Counterfactual, CurveEnd, CurvePoint, LargerEnd


Status: TypeAlias = Literal["optimal", "none", "stopped", "unproved", "incomplete", "not asked"]
"""How far the search for an explanation got; "not asked" is a row of a table that was scored only."""


@dataclass(frozen=True, slots=True)
class ExplanationData:
    """The fields of an explanation; the docstring of `flipset.Explanation` says what each of them means."""

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
    # Moves follow from the space and the row, so they are not compared. They say how far each feature can go, without
    # the values on the way.
    moves: Moves = field(repr=False, compare=False)
    contradictions: tuple[tuple[Mapping[str, Value], Mapping[str, Value]], ...] = ()
    max_changes: int | None = None
    objective: Literal["size", "cost"] | None = None
    basis: Mapping[str, Basis] = field(default_factory=dict)
    audited_pairs: int | None = None
    contradicted: tuple[str, ...] = ()
    held_because: Mapping[str, str] = field(default_factory=dict)
    own_bounds: Mapping[str, Value] = field(default_factory=dict)
    # Which model it was, and who made it. The same answer about the same row is the same explanation, whether the model
    # was asked here or behind an endpoint; `verify` compares fingerprints.
    fingerprints: Fingerprints = field(default_factory=Fingerprints, compare=False)
    # What people call things. No answer depends on it.
    words: Words = field(default_factory=Words, compare=False, repr=False)
    # Whose row it is. Equal answers are equal explanations, whoever they are about.
    id: RowId | None = field(default=None, compare=False)
    max_options: int | None = None
    diverse: bool = False
    more: int | None = None
    larger: tuple[Counterfactual, ...] = ()
    larger_end: LargerEnd | None = None
    curve: tuple[CurvePoint, ...] = ()
    curve_end: CurveEnd | None = None
    # Like moves, they follow from the space and the row.
    rules: ToldRules | None = field(default=None, repr=False)

    @property
    def is_favorable(self) -> bool:
        """Whether the decision is the favorable one: by default, whether the score reaches the threshold."""
        return self.words.decision.is_favorable(self.decision)

    @property
    def outcome(self) -> str:
        """The word for the decision: "approved" or "declined", unless the space has others."""
        return self.words.decision.outcome(self.decision)

    @property
    def all_counterfactuals(self) -> Iterator[tuple[str, Counterfactual]]:
        """Every counterfactual with its place in the explanation: the options, the larger ones, the curve."""
        for i, one in enumerate(self.counterfactuals):
            yield f"counterfactuals[{i}]", one
        for i, one in enumerate(self.larger):
            yield f"larger[{i}]", one
        for i, point in enumerate(self.curve):
            yield f"curve[{i}].counterfactual", point.counterfactual

    @property
    def promised(self) -> tuple[Counterfactual, ...]:
        """Every counterfactual once: one may be an option and a point of the curve."""
        if not self.larger and not self.curve:
            return self.counterfactuals
        return tuple({str(one.row): one for _, one in self.all_counterfactuals}.values())

    @property
    def listed_all(self) -> bool:
        """Whether it is proved that there are no other smallest flip sets than those listed."""
        return self.status in ("optimal", "none")

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features and groups that may change."""
        return tuple(unit.name for unit in self.moves.units)


def each_counterfactual(e: ExplanationData, change: Callable[[Counterfactual], Counterfactual]) -> dict[str, Any]:
    """Return the fields of an explanation that hold counterfactuals, with each of these changed."""
    return {
        "counterfactuals": tuple(map(change, e.counterfactuals)),
        "larger": tuple(map(change, e.larger)),
        "curve": tuple(replace(point, counterfactual=change(point.counterfactual)) for point in e.curve),
    }
