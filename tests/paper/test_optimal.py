from itertools import count as naturals
from itertools import islice
from math import ceil, log2

import pytest
from hypothesis import given

from flipset import BudgetExhausted, Search, run
from flipset.layers import Tally, budget, count, remember
from flipset.paper import ImplicitTree, Restriction, find_minimal, find_optimal
from flipset.paper.families import hidden_feature
from flipset.protocol import Flips
from flipset.testing import asking, smallest
from tests.strategies import Function, functions


@given(functions(max_d=8))
def test_agrees_with_looking_at_every_set(function: Function) -> None:
    g, d, _ = function
    assert run(find_optimal(d), asking(g)) == smallest(g, d)


def test_asks_one_question_a_round() -> None:
    tally = Tally()
    run(count(remember(find_optimal(6, batch=64)), tally), asking(lambda q: q.bit_count() >= 3))
    assert tally.queries == tally.rounds


@pytest.mark.parametrize("d", [2, 16, 1000, 10_000])
def test_log_d_where_one_feature_decides(d: int) -> None:
    for i in (0, d // 3, d - 1):
        tally = Tally()
        assert run(count(remember(find_optimal(d)), tally), asking(hidden_feature(d, i).flips)) == (1 << i,)
        # Everything, nothing, one binary search, what is left behind it; the leaf is known by then.
        assert tally.queries <= ceil(log2(d)) + 4


def printed_loop(d: int) -> Search[list[Flips]]:
    """FindOptimal as printed: the loop runs while C is not empty, so it never starts."""
    k, found = 1, list[Flips]()
    while found:
        found = yield from find_minimal(ImplicitTree(d), Restriction(), k)
        k += 1
    return found


def printed_loop_once_started(d: int) -> Search[list[Flips]]:
    """The same with the loop's condition put right, and no question about the fully flipped row."""
    for k in naturals(1):
        found = yield from find_minimal(ImplicitTree(d), Restriction(), k)
        if found:
            return found
    return []


def test_correction_1_the_loop_runs_while_nothing_is_found() -> None:
    g = hidden_feature(3, 1).flips
    assert run(printed_loop(3), asking(g)) == []
    assert run(find_optimal(3), asking(g)) == (0b010,)


def test_correction_2_where_nothing_flips_one_query_says_so() -> None:
    with pytest.raises(BudgetExhausted):
        run(budget(printed_loop_once_started(3), 10_000), asking(lambda q: False))
    tally = Tally()
    assert run(count(find_optimal(3), tally), asking(lambda q: False)) == ()
    assert tally.queries == 1


def test_deep_trees_need_no_recursion() -> None:
    # All of 2,000 features at once: every certificate has one feature, so the tree is 2,000 levels deep.
    d = 2_000
    everything = (1 << d) - 1
    rounds = islice(naturals(), 10_000)
    tree = find_minimal(ImplicitTree(d), Restriction(), 1)
    assert run(tree, lambda batch: [next(rounds) >= 0 and q == everything for q in batch]) == []
