from collections.abc import Sequence
from itertools import count as naturals
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import BudgetExhausted, NotMonotone, Search, ask, run
from flipset.layers import Round, Tally, Transcript, budget, count, deadline, guard, remember, trace
from flipset.paper import ball_search
from flipset.protocol import Flips, flips_of
from flipset.sets.known import Known
from flipset.testing import asking, smallest
from tests.strategies import Function, functions


def questions(*batches: tuple[Flips, ...]) -> Search[list[float]]:
    """Ask these batches, whatever the answers."""
    heard: list[float] = []
    for batch in batches:
        heard += yield from ask(batch)
    return heard


def test_count_counts_queries_and_rounds() -> None:
    tally = Tally()
    run(count(questions((1, 2), (3,), ()), tally), lambda batch: [1.0] * len(batch))
    assert tally == Tally(queries=3, rounds=2)  # an empty batch is a checkpoint, not a round


def test_remember_asks_nothing_twice_also_inside_a_batch() -> None:
    transcript: Transcript[Flips] = []
    search = trace(remember(questions((1, 2, 1), (2, 1), (3, 1))), transcript)
    assert run(search, lambda batch: [q / 10 for q in batch]) == [0.1, 0.2, 0.1, 0.2, 0.1, 0.3, 0.1]
    assert transcript == [Round((1, 2), (0.1, 0.2)), Round((3,), (0.3,))]


def test_remember_shares_a_memory() -> None:
    memory = {1: 0.5}
    assert run(remember(questions((1,)), memory), lambda batch: []) == [0.5]


@given(functions(max_d=6), st.integers(0, 20), st.integers(1, 4))
def test_budget_is_a_hard_promise_closes_the_search_and_says_what_is_known(
    function: Function, limit: int, batch: int
) -> None:
    g, d, _ = function
    tally = Tally()
    closed = False

    def watched() -> Search[tuple[Flips, ...]]:
        nonlocal closed
        try:
            return (yield from ball_search(d, batch=batch))
        finally:
            closed = True

    try:
        assert run(count(budget(watched(), limit), tally), asking(g)) == smallest(g, d)
    except BudgetExhausted as stop:
        assert tally.queries == limit  # all that was allowed was used
        # Ball search asks in order of size: the first `limit` sets are known, as antichains.
        asked = sorted(range(1 << d), key=lambda q: (q.bit_count(), [i for i in range(d) if q >> i & 1]))[:limit]
        for query in asked:
            assert isinstance(stop.known, Known)
            assert stop.known.settle(query) == g(query)
        assert f"budget of {limit} {'query' if limit == 1 else 'queries'} ran out" in str(stop)
    assert closed
    assert tally.queries <= limit


def test_deadline_stops_by_the_clock_given() -> None:
    ticks = naturals(start=100)
    with pytest.raises(BudgetExhausted, match=r"2\.5 seconds"):
        run(deadline(questions((1,), (2,), (4,), (8,)), 2.5, lambda: float(next(ticks))), lambda b: [-1.0] * len(b))
    ticks = naturals(start=100)
    assert run(deadline(questions((1,), (2,), (4,)), 2.5, lambda: float(next(ticks))), lambda b: [-1.0]) == [-1.0] * 3


def test_deadline_looks_at_the_clock_at_checkpoints_too() -> None:
    ticks = naturals(start=100)
    asked: list[Flips] = []

    def oracle(batch: Sequence[Flips]) -> list[float]:
        asked.extend(batch)
        return [-1.0] * len(batch)

    with pytest.raises(BudgetExhausted, match="3 seconds") as caught:
        run(deadline(questions((1,), (), (), (2,), (4,)), 3, lambda: float(next(ticks))), oracle)
    assert asked == [1]
    assert caught.value.known is not None
    assert caught.value.known.zeros == [1]


@given(st.lists(st.lists(st.tuples(st.integers(0, 15), st.booleans()), min_size=1, max_size=4), max_size=5))
def test_guard_raises_exactly_when_the_transcript_holds_a_pair(rounds: list[list[tuple[int, bool]]]) -> None:
    answers = iter([1.0 if flips else -1.0 for batch in rounds for _, flips in batch])
    search = guard(questions(*(tuple(query for query, _ in batch) for batch in rounds)))
    flat = [pair for batch in rounds for pair in batch]
    pairs = {(s, t) for s, yes in flat if yes for t, no in flat if not no and s & ~t == 0}
    try:
        run(search, lambda batch: [next(answers) for _ in batch])
    except NotMonotone as error:
        assert (flips_of(error.smaller), flips_of(error.larger)) in pairs
        assert error.smaller <= error.larger
    else:
        assert not pairs


def test_not_monotone_speaks_briefly_of_large_sets() -> None:
    with pytest.raises(NotMonotone) as caught:
        run(guard(questions((1,), (2**1000 - 1,))), lambda batch: [1.0 if q == 1 else -1.0 for q in batch])
    assert len(str(caught.value)) < 300
    assert "{0}" in str(caught.value)


def test_trace_records_rounds_in_order() -> None:
    transcript: Transcript[Flips] = []
    run(trace(ball_search(3, batch=2), transcript), asking(lambda q: q.bit_count() >= 2))
    asked = [query for r in transcript for query in r.queries]
    assert asked == [0, 1, 2, 4, 3, 5, 6]
    assert all(a.bit_count() <= b.bit_count() for a, b in pairwise(asked))
