"""Why a model is taken to follow the directions of a space: `Monotonicity`, feature by feature.

Where the directions contradict the constraints that the model was fitted with, nothing can be explained: the space is
refused. What the model's own structure shows is "proved". A direction that it was fitted with is "declared". An audit
makes the rest "audited", where it compared pairs and found all of them in order. What is left is "assumed".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flipset.errors import InputError
from flipset.plural import count
from flipset.results.basis import BASES, Basis, weakest
from flipset.space.moves import MoveFinder, is_held_fixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.explain.audit import Audit, Witness
    from flipset.models import Scorer
    from flipset.space import Feature, Space

DIRECTIONS = {1: "increasing", -1: "decreasing"}


@dataclass(frozen=True, slots=True)
class Monotonicity(Mapping[str, Basis]):
    """For each feature that may move, why the score is taken to follow its direction.

    It is a mapping from names to "proved", "declared", "audited" or "assumed".

    Attributes
    ----------
    bases
        The mapping.
    notes
        For some features, why the basis is not a stronger one, in words.
    conditions
        What a proof from the structure of the model leaves out, such as the link function.
    witnesses
        Pairs of rows that contradict a direction.
    audited_pairs
        How many pairs of rows an audit compared; None if there was none.
    """

    bases: Mapping[str, Basis]
    notes: Mapping[str, str] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    audited_pairs: int | None = None

    def __getitem__(self, name: str) -> Basis:
        return self.bases[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.bases)

    def __len__(self) -> int:
        return len(self.bases)

    @property
    def weakest(self) -> Basis | None:
        """The weakest basis of all features; None if no feature may move."""
        return weakest(self.bases.values())

    def names(self, basis: Basis) -> tuple[str, ...]:
        """Return the features with this basis."""
        return tuple(name for name, one in self.bases.items() if one == basis)

    def __repr__(self) -> str:
        counts = [f"{basis}: {len(names):,}" for basis in BASES if (names := self.names(basis))]
        return f"<Monotonicity: {', '.join(counts) or 'no feature may move'}>"

    def __str__(self) -> str:
        width = max(map(len, self.bases), default=0)
        lines = []
        for name, basis in self.bases.items():
            note = f"  ({self.notes[name]})" if name in self.notes else ""
            lines.append(f"{name:<{width}}  {basis}{note}")
        return "\n".join([*lines, *self.conditions]) or "No feature may move."

    def audited(self, audit: Audit) -> Monotonicity:
        """Return what is known after an audit: it speaks for features that are otherwise assumed."""
        passed = {one.name for one in audit.features if one.pairs and one.worst is None}
        chains_hold = audit.chains.worst is None
        bases: dict[str, Basis] = {
            name: "audited" if basis == "assumed" and name in passed and chains_hold else basis
            for name, basis in self.bases.items()
        }
        found = [one.worst for one in (*audit.features, audit.chains) if one.worst is not None]
        notes = dict(self.notes)
        for one in audit.features:
            if one.worst is not None and one.name in bases:
                wrong = one.pairs - one.in_order
                notes[one.name] = f"the audit found {wrong:,} of {count(one.pairs, 'pair')} in the wrong order"
        pairs = sum(one.pairs for one in audit.features if bases.get(one.name) == "audited")
        return replace(
            self,
            bases=bases,
            notes=notes,
            witnesses=(*self.witnesses, *found),
            audited_pairs=pairs or self.audited_pairs,
        )


def moving_features(space: Space) -> list[Feature]:
    """Return the features that may move in some row."""
    units = MoveFinder(space).movable
    # A one-hot column has no direction of its own. The columns of another group that are held fixed do not move.
    return [one for _, members, one_hot in units for _, one in members if one_hot or not is_held_fixed(one)]


def read_monotonicity(space: Space, scorer: Scorer) -> Monotonicity:
    """Return what is known about a model before any row of it is scored; refuse directions that contradict it."""
    scorer = scorer.with_names_of(space.names)
    refuse_contradictions(space, scorer)
    bases: dict[str, Basis] = {}
    for feature in moving_features(space):
        if not feature.ordered:
            bases[feature.name] = "proved"  # all its options are tried, so that nothing is taken for granted
        elif scorer.directions.get(feature.name) == feature.direction:
            bases[feature.name] = "declared"
        else:
            bases[feature.name] = "assumed"
    return Monotonicity(bases)


def refuse_contradictions(space: Space, scorer: Scorer) -> None:
    """Refuse directions that contradict the constraints that the model was fitted with."""
    against = [
        (one.name, one.direction, scorer.directions[one.name])
        for one in space.features
        if one.ordered and not one.fixed and scorer.directions.get(one.name, one.direction) != one.direction
    ]
    if against:
        raise InputError(
            f"the space contradicts the constraints that the model was fitted with: {_listed(against)}; turn the "
            "directions round, or say which class counts: positive=..."
        )


def _listed(against: Sequence[tuple[str, int | None, int]]) -> str:
    texts = [f"{name!r} is {DIRECTIONS[own or 1]} in the space and {DIRECTIONS[its]} in the model"
             for name, own, its in against[:4]]  # fmt: skip
    return ", ".join(texts) + (f", and {len(against) - 4:,} more" if len(against) > 4 else "")
