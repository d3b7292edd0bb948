"""The result of `find_flipsets`: flip sets, reasons, bounds and the proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from flipset.protocol import by_size, everything

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flipset.proof import Proof
    from flipset.protocol import Flips

Status: TypeAlias = Literal["optimal", "none", "stopped", "unproved", "incomplete"]


@dataclass(frozen=True, slots=True)
class Flipsets:
    """The smallest flip sets of a monotone set function, and the proof.

    Attributes
    ----------
    status
        "optimal" (it is proved that these are all), "none" (it is proved that nothing flips), "incomplete" (the size
        is proved, and there are more flip sets of that size than `max_flipsets`: not all are listed) or "stopped" (a
        budget was spent).
    size
        Δ, the size of the smallest flip sets; None unless the status is "optimal" or "incomplete".
    lower, upper
        The proved bounds on Δ: no flip set is smaller than `lower`, and one has `upper` features. They are equal if
        the status is "optimal" or "incomplete", and both None if nothing flips. `upper` is None if the search was
        stopped before it saw a flip set.
    flipsets
        All flip sets of size Δ, ordered by their features. If the status is "incomplete", the first `max_flipsets` of
        them by the rule of `flipset.search.first_flipsets`. If the search was stopped, the smallest seen so far.
    certificates
        The reasons that were asked for, ordered by size. While the features of one reason are held fixed, changing all
        the others does not flip the decision. Every flip set contains a feature of each reason. Reasons are minimal.
        If a budget was spent before all were found, there are fewer of them. With `reasons="all"` they are those of
        the proof, and not minimal if a budget was spent before they could be made so. If the proof needs more than
        500, they are then the first 500 by the rule of `flipset.search.reasons`; `max_flipsets=None` reports all.
    queries, rounds
        The number of queries, and the number of batches in which they were asked.
    proof
        Zeros and ones that anyone can check and replay: with `proof.check`, or with `proof.check_size` if the status is
        "incomplete".
    reasons
        How many zeros of the proof, the first ones, are reported in `certificates`; None for all.
    """

    status: Status
    size: int | float | None
    lower: int | float | None
    upper: int | float | None
    flipsets: tuple[frozenset[int], ...]
    queries: int
    rounds: int
    proof: Proof
    reasons: int | None = None

    @property
    def listed_all(self) -> bool:
        """Whether it is proved that there are no other smallest flip sets."""
        return self.status in ("optimal", "none")

    @property
    def certificates(self) -> tuple[frozenset[int], ...]:
        """The complements of the proof's zeros, or of the first of them."""
        # Not stored: with thousands of features they take a while to make, and not every caller reads them.
        return in_order(everything(self.proof.d) & ~zero for zero in self.proof.zeros[: self.reasons])


def in_order(sets: Iterable[Flips]) -> tuple[frozenset[int], ...]:
    """Return sets as frozensets, ordered by size and then by their features."""
    return tuple(frozenset(features) for _, features in sorted(map(by_size, sets)))
