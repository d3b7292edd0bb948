"""Restrictions and completions (the paper's section 2, "Restrictions", and x*_ρ in section 3.1).

A restriction ρ fixes some features and leaves the rest free. It stands for a node of a decision tree. A fixed feature
is either *kept* at its value in x* or *flipped* to the other value, so ρ is a pair of disjoint sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flipset.protocol import everything

if TYPE_CHECKING:
    from flipset.protocol import Flips


@dataclass(frozen=True, slots=True)
class Restriction:
    """A partial assignment: `flipped` and `kept` are disjoint, and all other features are free."""

    flipped: Flips = 0
    kept: Flips = 0

    @property
    def domain(self) -> Flips:
        """Dom(ρ), the features that are fixed."""
        return self.flipped | self.kept

    def flip(self, feature: int) -> Restriction:
        """Return ρ with `feature` overwritten by the value x* does not have."""
        bit = 1 << feature
        return Restriction(self.flipped | bit, self.kept & ~bit)

    def keep(self, feature: int) -> Restriction:
        """Return ρ with `feature` overwritten by its value in x*."""
        bit = 1 << feature
        return Restriction(self.flipped & ~bit, self.kept | bit)

    @property
    def completion(self) -> Flips:
        """x*_ρ, that is x* overwritten by ρ; free features stay as in x*. The bottom of f_ρ, seen from x*."""
        return self.flipped

    def top(self, d: int) -> Flips:
        """The other extreme of f_ρ: all free features are flipped."""
        return everything(d) & ~self.kept
