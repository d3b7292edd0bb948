"""The result of `find_flipsets`: flip sets, reasons, bounds and the proof."""

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
    """All smallest flip sets of a monotone set function, and the proof that there are no others.

    Attributes
    ----------
    status
        "optimal" (it is proved that these are all), "none" (it is proved that nothing flips) or "stopped" (a budget
        was spent).
    size
        Δ, the size of the smallest flip sets; None unless the status is "optimal".
    lower, upper
        The proved bounds on Δ: no flip set is smaller than `lower`, and one has `upper` features. They are equal if
        the status is "optimal", and both None if nothing flips. `upper` is None if the search was stopped before it
        saw a flip set.
    flipsets
        All flip sets of size Δ, ordered by their features. If the search was stopped, the smallest seen so far.
    certificates
        The reasons of the proof, ordered by size. While the features of one reason are held fixed, changing all the
        others does not flip the decision. Every flip set contains a feature of each reason. Reasons are minimal,
        unless a budget was spent before, or `reasons=False` was given.
    queries, rounds
        The number of queries, and the number of batches in which they were asked.
    proof
        Zeros and ones that anyone can check and replay.
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
        """The complements of the proof's zeros."""
        # Not stored: with thousands of features they take a while to make, and not every caller reads them.
        return in_order(everything(self.proof.d) & ~zero for zero in self.proof.zeros)


def in_order(sets: Iterable[Flips]) -> tuple[frozenset[int], ...]:
    """Return sets as frozensets, ordered by size and then by their features."""
    return tuple(frozenset(features) for _, features in sorted(map(by_size, sets)))
