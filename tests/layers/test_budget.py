"""Budgets of queries and seconds, and what is known when they end."""

from collections.abc import Sequence
from itertools import count as naturals

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import BudgetExhausted, Search, run
from flipset.errors import Interrupted
from flipset.layers import (
    Allowance,
    Tally,
    budget,
    count,
    deadline,
    limit_queries,
    limit_seconds,
    stay_interrupted,
    watch,
)
from flipset.paper import ball_search
from flipset.protocol import Done, Flips, Flow, advance, ask, checkpoint, interrupt
from flipset.sets.known import Known
from flipset.testing import asking, smallest
from tests.layers.asking import questions
from tests.strategies import Function, functions


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


# --- flows of any query -----------------------------------------------------------------------------------------------


def answering(batch: Sequence[Flips]) -> list[float]:
    return [float(query) for query in batch]


class Settles:
    """Asks batches; when a budget ends it notes what has arrived, and may try to go on."""

    def __init__(self, *batches: Sequence[int], again: int = 0) -> None:
        self.batches, self.again = batches, again
        self.arrived: list[Sequence[float | None]] = []
        self.heard: list[float] = []

    def flow(self) -> Flow[int, str]:
        for batch in self.batches:
            try:
                self.heard += yield from ask(batch)
            except BudgetExhausted as stop:
                self.arrived.append(stop.answers)
                if len(self.arrived) > self.again:
                    return "stopped"
        return "done"


def test_a_batch_that_does_not_fit_is_asked_as_far_as_it_does() -> None:
    flow = Settles([1, 2], [3, 4, 5], [6])
    assert run(limit_queries(flow.flow(), Allowance(4)), answering) == "stopped"
    assert flow.heard == [1.0, 2.0]
    assert flow.arrived == [(3.0, 4.0, None)]


def test_a_budget_that_is_just_enough_stops_nothing() -> None:
    flow = Settles([1, 2], [3, 4])
    assert run(limit_queries(flow.flow(), Allowance(4)), answering) == "done"


def test_whatever_is_asked_after_the_end_raises_again_and_nothing_is_asked() -> None:
    asked: list[int] = []

    def oracle(batch: Sequence[int]) -> list[float]:
        asked.extend(batch)
        return answering(batch)

    flow = Settles([1, 2], [3], [4], again=1)
    assert run(limit_queries(flow.flow(), Allowance(1)), oracle) == "stopped"
    assert asked == [1]
    assert flow.arrived == [(1.0, None), (None,)]


def test_flows_that_share_an_allowance_share_the_budget() -> None:
    allowance = Allowance(5)
    first, second, third = Settles([1, 2, 3]), Settles([4], [5, 6]), Settles([7])
    assert run(limit_queries(first.flow(), allowance), answering) == "done"
    assert run(limit_queries(second.flow(), allowance), answering) == "stopped"
    assert run(limit_queries(third.flow(), allowance), answering) == "stopped"
    assert second.arrived == [(5.0, None)]
    assert third.arrived == [(None,)]
    assert allowance.spent == allowance.most == 5


def test_queries_asked_before_count() -> None:
    flow = Settles([1, 2])
    assert run(limit_queries(flow.flow(), Allowance(3, spent=2)), answering) == "stopped"
    assert flow.arrived == [(1.0, None)]


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(0, 30))
def test_an_allowance_grants_no_more_than_there_is(wanted: list[int], most: int) -> None:
    allowance = Allowance(most)
    granted = [allowance.grant(one) for one in wanted]
    assert all(given <= one for given, one in zip(granted, wanted, strict=True))
    assert sum(granted) == min(most, sum(wanted)) == allowance.spent


class Clock:
    """A clock that goes on by a second whenever somebody looks."""

    def __init__(self) -> None:
        self.now = -1.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.mark.parametrize(("grace", "heard"), [(0, [1.0, 2.0]), (3, [1.0, 2.0, 3.0]), (4, [1.0, 2.0, 3.0, 4.0])])
def test_seconds_stop_a_flow_but_for_the_first_batches(grace: int, heard: list[float]) -> None:
    flow = Settles([1], [2], [3], [4])
    run(limit_seconds(flow.flow(), 2.0, Clock(), grace=grace), answering)
    assert flow.heard == heard


def test_a_checkpoint_uses_up_no_grace_but_may_end_the_flow() -> None:
    flow = Settles([1], [], [], [2])
    run(limit_seconds(flow.flow(), 2.0, Clock(), grace=1), answering)
    assert flow.heard == [1.0]
    assert flow.arrived == [()]  # at the second checkpoint


def test_the_clock_starts_with_the_first_batch() -> None:
    clock = Clock()
    flow = limit_seconds(Settles([1], [2]).flow(), 1.5, clock)
    clock.now = 1_000.0
    assert run(flow, answering) == "done"


# --- interrupts -------------------------------------------------------------------------------------------------------


def test_an_interrupt_after_an_answer_is_a_budget_that_ended() -> None:
    inner = Settles([1], [2], [3], again=1)
    flow = stay_interrupted(inner.flow())
    advance(flow)
    advance(flow, [1.0])
    assert interrupt(flow, KeyboardInterrupt()) == Done("stopped")  # what it asks after that is refused, too
    assert len(inner.arrived) == 2


def test_an_interrupt_before_the_first_answer_stays_one() -> None:
    flow = stay_interrupted(Settles([1]).flow())
    advance(flow)
    with pytest.raises(KeyboardInterrupt):
        interrupt(flow, KeyboardInterrupt())


def test_a_flow_that_was_interrupted_before_asks_nothing() -> None:
    with pytest.raises(Interrupted):
        run(stay_interrupted(questions((1,)), interrupted=True), lambda batch: 1 / 0)  # type: ignore[arg-type,return-value]


def test_an_interrupt_says_that_it_is_one_whatever_is_known() -> None:
    flow = budget(stay_interrupted(questions((1,), (2,))), 9)
    advance(flow)
    advance(flow, [1.0])
    with pytest.raises(Interrupted, match="interrupted"):
        interrupt(flow, KeyboardInterrupt())


def test_c2_a_flow_is_looked_at_before_batches_and_at_checkpoints() -> None:
    looks: list[int] = []

    class Left(BaseException):
        pass

    def look() -> None:
        looks.append(1)
        if len(looks) == 4:
            raise Left

    def flow() -> Search[None]:
        while True:
            yield from checkpoint()

    with pytest.raises(Left):
        run(watch(flow(), look), lambda batch: 1 / 0)  # type: ignore[arg-type,return-value]
    looks.clear()
    assert run(watch(questions((1,), (2,)), look), lambda batch: [1.0] * len(batch)) is not None
    assert len(looks) == 2
