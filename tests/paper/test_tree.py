from collections.abc import Iterator

from hypothesis import given

from flipset import run
from flipset.paper import ImplicitTree, Restriction
from flipset.paper.measures import sensitivity
from flipset.protocol import Flips
from flipset.testing import Predicate, asking
from tests.strategies import Function, functions


def leaves(g: Predicate, d: int) -> Iterator[tuple[Restriction, int]]:
    """Build the whole tree, which only a test does: every leaf with the number of blocks above it."""
    tree = ImplicitTree(d)
    pending: list[tuple[Restriction, Flips, int]] = [(Restriction(), 0, 0)]
    while pending:
        rho, auxiliary, blocks = pending.pop()
        if run(tree.is_leaf(rho, auxiliary), asking(g)):
            yield rho, blocks
            continue
        i, block = run(tree.query(rho, auxiliary), asking(g))
        new_block = not auxiliary & ~rho.domain
        pending += [(child, block, blocks + new_block) for child in (rho.keep(i), rho.flip(i))]


@given(functions(max_d=6))
def test_the_tree_computes_the_function_exactly(function: Function) -> None:
    g, d, _ = function
    covered = 0
    for rho, _ in leaves(g, d):
        value = g(rho.completion)
        inputs = [q for q in range(1 << d) if q & rho.domain == rho.flipped]
        assert all(g(q) == value for q in inputs)
        covered += len(inputs)
    assert covered == 1 << d


@given(functions(max_d=6))
def test_depth_and_number_of_blocks(function: Function) -> None:
    g, d, _ = function
    S = sensitivity(g, d)
    for rho, blocks in leaves(g, d):
        assert blocks <= 2 * S
        assert rho.domain.bit_count() <= 2 * S * S


def test_auxiliary_set_is_exhausted_before_a_new_certificate_is_asked_for() -> None:
    tree = ImplicitTree(4)

    def refuse(batch: object) -> list[float]:
        raise AssertionError("inside a block nothing is asked")

    assert run(tree.query(Restriction().keep(0), 0b0011), refuse) == (1, 0b0011)


def test_is_leaf_asks_bottom_then_top() -> None:
    asked: list[Flips] = []

    def oracle(batch: list[Flips]) -> list[bool]:
        asked.extend(batch)
        return [query == 0b111 for query in batch]

    assert not run(ImplicitTree(3).is_leaf(Restriction().flip(0), 0), oracle)  # type: ignore[arg-type]
    assert asked == [0b001, 0b111]
