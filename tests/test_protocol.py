import asyncio
from collections.abc import Callable, Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import ProtocolError, Search, arun, ask, gather, relay, replay, run
from flipset.engine import guided_search
from flipset.known import Known
from flipset.layers import Tally, Transcript, budget, count, deadline, guard, remember, trace
from flipset.paper import ball_search, find_optimal
from flipset.protocol import Answers, Flips, does_flip, everything, features_of, flips_of
from flipset.testing import asking, smallest
from tests.strategies import Function, functions

SEARCHES: list[Callable[[int], Search[tuple[Flips, ...]]]] = [
    find_optimal,
    lambda d: ball_search(d, batch=3),
    lambda d: guided_search(d, batch=3),
]

LAYERS: dict[str, Callable[[Search[tuple[Flips, ...]]], Search[tuple[Flips, ...]]]] = {
    "count": lambda search: count(search, Tally()),
    "remember": remember,
    "budget": lambda search: budget(search, 10**9),
    "deadline": lambda search: deadline(search, 10.0, lambda: 0.0),
    "guard": guard,
    "trace": lambda search: trace(search, []),
}


@given(functions(max_d=6), st.permutations(sorted(LAYERS)), st.integers(0, len(LAYERS)))
def test_no_stack_of_layers_changes_a_result(function: Function, order: list[str], height: int) -> None:
    g, d, _ = function
    for make in SEARCHES:
        search = make(d)
        for name in order[:height]:
            search = LAYERS[name](search)
        assert run(search, asking(g)) == smallest(g, d)


@given(st.lists(functions(max_d=6), min_size=1, max_size=5))
def test_sync_async_and_lock_step_agree_on_result_and_transcript(members: list[Function]) -> None:
    def traced(transcripts: list[Transcript[Flips]]) -> list[Search[tuple[Flips, ...]]]:
        return [
            trace(remember(SEARCHES[i % 3](member.d)), transcript)
            for i, (member, transcript) in enumerate(zip(members, transcripts, strict=True))
        ]

    alone: list[Transcript[Flips]] = [[] for _ in members]
    expected = [run(search, asking(m.g)) for search, m in zip(traced(alone), members, strict=True)]

    waited: list[Transcript[Flips]] = [[] for _ in members]

    async def run_all() -> list[tuple[Flips, ...]]:
        async def one(search: Search[tuple[Flips, ...]], member: Function) -> tuple[Flips, ...]:
            async def oracle(batch: Sequence[Flips]) -> list[bool]:
                await asyncio.sleep(0)
                return asking(member.g)(batch)

            return await arun(search, oracle)

        return await asyncio.gather(*map(one, traced(waited), members))

    assert asyncio.run(run_all()) == expected
    assert waited == alone

    # In lock-step the queries of all members come mixed, so each carries the number of its member.
    together: list[Transcript[Flips]] = [[] for _ in members]
    labelled = [tagged(i, search) for i, search in enumerate(traced(together))]
    assert run(gather(labelled), lambda batch: [members[i].g(query) for i, query in batch]) == expected
    assert together == alone


def tagged(i: int, search: Search[tuple[Flips, ...]]):  # type: ignore[no-untyped-def]
    return relay(search, lambda batch: ask([(i, query) for query in batch]))


@given(functions(max_d=7))
def test_a_transcript_replays_without_a_model(function: Function) -> None:
    g, d, _ = function
    transcript: Transcript[Flips] = []
    expected = run(trace(remember(find_optimal(d)), transcript), asking(g))
    assert replay(remember(find_optimal(d)), transcript) == expected


def test_a_transcript_of_something_else_is_refused() -> None:
    transcript: Transcript[Flips] = []
    run(trace(find_optimal(4), transcript), asking(lambda q: q.bit_count() >= 2))
    with pytest.raises(ProtocolError, match=r"round 1 .* other queries"):
        replay(find_optimal(5), transcript)
    with pytest.raises(ProtocolError, match="ends before"):
        replay(find_optimal(4), transcript[:-1])
    with pytest.raises(ProtocolError, match="goes on"):
        replay(find_optimal(4), [*transcript, transcript[-1]])


@pytest.mark.parametrize("answers", [[], [1.0, 1.0]])
def test_a_driver_that_sends_the_wrong_number_of_answers_is_told(answers: Answers) -> None:
    search = does_flip(0b1)
    next(search)
    with pytest.raises(ProtocolError, match=f"sent {len(answers)} answers to a batch of 1"):
        search.send(answers)


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_layers_pass_the_wrong_number_of_answers_on(name: str) -> None:
    search = LAYERS[name](ball_search(3, batch=2))
    next(search)
    with pytest.raises(ProtocolError):
        search.send([1.0, 1.0, 1.0])


@pytest.mark.parametrize("pair", list(permutations(sorted(LAYERS), 2)))
def test_closing_the_outside_closes_the_inside(pair: tuple[str, str]) -> None:
    closed = False

    def inner() -> Search[tuple[Flips, ...]]:
        nonlocal closed
        try:
            yield from ask((1,))
        finally:
            closed = True
        return ()

    search = LAYERS[pair[0]](LAYERS[pair[1]](inner()))
    next(search)
    search.close()
    assert closed


def test_gather_closes_the_others_when_one_raises() -> None:
    closed: list[int] = []

    def member(i: int) -> Search[int]:
        try:
            for _ in range(i + 1):
                yield from ask((i,))
            if i == 1:
                raise RuntimeError("member 1")
            yield from ask((i,))
        finally:
            closed.append(i)
        return i

    with pytest.raises(RuntimeError, match="member 1"):
        run(gather(member(i) for i in range(4)), lambda batch: [1.0] * len(batch))
    assert sorted(closed) == [0, 1, 2, 3]


def test_gather_of_nothing_and_of_searches_that_ask_nothing() -> None:
    def silent() -> Search[str]:
        return "done"
        yield ()

    assert run(gather([]), lambda batch: []) == []
    assert run(gather([silent(), silent()]), lambda batch: []) == ["done", "done"]


def test_a_stop_iteration_of_the_model_is_not_a_result() -> None:
    def oracle(batch: Sequence[Flips]) -> list[float]:
        raise StopIteration("mine")

    with pytest.raises(Exception, match="StopIteration"):
        run(find_optimal(2), oracle)


@given(st.sets(st.integers(0, 70)))
def test_bitmasks_and_features_are_inverse(features: set[int]) -> None:
    assert features_of(flips_of(features)) == sorted(features)


def test_many_features_are_listed_in_linear_time() -> None:
    assert features_of(everything(100_000)) == list(range(100_000))


@given(st.lists(st.tuples(st.integers(0, 31), st.booleans()), max_size=12))
def test_known_says_exactly_what_follows(answers: list[tuple[int, bool]]) -> None:
    known = Known()
    contradictory = False
    for i, (query, flips) in enumerate(answers):
        earlier = answers[:i]
        clash = any((flips and not f and query & ~q == 0) or (not flips and f and q & ~query == 0) for q, f in earlier)
        conflict = known.learn(query, flips)
        assert (conflict is not None) == clash
        contradictory |= clash
    if not contradictory:
        for query in range(32):
            up = any(f and q & ~query == 0 for q, f in answers)
            down = any(not f and query & ~q == 0 for q, f in answers)
            assert known.settle(query) is (True if up else False if down else None)
