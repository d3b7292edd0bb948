"""From a search to a result: what the layers around it keep, and what is said when it is stopped."""

import time
from collections.abc import Sequence
from functools import partial
from itertools import count as naturals
from random import Random
from typing import Any

import pytest

from flipset import run
from flipset.errors import BudgetExhausted, InputError, NotMonotone, ProtocolError
from flipset.paper import ball_search, find_optimal
from flipset.protocol import Done, Flips, Flow, Search, advance, ask, everything, interrupt
from flipset.search.guided import guided_search
from flipset.search.result import Flipsets
from flipset.search.solve import Limits, read_count, solving
from flipset.testing import DRAWS, Predicate, labels, smallest


def solve_by(
    g: Predicate, d: int, search: Any = guided_search, limits: Limits | None = None, **how: Any
) -> tuple[Flipsets, list[Flips]]:
    asked: list[Flips] = []

    def oracle(batch: Sequence[Flips]) -> list[float]:
        asked.extend(batch)
        return labels(g)(batch)

    return run(solving(d, search, limits or Limits(), answer=ask, **how), oracle), asked


def two_of(query: Flips) -> bool:
    return query.bit_count() >= 2


@pytest.mark.parametrize("search", [guided_search, find_optimal, ball_search])
def test_what_is_returned_is_true_proved_and_counted(search: Any) -> None:
    for seed in range(60):
        rng = Random(seed)
        d = rng.randint(1, 7)
        g = DRAWS[seed % 4](rng, d)
        found, asked = solve_by(g, d, search, Limits(batch=rng.choice([1, 8])))
        truth = smallest(g, d)
        assert found.status == ("optimal" if truth else "none")
        assert sorted(found.proof.ones) == sorted(truth)
        assert found.proof.check(d)
        assert found.queries == len(asked) == len(set(asked))  # nothing is asked twice


def test_answers_paid_for_before_count_and_are_not_asked_again() -> None:
    before = {query: 1.0 if two_of(query) else -1.0 for query in (0, 0b0111, 0b0001, 0b0011)}
    found, asked = solve_by(two_of, 4, answered=before)
    assert found.queries == len(before) + len(asked)
    assert not set(asked) & set(before)
    assert found.size == 2


def test_a_budget_counts_them_too() -> None:
    before = {0: -1.0, 0b1111: 1.0}
    found, asked = solve_by(two_of, 4, limits=Limits(max_queries=5), answered=before)
    assert (found.status, found.queries, len(asked)) == ("stopped", 5, 3)


@pytest.mark.parametrize("most", range(0, 40, 3))
def test_a_stopped_search_says_what_is_proved(most: int) -> None:
    found, asked = solve_by(lambda query: query.bit_count() >= 3, 7, limits=Limits(max_queries=most))
    assert found.queries == len(asked) <= most
    assert found.lower is not None
    assert found.lower <= 3
    assert found.upper is None or found.upper >= 3
    assert found.proof.is_consistent()


def test_a_budget_that_ends_among_reasons_keeps_the_answer() -> None:
    def one_of_each(query: Flips) -> bool:
        return bool(query & 0b000111 and query & 0b111000)

    without, _ = solve_by(one_of_each, 6, ball_search, limits=Limits(reasons=False))
    whole, _ = solve_by(one_of_each, 6, ball_search)
    assert without.queries < whole.queries
    found, _ = solve_by(one_of_each, 6, ball_search, limits=Limits(max_queries=without.queries))
    assert (found.status, found.flipsets) == ("optimal", whole.flipsets)
    assert found.proof.check(6)


def test_seconds_are_read_off_the_clock_of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = naturals()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))
    found, asked = solve_by(lambda query: query.bit_count() >= 4, 9, limits=Limits(max_seconds=6))
    assert found.status == "stopped"
    assert len(asked) <= 6


def interrupted(*, alone: bool) -> Flow[Flips, Flipsets]:
    flow = solving(6, guided_search, Limits(), answer=ask, alone=alone)
    step: Any = advance(flow)
    for _ in range(3):
        step = advance(flow, labels(two_of)(step))
    return flow


def test_an_interrupt_ends_in_what_is_proved_unless_others_run_along() -> None:
    step = interrupt(interrupted(alone=True), KeyboardInterrupt())
    assert isinstance(step, Done)
    assert (step.result.status, step.result.queries) == ("stopped", 3)
    with pytest.raises(KeyboardInterrupt):
        interrupt(interrupted(alone=False), KeyboardInterrupt())


def test_a_budget_of_whoever_answers_ends_in_what_is_proved() -> None:
    left = 4

    def answer(batch: Sequence[Flips]) -> Flow[Flips, Sequence[float]]:
        nonlocal left
        left -= len(batch)
        if left < 0:
            raise BudgetExhausted("4 rows")
        return (yield from ask(batch))

    found = run(solving(6, guided_search, Limits(), answer=answer), labels(two_of))
    assert (found.status, found.queries) == ("stopped", 4)


def crooked(query: Flips) -> bool:
    """Flips for feature 0, and not with feature 1 beside it."""
    return query == 0b001


def two_sets(d: int, *, batch: int) -> Search[tuple[Flips, ...]]:
    for query in (0b000, 0b010, 0b100, 0b110, 0b001, 0b011):
        yield from ask([query])
    return (0b001,)


def test_contradictions_are_an_error_or_noted_where_there_is_a_place_for_them() -> None:
    with pytest.raises(NotMonotone) as caught:
        solve_by(crooked, 3, two_sets)
    assert (caught.value.smaller, caught.value.larger) == (frozenset({0}), frozenset({0, 1}))
    doubts: list[tuple[Flips, Flips]] = []
    found, _ = solve_by(crooked, 3, two_sets, doubts=doubts)
    assert found.flipsets == (frozenset({0}),)  # what was said first stands
    assert doubts[0] == (0b001, 0b011)


def test_sets_of_more_features_are_left_alone_where_that_is_wanted() -> None:
    at_most = partial(guided_search, at_most=1)
    found, _ = solve_by(two_of, 5, at_most, at_most=1)
    assert (found.status, found.lower, found.upper, found.flipsets) == ("none", 2, None, ())
    found, _ = solve_by(lambda query: False, 5, at_most, at_most=1)
    assert (found.status, found.lower) == ("none", None)  # nothing flips, however large


def test_weights_are_for_searches_that_take_them() -> None:
    found, _ = solve_by(two_of, 3, weights=[1, 5, 1])
    assert (found.size, found.flipsets) == (2.0, (frozenset({0, 2}),))
    with pytest.raises(InputError, match="find_optimal finds smallest sets only"):
        solve_by(two_of, 3, find_optimal, weights=[1, 5, 1])


def test_a_search_that_leaves_something_open_is_refused() -> None:
    def hasty(d: int, *, batch: int) -> Search[tuple[Flips, ...]]:
        yield from ask([0b0011])
        return (0b0011,)

    with pytest.raises(ProtocolError, match="not proved"):
        solve_by(two_of, 4, hasty)


def test_bounds_that_a_search_settles_on_the_way_are_used() -> None:
    def settles(d: int, *, batch: int, settled: Any) -> Search[tuple[Flips, ...]]:
        settled(3)
        settled(2)  # a bound is never taken back
        while True:
            yield from ask([0])

    found, _ = solve_by(lambda query: query == everything(4), 4, settles, Limits(max_queries=0))
    assert (found.status, found.lower) == ("stopped", 3)


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "2", None])
def test_counts_are_whole_numbers_from_one(value: Any) -> None:
    with pytest.raises(InputError, match="batch must be a whole number"):
        read_count("batch", value)


@pytest.mark.parametrize(
    "given",
    [{"max_queries": -1}, {"max_queries": 1.5}, {"max_queries": True}, {"max_seconds": -1}, {"max_seconds": "1"}],
)
def test_limits_that_cannot_be_meant_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must be a number of at least 0"):
        Limits(**given)
