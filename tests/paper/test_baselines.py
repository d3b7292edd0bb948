from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import NotLocal, Search, ask, run
from flipset.layers import Tally, count
from flipset.paper import ball_search, find_optimal, local, walk_search
from flipset.protocol import Flips
from flipset.testing import asking, smallest
from tests.strategies import Function, functions


@given(functions(max_d=7), st.integers(1, 9))
def test_ball_search_is_exact_in_any_batch(function: Function, batch: int) -> None:
    g, d, _ = function
    assert run(ball_search(d, batch=batch), asking(g)) == smallest(g, d)


@pytest.mark.parametrize("batch", [1, 4, 1000])
def test_ball_search_asks_whole_spheres(batch: int) -> None:
    tally = Tally()
    run(count(ball_search(8, batch=batch), tally), asking(lambda q: q.bit_count() >= 3))
    assert tally.queries == sum(comb(8, k) for k in range(4))
    assert tally.rounds == sum(-(-comb(8, k) // batch) for k in range(4))


@given(functions(max_d=7))
def test_ball_search_and_walk_search_are_local(function: Function) -> None:
    g, d, _ = function
    assert run(local(ball_search(d, batch=5)), asking(g)) == smallest(g, d)
    tally = Tally()
    found = run(count(local(walk_search(d)), tally), asking(g))
    assert (found is None) == (not smallest(g, d))
    if found is not None:
        assert g(found)
        assert not any(g(found & ~(1 << i)) for i in range(d) if found >> i & 1)
    assert tally.queries <= 2 * d + 1


def test_the_papers_search_is_not_local() -> None:
    with pytest.raises(NotLocal, match="first query"):
        run(local(find_optimal(4)), asking(lambda q: q.bit_count() >= 2))


@pytest.mark.parametrize("batches", [[(0,), (0b11,)], [(0, 0)], [(0, 1, 0b110)]])
def test_a_jump_or_a_repetition_is_rejected(batches: list[tuple[Flips, ...]]) -> None:
    def asks() -> Search[None]:
        for batch in batches:
            yield from ask(batch)

    with pytest.raises(NotLocal, match="more than one feature"):
        run(local(asks()), lambda batch: [-1.0] * len(batch))
