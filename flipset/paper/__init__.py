"""The paper, piece by piece: *A query-optimal algorithm for finding counterfactuals* [BKLT22].

This package uses the paper's names, has one idea per file, and needs only the standard library. The paper's model f on
{0,1}^d and its instance x* appear here as one monotone set function g: g(T) is true if flipping the features T of x*
changes f's value. `docs/theory.md` has the full citations, a map from the paper's items to these symbols and their
tests, and the corrections.
"""

from flipset.paper.baselines import ball_search, local, walk_search
from flipset.paper.certificate import find_certificate
from flipset.paper.minimal import find_minimal
from flipset.paper.optimal import find_optimal
from flipset.paper.restriction import Restriction
from flipset.paper.tree import ImplicitTree

__all__ = [
    "ImplicitTree",
    "Restriction",
    "ball_search",
    "find_certificate",
    "find_minimal",
    "find_optimal",
    "local",
    "walk_search",
]
