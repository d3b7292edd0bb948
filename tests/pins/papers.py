"""The paper's searches, layers stacked on searches, and what runs them."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from random import Random
from typing import Any

from flipset import BudgetExhausted, Search, arun, find_flipsets, gather, replay, run
from flipset.drivers import calling, run_many, stream
from flipset.layers import Tally, Transcript, budget, count, deadline, guard, remember, trace
from flipset.paper import (
    ImplicitTree,
    Restriction,
    ball_search,
    find_certificate,
    find_minimal,
    find_optimal,
    local,
    walk_search,
)
from tests.pins.functions import Answer, Function, draw_either, draw_labels, draw_wrong
from tests.pins.sets import seen_sets
from tests.pins.transcripts import Case, Seen, numbered, of_flipsets, transcript, watched
from tests.pins.transcripts import Transcript as Done

BATCHES = (1, 8, 64)


def drawn(what: str, i: int, most: int = 7) -> tuple[Random, int, Function]:
    """Return a function for a case, with its number of features."""
    rng = Random(f"{what}/{i}")
    d = rng.randint(3, most)
    return rng, d, draw_either(rng, d)


def seen_flips(g: Function) -> Seen:
    """Return the oracle that searches are asked by, watched."""

    def answer(batch: Sequence[int]) -> list[Answer]:
        return [g(query) for query in batch]

    return Seen(answer, list)


# --- searches ---------------------------------------------------------------------------------------------------------


def minimal(rng: Random, d: int) -> Search[Any]:
    return find_minimal(ImplicitTree(d), Restriction(), rng.randint(0, 4))


def certificate(rng: Random, d: int) -> Search[Any]:
    return find_certificate(0, (1 << d) - 1)


SEARCHES: dict[str, Callable[[Random, int], Search[Any]]] = {
    "optimal": lambda rng, d: find_optimal(d),
    "ball": lambda rng, d: ball_search(d, batch=rng.choice(BATCHES)),
    "walk": lambda rng, d: walk_search(d),
    "minimal": minimal,
    "certificate": certificate,
    "local": lambda rng, d: local(walk_search(d) if rng.random() < 0.7 else find_optimal(d)),
}


def search(name: str, i: int) -> Done:
    """Run one of the paper's searches as it is."""
    rng, d, g = drawn(name, i)
    seen = seen_flips(g)
    return watched(lambda: transcript(run(SEARCHES[name](rng, d), seen)), seen)


def in_place_of_the_default(name: str, i: int) -> Done:
    """Run one of the paper's searches in `find_flipsets`, proof included."""
    rng, d, g = drawn(f"find/{name}", i, 8)
    seen = seen_sets(g)
    how: dict[str, Any] = {"batch": rng.choice(BATCHES), "max_queries": rng.choice((None, None, 30))}
    chosen = {"optimal": find_optimal, "ball": ball_search}[name]
    return watched(lambda: of_flipsets(find_flipsets(seen, d, search=chosen, **how)), seen)


# --- layers -----------------------------------------------------------------------------------------------------------


def stack(i: int) -> Done:
    """Put layers around a search in some order, count outermost; then run it again from the recording."""
    rng = Random(f"stack/{i}")
    d = rng.randint(3, 7)
    g = draw_wrong(rng, d) if i % 4 == 3 else draw_labels(rng, d)
    seen, rounds, tally = seen_flips(g), Transcript[int](), Tally()
    layers: list[Callable[[Search[Any]], Search[Any]]] = [remember, guard, partial(trace, transcript=rounds)]
    if i % 3 == 0:
        layers.append(partial(budget, max_queries=rng.randint(1, 30)))
    if i % 5 == 0:
        layers.append(partial(deadline, seconds=rng.randint(3, 20), clock=iter(range(10_000)).__next__))
    rng.shuffle(layers)
    flow = find_optimal(d) if i % 2 else ball_search(d, batch=rng.choice(BATCHES))
    for layer in layers:
        flow = layer(flow)
    done = watched(lambda: transcript(run(count(flow, tally), seen)), seen)
    done["proof"] = [[list(one.queries), list(one.answers)] for one in rounds]
    done["cost"] = [done["cost"], tally.queries, tally.rounds]
    return done


def recorded(i: int) -> Done:
    """Record a search, and run it from the recording alone."""
    _, d, g = drawn("recorded", i)
    seen, rounds = seen_flips(g), Transcript[int]()
    found = run(trace(remember(find_optimal(d)), rounds), seen)
    again = replay(remember(find_optimal(d)), rounds)
    return transcript([found, again], cost=seen.cost(), asked=seen.calls)


# --- drivers ----------------------------------------------------------------------------------------------------------


def gathered(i: int) -> Done:
    """Join searches into one, and run it by awaiting."""
    rng, d, g = drawn("gathered", i)
    seen = seen_flips(g)
    flows: list[Search[Any]] = [SEARCHES[name](rng, d) for name in ("optimal", "ball", "walk", "minimal")]
    flow = remember(gather(flows)) if i % 2 else gather(flows)

    async def answer(batch: Sequence[int]) -> list[Answer]:
        answers: list[Answer] = seen(batch)
        return answers

    return watched(lambda: transcript(asyncio.run(arun(flow, answer))), seen)


def side_by_side(i: int) -> Done:
    """Run searches in lock-step, few at a time, one of them with a budget."""
    rng = Random(f"lockstep/{i}")
    drawn_at = [(k, rng.randint(3, 7)) for k in range(8)]
    functions = {k: draw_either(rng, d) for k, d in drawn_at}
    asked: list[list[Any]] = []

    def oracle(waiting: Sequence[tuple[int, int]]) -> list[float]:
        asked.append([[k, [query for _, query in batch]] for k, batch in groupby(waiting, key=lambda one: one[0])])
        return [_margin(functions[k](query)) for k, query in waiting]

    flows = [(k, budget(find_optimal(d), 9) if k == 3 else find_optimal(d)) for k, d in drawn_at]
    width = rng.randint(1, 5)
    results = [
        (k, type(result).__name__ if isinstance(result, BudgetExhausted) else result)
        for k, result in run_many(flows, calling(oracle), width=lambda: width)
    ]
    return transcript(results, cost=len(asked), asked=asked)


def streamed(i: int) -> Done:
    """Read what a search finds on its way."""
    _, d, g = drawn("streamed", i)
    seen, found = seen_flips(g), deque[int]()

    def going_through() -> Search[None]:
        for k in range(d):
            found.extend((yield from find_minimal(ImplicitTree(d), Restriction(), k)))

    return watched(lambda: transcript(list(stream(going_through(), seen, found))), seen)


def _margin(answer: Answer) -> float:
    return answer if isinstance(answer, float) else 1.0 if answer else -1.0


def cases() -> Iterator[tuple[str, Case]]:
    for name in SEARCHES:
        yield from numbered(f"paper/{name}", 12, partial(search, name))
    for name in ("optimal", "ball"):
        yield from numbered(f"paper/find/{name}", 14, partial(in_place_of_the_default, name))
    yield from numbered("layers/stack", 30, stack)
    yield from numbered("layers/recorded", 8, recorded)
    yield from numbered("drivers/gathered", 8, gathered)
    yield from numbered("drivers/lockstep", 8, side_by_side)
    yield from numbered("drivers/stream", 6, streamed)
