import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import ProtocolError, Search, arun, ask, gather, relay, replay, run
from flipset.drivers import calling, run_many, stream
from flipset.layers import Tally, Transcript, budget, count, deadline, guard, remember, trace
from flipset.paper import ball_search, find_optimal
from flipset.protocol import Answers, Flips, checkpoint, compute, does_flip, everything, features_of, flips_of
from flipset.search.guided import guided_search
from flipset.sets.known import Known
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


def pausing(d: int) -> Search[tuple[Flips, ...]]:
    """Search with a checkpoint before every round and after the last."""
    found = yield from relay(find_optimal(d), after_a_checkpoint)
    yield from checkpoint()
    return found


def after_a_checkpoint(batch: Sequence[Flips]) -> Search[Answers]:
    yield from checkpoint()
    return (yield from ask(batch))


def never_empty(g: Callable[[Flips], bool]) -> Callable[[Sequence[Flips]], list[bool]]:
    def oracle(batch: Sequence[Flips]) -> list[bool]:
        assert batch, "a checkpoint is not for the model"
        return asking(g)(batch)

    return oracle


@given(functions(max_d=5), st.permutations(sorted(LAYERS)))
def test_checkpoints_pass_through_every_layer_and_reach_no_model(function: Function, order: list[str]) -> None:
    g, d, _ = function
    told: list[tuple[Tally, Transcript[Flips]]] = []
    for make in (find_optimal, pausing):
        tally, transcript = Tally(), Transcript[Flips]()
        search = trace(count(make(d), tally), transcript)
        for name in order:
            search = LAYERS[name](search)
        assert run(search, never_empty(g)) == smallest(g, d)
        told.append((tally, transcript))
    assert told[0] == told[1]


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_every_layer_passes_a_checkpoint_on(name: str) -> None:
    search = LAYERS[name](pausing(2))
    assert list(next(search)) == []
    assert list(search.send(())) != []


def test_remember_makes_a_checkpoint_of_a_batch_that_it_answers() -> None:
    search = remember(find_optimal(2), {everything(2): 1.0})
    assert list(next(search)) == []


def test_every_driver_answers_checkpoints_itself() -> None:
    def g(query: Flips) -> bool:
        return query.bit_count() >= 2

    expected = smallest(g, 4)
    transcript: Transcript[Flips] = []
    assert run(trace(pausing(4), transcript), never_empty(g)) == expected
    assert replay(pausing(4), transcript) == expected

    async def waits(batch: Sequence[Flips]) -> list[bool]:
        return never_empty(g)(batch)

    assert asyncio.run(arun(pausing(4), waits)) == expected

    def flows() -> list[tuple[int, Search[tuple[Flips, ...]]]]:
        return [(i, pausing(4)) for i in range(3)]

    def ask_all(queries: Sequence[tuple[int, Flips]]) -> list[float]:
        assert queries
        return [1.0 if g(query) else -1.0 for _, query in queries]

    assert dict(run_many(flows(), calling(ask_all), width=lambda: 2)) == dict.fromkeys(range(3), expected)
    pool = run_many(flows(), calling(ask_all), width=lambda: 2, in_flight=2, fill=lambda: 3)
    assert dict(pool) == dict.fromkeys(range(3), expected)

    found: deque[Flips] = deque()

    def finds() -> Search[None]:
        found.extend((yield from pausing(4)))

    assert tuple(stream(finds(), never_empty(g), found)) == expected


def test_a_member_of_a_gathering_that_pauses_misses_no_round() -> None:
    members = [find_optimal(4), pausing(4), find_optimal(4)]
    tally, alone = Tally(), Tally()
    run(count(find_optimal(4), alone), asking(lambda q: q.bit_count() >= 2))
    run(count(gather(members), tally), never_empty(lambda q: q.bit_count() >= 2))
    assert (tally.rounds, tally.queries) == (alone.rounds, 3 * alone.queries)


def test_an_event_loop_gets_a_turn_at_a_checkpoint() -> None:
    turns: list[str] = []

    def computing() -> Search[str]:
        for i in range(3):
            turns.append(f"computed {i}")
            yield from checkpoint()
        return "done"

    async def other() -> None:
        for i in range(3):
            turns.append(f"other {i}")
            await asyncio.sleep(0)

    async def both() -> str:
        async def never(batch: Sequence[Flips]) -> list[bool]:
            raise AssertionError

        found, _ = await asyncio.gather(arun(computing(), never), other())
        return found

    assert asyncio.run(both()) == "done"
    assert turns == ["computed 0", "other 0", "computed 1", "other 1", "computed 2", "other 2"]


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


def test_a_flow_that_asks_nothing_is_computed_past_its_checkpoints() -> None:
    def pausing() -> Search[int]:
        for _ in range(3):
            yield from checkpoint()
        return 7

    assert compute(pausing()) == 7
    with pytest.raises(ProtocolError, match="asked a query"):
        compute(ask((1,)))
