"""The features in play, and the block of all others.

On a model with ten thousand features, most never matter. Those seen to matter are in play; the rest form one block that
is flipped along as a whole with every large set that is asked. A zero that holds the block speaks for every set, of
whatever features. When a set flips with the block and not without it, the block hides features that matter: they are
found along a chain and join those in play.
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
    in_order: bool = False  # feature i is number i: nothing to translate

    @classmethod
    def on_all(cls, d: int) -> Focus:
        """Put every feature in play."""
        return cls(tuple(range(d)), 0, in_order=True)

    @classmethod
    def on_none(cls, d: int) -> Focus:
        """Put no feature in play."""
        return cls((), everything(d))

    def widened(self, found: Iterable[int]) -> Focus:
        """Return the focus with these features of the block in play too."""
        new = tuple(found)
        block = self.block
        for feature in new:
            block &= ~(1 << feature)
        return Focus((*self.features, *new), block)

    def outer(self, inner: Flips) -> Flips:
        """Return a set of features in play in terms of all features."""
        if self.in_order:
            return inner
        flips = 0
        while inner:
            bit = inner & -inner
            flips |= 1 << self.features[bit.bit_length() - 1]
            inner ^= bit
        return flips

    def inner(self, flips: Flips) -> Flips:
        """Return the part of a set that is in play, in the numbers used there."""
        if self.in_order:
            return flips
        chosen = 0
        for i, feature in enumerate(self.features):
            if flips >> feature & 1:
                chosen |= 1 << i
        return chosen
