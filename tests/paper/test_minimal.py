from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import Search, run
from flipset.layers import Tally, count
from flipset.paper import ImplicitTree, Restriction, find_minimal
from flipset.paper.tree import Tree
from flipset.protocol import Flips, does_flip
from flipset.testing import Predicate, asking
from tests.strategies import Function, functions


def minimal_sets(g: Predicate, d: int, k: int) -> set[Flips]:
    return {
        q
        for q in range(1 << d)
        if q.bit_count() <= k and g(q) and not any(g(q & ~(1 << i)) for i in range(d) if q >> i & 1)
    }


@given(functions(max_d=6), st.integers(0, 4))
def test_returns_all_minimal_sets_up_to_k(function: Function, k: int) -> None:
    g, d, _ = function
    found = run(find_minimal(ImplicitTree(d), Restriction(), k), asking(g))
    assert minimal_sets(g, d, k) <= set(found)
    assert all(g(q) and q.bit_count() <= k for q in found)
    assert len(set(found)) == len(found)


@given(functions(max_d=6), st.integers(1, 3), st.data())
def test_keeps_to_the_restriction(function: Function, k: int, data: st.DataObject) -> None:
    g, d, _ = function
    i = data.draw(st.integers(0, d - 1))
    for rho in (Restriction().keep(i), Restriction().flip(i)):
        found = run(find_minimal(ImplicitTree(d), rho, k), asking(g))
        assert all(q & rho.domain == rho.flipped for q in found)


@dataclass
class CountedTree:
    """A tree that answers without asking, and counts how often it is consulted."""

    tree: Tree
    known: Predicate
    calls: int = 0

    def is_leaf(self, rho: Restriction, auxiliary: Flips) -> Search[bool]:
        self.calls += 1
        return run(self.tree.is_leaf(rho, auxiliary), asking(self.known))
        yield ()

    def query(self, rho: Restriction, auxiliary: Flips) -> Search[tuple[int, Flips]]:
        self.calls += 1
        return run(self.tree.query(rho, auxiliary), asking(self.known))
        yield ()


def height(g: Predicate, d: int) -> int:
    tree = ImplicitTree(d)
    deepest, pending = 0, [(Restriction(), 0)]
    while pending:
        rho, auxiliary = pending.pop()
        deepest = max(deepest, rho.domain.bit_count())
        if not run(tree.is_leaf(rho, auxiliary), asking(g)):
            i, block = run(tree.query(rho, auxiliary), asking(g))
            pending += [(rho.keep(i), block), (rho.flip(i), block)]
    return deepest


@given(functions(max_d=7), st.integers(0, 4))
def test_queries_and_tree_calls_stay_within_the_lemma(function: Function, k: int) -> None:
    g, d, _ = function
    tree, tally = CountedTree(ImplicitTree(d), g), Tally()
    run(count(find_minimal(tree, Restriction(), k), tally), asking(g))
    bound = 2 * (height(g, d) + 1) ** k
    assert tally.queries <= bound
    assert tree.calls <= bound


def printed_find_minimal(tree: Tree, rho: Restriction, k: int, auxiliary: Flips) -> Search[list[Flips]]:
    """Lines 1 to 3 as printed: IsLeaf before k = 0."""
    if (yield from does_flip(rho.completion)):
        return [rho.completion]
    if (yield from tree.is_leaf(rho, auxiliary)) or k == 0:
        return []
    i, auxiliary = yield from tree.query(rho, auxiliary)
    kept = yield from printed_find_minimal(tree, rho.keep(i), k, auxiliary)
    return kept + (yield from printed_find_minimal(tree, rho.flip(i), k - 1, auxiliary))


@pytest.mark.parametrize("h", [2, 3, 5, 8])
def test_printed_order_of_line_2_breaks_the_lemma_at_k_1(h: int) -> None:
    # Two of h features: the first certificate has h - 1 of them, the tree h levels, and nothing flips at distance 1.
    def g(q: Flips) -> bool:
        return q.bit_count() >= 2

    printed, ours = CountedTree(ImplicitTree(h), g), CountedTree(ImplicitTree(h), g)
    run(printed_find_minimal(printed, Restriction(), 1, 0), asking(g))
    run(find_minimal(ours, Restriction(), 1), asking(g))
    bound = 2 * (height(g, h) + 1)
    assert ours.calls <= bound
    assert (printed.calls > bound) == (h >= 5)
