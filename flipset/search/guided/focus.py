"""The features in play, and the block of all others.

On a model with ten thousand features, most never matter. The features that were seen to matter are in play. All others
form one block, and every large query flips the whole block along. A zero that contains the block covers sets with any
features of the block. If a set flips with the block but not without it, the block hides features that matter. These are
then found along a chain, and join the features in play.

The features in play have numbers of their own: a set is *inner* if it uses those, and *outer* if it uses the numbers of
all features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flipset.protocol import everything

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flipset.protocol import Flips


@dataclass(frozen=True, slots=True)
class Focus:
    """`features` in play, numbered 0, 1, ... in this order, and the `block` of all others as a bitmask."""

    features: tuple[int, ...]
    block: Flips
    in_order: bool = False  # all features are in play and have their own numbers: there is nothing to translate

    @classmethod
    def on_all(cls, d: int) -> Focus:
        """Put every feature in play."""
        return cls(tuple(range(d)), 0, in_order=True)

    @classmethod
    def on_none(cls, d: int) -> Focus:
        """Put no feature in play."""
        return cls((), everything(d))

    def widened(self, features: Iterable[int]) -> Focus:
        """Return the focus with these features of the block in play too."""
        new = tuple(features)
        block = self.block
        for feature in new:
            block &= ~(1 << feature)
        return Focus((*self.features, *new), block)

    def outer(self, inner: Flips) -> Flips:
        """Translate an inner set into the numbers of all features."""
        if self.in_order:
            return inner
        flips = 0
        while inner:
            bit = inner & -inner
            flips |= 1 << self.features[bit.bit_length() - 1]
            inner ^= bit
        return flips

    def inner(self, flips: Flips) -> Flips:
        """Return the part of an outer set that is in play, as an inner set."""
        if self.in_order:
            return flips
        chosen = 0
        for i, feature in enumerate(self.features):
            if flips >> feature & 1:
                chosen |= 1 << i
        return chosen
