"""The implicit decision tree: navigated, never built (the paper's sections 2, 4.2 and 4.3).

A node is a restriction ρ. Below it is a block: the complete tree over the features of one certificate of f_ρ. This
certificate is the auxiliary set A, which is passed down until all of its features have been queried. Every certificate
shares a feature with every certificate of the other kind. So a path has at most C_0(f) + C_1(f) <= 2 S(f) blocks
(section 4.4), and the tree is at most 2 S(f)^2 deep, although it computes f exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from flipset.paper.certificate import find_certificate
from flipset.protocol import Search, does_flip, everything

if TYPE_CHECKING:
    from flipset.paper.restriction import Restriction
    from flipset.protocol import Flips


class Tree(Protocol):
    """The two operations of an implicit decision tree (section 2)."""

    def is_leaf(self, rho: Restriction, auxiliary: Flips) -> Search[bool]:
        """Say whether ρ is a leaf: f_ρ is constant."""

    def query(self, rho: Restriction, auxiliary: Flips) -> Search[tuple[int, Flips]]:
        """Return the feature that the inner node ρ queries, and the auxiliary set for its children."""


@dataclass(frozen=True, slots=True)
class ImplicitTree:
    """The tree over `d` features whose blocks are minimal certificates."""

    d: int

    def is_leaf(self, rho: Restriction, auxiliary: Flips) -> Search[bool]:
        """Say whether f_ρ is constant. Queries: at most 2, its bottom and its top."""
        if (yield from does_flip(rho.completion)):
            return True
        return not (yield from does_flip(rho.top(self.d)))

    def query(self, rho: Restriction, auxiliary: Flips) -> Search[tuple[int, Flips]]:
        """Return the next feature of A, or of a new certificate of f_ρ when A is exhausted.

        That the completion of ρ does not flip is assumed: FindMinimal asks it just before.
        Queries: none inside a block; p(⌈log2 d⌉ + 1) + 1 for a new one of size p.
        """
        if not auxiliary & ~rho.domain:
            auxiliary = yield from find_certificate(rho.completion, everything(self.d) & ~rho.domain)
        remaining = auxiliary & ~rho.domain
        return (remaining & -remaining).bit_length() - 1, auxiliary
