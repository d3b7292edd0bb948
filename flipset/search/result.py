"""What `find_flipsets` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from flipset.protocol import by_size, everything

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flipset.proof import Proof
    from flipset.protocol import Flips

Status: TypeAlias = Literal["optimal", "none", "stopped", "unproved"]


@dataclass(frozen=True, slots=True)
class Flipsets:
    """All smallest flip sets of a monotone set function, and why they are all.

    Attributes
    ----------
    status
        "optimal" (proved: these are all), "none" (proved: nothing flips) or "stopped" (a budget ran out).
    size
        Δ, the size of the smallest flip sets; None unless the status is "optimal".
    lower, upper
        What is proved about Δ: no flip set is smaller than `lower`, one has `upper` features. Equal when optimal;
        both None when nothing flips; `upper` is None when none was seen before the budget ran out.
    flipsets
        All flip sets of size Δ, ordered by their features. When stopped, the smallest ones seen so far.
    certificates
        The reasons of the proof, ordered by size: with the features of one of them held, no change of the others
        flips, and every flip set meets each of them. Each is minimal, unless the search was stopped, the budget ended
        before they were, or `reasons=False` was asked for.
    queries, rounds
        How many questions the model was asked, in how many batches.
    proof
        Zeros and ones that anybody can check and replay.
    """

    status: Status
    size: int | float | None
    lower: int | float | None
    upper: int | float | None
    flipsets: tuple[frozenset[int], ...]
    queries: int
    rounds: int
    proof: Proof

    @property
    def certificates(self) -> tuple[frozenset[int], ...]:
        """What the zeros of the proof hold, made when asked for: of thousands of features it takes a while."""
        return in_order(everything(self.proof.d) & ~zero for zero in self.proof.zeros)


def in_order(sets: Iterable[Flips]) -> tuple[frozenset[int], ...]:
    """Return sets as people see them: as frozensets, ordered by size and then by their features."""
    return tuple(frozenset(features) for _, features in sorted(map(by_size, sets)))
