"""An explanation as data: its fields, and nothing that reads, draws or checks them.

`written` turns this data into JSON and back, `table` and `summary` count it, `verifying` checks it, and the room `show`
draws it. None of them knows `flipset.Explanation`, the class that users hold: it adds methods that call all of these,
so it must come after them (`explain/explanation.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.proof import Proof
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
    # Moves follow from the space and the row. Read from a file, they have lost the paths between values, so two
    # explanations that say the same may differ in them.
    moves: Moves = field(repr=False, compare=False)
    contradictions: tuple[tuple[Mapping[str, Value], Mapping[str, Value]], ...] = ()
    max_changes: int | None = None
    objective: Literal["size", "cost"] | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """The names of what could move."""
        return tuple(unit.name for unit in self.moves.units)
