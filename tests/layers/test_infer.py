"""What follows from answers is not asked."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from flipset import run
from flipset.layers import Tally, count
from flipset.layers.infer import infer
from flipset.protocol import Done, Flips, Search, advance, ask, is_checkpoint
from flipset.sets.known import Known
from flipset.testing import asking, smallest
from tests.layers.asking import questions
from tests.strategies import Function, functions


@given(functions(max_d=5), st.lists(st.lists(st.integers(0, 31), max_size=6), max_size=5), st.integers(1, 4))
def test_answers_are_right_and_nothing_is_asked_that_follows(
    function: Function, batches: list[list[int]], batch: int
) -> None:
    g, d, _ = function
    known = Known()
    asked: list[Flips] = []

    def oracle(queries: Sequence[Flips]) -> list[bool]:
        assert len(queries) <= batch
        for query in queries:  # neither from earlier rounds, nor twice in one
            assert known.settle(query) is None
            assert query not in asked
            asked.append(query)
        return asking(g)(queries)

    every = [tuple(query & ((1 << d) - 1) for query in queries) for queries in batches]
    heard = run(infer(questions(*every), known, batch), oracle)
    assert heard == [1.0 if g(query) else -1.0 for queries in every for query in queries]


def test_a_later_part_of_a_batch_may_follow_from_an_earlier_one() -> None:
    tally = Tally()
    heard = run(count(infer(questions((0b001, 0b011, 0b111)), Known(), 1), tally), lambda batch: [1.0])
    assert heard == [1.0, 1.0, 1.0]
    assert (tally.queries, tally.rounds) == (1, 1)


def test_what_is_known_before_is_used_and_what_is_answered_is_learned() -> None:
    known = Known()
    known.learn(0b011, False)
    assert run(infer(questions((0b001, 0b100)), known, 8), lambda batch: [1.0] * len(batch)) == [-1.0, 1.0]
    assert known.settle(0b110)


def test_long_stretches_of_known_answers_pass_checkpoints() -> None:
    known = Known()
    known.learn(0b1, True)

    def endless() -> Search[None]:
        for _ in range(5_000):
            yield from ask((0b1,))

    passed = 0
    flow = infer(endless(), known, 8)
    step = advance(flow)
    while not isinstance(step, Done):
        assert is_checkpoint(step)
        passed += 1
        step = advance(flow, ())
    assert passed > 3


@given(functions(max_d=6))
def test_a_search_finds_the_same_with_fewer_queries(function: Function) -> None:
    from flipset.paper import ball_search

    g, d, _ = function
    bare, spared = Tally(), Tally()
    assert run(count(ball_search(d, batch=4), bare), asking(g)) == smallest(g, d)
    assert run(count(infer(ball_search(d, batch=4), Known(), 4), spared), asking(g)) == smallest(g, d)
    assert spared.queries <= bare.queries
