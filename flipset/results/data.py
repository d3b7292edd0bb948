"""The fields of an explanation, without methods that use them.

`written` converts this data to JSON and back, `table` and `summary` count it, `verifying` checks it, and the package
`show` displays it. `flipset.Explanation`, the class that users hold, adds methods that call all of these, so it is
defined after them, in `explain/explanation.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from flipset.results.basis import Fingerprints

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.proof import Proof
    from flipset.results.basis import Basis
    from flipset.search.result import Status
    from flipset.space.feature import Value
    from flipset.space.moves import Moves
    from flipset.values.change import Counterfactual


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
    # Which model it was, and who made it. The same answer about the same row is the same explanation, whether the model
    # was asked here or behind an endpoint; `verify` compares fingerprints.
    fingerprints: Fingerprints = field(default_factory=Fingerprints, compare=False)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features and groups that may change."""
        return tuple(unit.name for unit in self.moves.units)
