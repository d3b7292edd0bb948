"""The candidates in hand, against a list of them."""

from collections.abc import Sequence
from itertools import combinations
from math import comb

from hypothesis import given
from hypothesis import strategies as st

from flipset import run
from flipset.protocol import Flips, flips_of
from flipset.search.guided.pool import pool_of, sets_of_size
from flipset.sets.known import Known


def asks_nothing(batch: Sequence[Flips]) -> list[float]:
    raise AssertionError(f"asked {batch}")


@given(st.integers(1, 7), st.data())
def test_pools_hold_what_no_answer_settles(width: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, width))
    known = Known()
    for query in data.draw(st.lists(st.integers(0, (1 << width) - 1), max_size=6)):
        known.learn(query, query.bit_count() > width // 2)
    every = [flips_of(c) for c in combinations(range(width), k)]
    open_sets = {q for q in every if known.settle(q) is None}
    for pool in (sets_of_size(width, k), pool_of(width, every, k, complete=True)):
        assert pool.length == comb(width, k)
        run(pool.settle(known), asks_nothing)
        assert pool.open.bit_count() == len(open_sets)
        if open_sets:
            assert pool.heaviest([1.0 / (i + 1) for i in range(width)]) in open_sets


def test_a_pool_renumbered_is_the_same_pool() -> None:
    pool, twin = sets_of_size(12, 4), sets_of_size(12, 4)
    for zero in (0b111111111100, 0b001111111111, 0b110011111111, 0b111111110011):
        pool.drop_inside(zero)
        twin.drop_inside(zero)
    pool.renumber()
    assert pool.length < twin.length
    for i in range(12):
        assert (pool.open & pool.holders[i]).bit_count() == (twin.open & twin.holders[i]).bit_count()
