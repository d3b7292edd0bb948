"""Nothing is asked twice."""

from collections.abc import Sequence

import pytest

from flipset import run
from flipset.errors import BudgetExhausted
from flipset.layers import Allowance, Round, Transcript, limit_queries, remember, trace
from flipset.protocol import Done, Flips, Search, advance, ask
from tests.layers.asking import questions


def test_remember_asks_nothing_twice_also_inside_a_batch() -> None:
    transcript: Transcript[Flips] = []
    search = trace(remember(questions((1, 2, 1), (2, 1), (3, 1))), transcript)
    assert run(search, lambda batch: [q / 10 for q in batch]) == [0.1, 0.2, 0.1, 0.2, 0.1, 0.3, 0.1]
    assert transcript == [Round((1, 2), (0.1, 0.2)), Round((3,), (0.3,))]


def test_remember_shares_a_memory() -> None:
    memory = {1: 0.5}
    assert run(remember(questions((1,)), memory), lambda batch: []) == [0.5]


def test_answers_that_arrived_before_a_budget_ended_are_kept_and_passed_on() -> None:
    heard: list[object] = []

    def asks() -> Search[None]:
        try:
            yield from ask((1, 2, 1, 4, 8))
        except BudgetExhausted as stop:
            heard.extend(stop.answers)
            raise

    memory = {4: 0.4}
    flow = limit_queries(remember(asks(), memory), Allowance(2))
    with pytest.raises(BudgetExhausted):
        run(flow, lambda batch: [q / 10 for q in batch])
    assert heard == [0.1, 0.2, 0.1, 0.4, None]  # by place in the batch: remembered, or just answered
    assert memory == {4: 0.4, 1: 0.1, 2: 0.2}  # paid for: not asked again


def test_a_budget_that_ends_before_anything_arrived_changes_nothing() -> None:
    memory: dict[Flips, float] = {}
    with pytest.raises(BudgetExhausted):
        run(limit_queries(remember(questions((1, 2)), memory), Allowance(0)), lambda batch: [1.0] * len(batch))
    assert memory == {}


def test_a_batch_that_is_known_is_a_checkpoint() -> None:
    flow = remember(questions((1, 2)), {1: 0.1, 2: 0.2})
    assert list(advance(flow)) == []  # type: ignore[arg-type]
    assert advance(flow, ()) == Done([0.1, 0.2])


def test_two_flows_share_what_was_answered() -> None:
    memory: dict[Flips, float] = {}
    asked: list[Flips] = []

    def oracle(batch: Sequence[Flips]) -> list[float]:
        asked.extend(batch)
        return [q / 10 for q in batch]

    run(remember(questions((1, 2)), memory), oracle)
    assert run(remember(questions((2, 3)), memory), oracle) == [0.2, 0.3]
    assert asked == [1, 2, 3]
