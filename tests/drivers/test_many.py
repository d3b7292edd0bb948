"""Many flows at once: lock-step makes the calls that it always made, and a pool holds nobody up."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import run
from flipset.drivers import calling, run_many
from flipset.errors import BudgetExhausted, FlipsetError, Interrupted, OracleError, Unavailable
from flipset.paper import find_optimal
from flipset.protocol import Flips, Flow, ask, checkpoint
from flipset.search.guided import guided_search
from flipset.sets.known import Known
from flipset.testing import asking
from tests.patience import PATIENCE
from tests.strategies import Function, functions

Queries = Sequence[tuple[Any, Any]]


class Member:
    """A flow that asks batches of so many numbers, and notes how it ended."""

    def __init__(self, name: str, *sizes: int, forgives: bool = False) -> None:
        self.name = name
        self.sizes = sizes
        self.forgives = forgives
        self.arrived: Sequence[float | None] = ()
        self.is_closed = False

    def __call__(self) -> Flow[int, str]:
        try:
            for turn, size in enumerate(self.sizes):
                yield from checkpoint()
                try:
                    yield from ask([10 * turn + i for i in range(size)])
                except BudgetExhausted as stop:
                    self.arrived = stop.answers
                    if not self.forgives:
                        raise
                    return f"{self.name} stopped"
            return self.name
        finally:
            self.is_closed = True


def flows_of(members: Sequence[Member]) -> Iterator[tuple[str, Flow[int, str]]]:
    for member in members:
        yield member.name, member()


def noting(calls: list[list[tuple[str, int]]]) -> Callable[[Queries], list[float]]:
    def ask_all(queries: Queries) -> list[float]:
        calls.append(list(queries))
        return [float(query) for _, query in queries]

    return ask_all


def shown(calls: list[list[tuple[str, int]]]) -> list[str]:
    return [" ".join(f"{name}{query}" for name, query in call) for call in calls]


# --- lock-step --------------------------------------------------------------------------------------------------------


def test_lock_step_is_one_call_for_all_that_wait_and_new_flows_come_last() -> None:
    calls: list[list[tuple[str, int]]] = []
    members = [Member("a", 2, 1), Member("b", 1), Member("c", 1, 1)]
    results = list(run_many(flows_of(members), calling(noting(calls)), width=lambda: 2))
    assert shown(calls) == ["a0 a1 b0", "a10 c0", "c10"]
    assert results == [("b", "b"), ("a", "a"), ("c", "c")]


@given(st.lists(functions(max_d=5), min_size=1, max_size=6), st.integers(1, 4), st.integers(1, 3), st.integers(1, 9))
def test_results_are_those_of_each_flow_alone(members: list[Function], width: int, in_flight: int, fill: int) -> None:
    def flows() -> Iterator[tuple[int, Flow[Flips, tuple[Flips, ...]]]]:
        for i, member in enumerate(members):
            yield i, find_optimal(member.d) if i % 2 else guided_search(member.d, batch=3)

    expected = {i: run(flow, asking(members[i].g)) for i, flow in flows()}

    def ask_all(queries: Queries) -> list[float]:
        return [1.0 if members[i].g(query) else -1.0 for i, query in queries]

    assert dict(run_many(flows(), calling(ask_all), width=lambda: width)) == expected
    pool = run_many(flows(), calling(ask_all), width=lambda: width, in_flight=in_flight, fill=lambda: fill)
    assert dict(pool) == expected


def test_a_flow_is_taken_when_it_is_started() -> None:
    started: list[str] = []

    def flows() -> Iterator[tuple[str, Flow[int, str]]]:
        for member in (Member(name, 1) for name in "abc"):
            started.append(member.name)
            yield member.name, member()

    results = run_many(flows(), calling(noting([])), width=lambda: 1)
    assert started == []
    assert next(results) == ("a", "a")
    assert started == ["a"]
    assert len(list(results)) == 2


def test_flows_that_ask_nothing_end_without_a_call() -> None:
    assert dict(run_many(flows_of([Member("a")]), calling(lambda queries: 1 / 0), width=lambda: 1)) == {"a": "a"}  # type: ignore[arg-type,return-value]
    assert dict(run_many((), calling(noting([])), width=lambda: 1)) == {}


def failing_on(bad: str, calls: list[list[tuple[str, int]]]) -> Callable[[Queries], list[float]]:
    answer = noting(calls)

    def ask_all(queries: Queries) -> list[float]:
        answers = answer(queries)
        if any(name in bad for name, _ in queries):
            raise OracleError("some row", queries)
        return answers

    return ask_all


@pytest.mark.parametrize(("in_flight", "fill"), [(1, float("inf")), (3, 4)])
def test_the_flow_that_the_model_fails_on_is_found_and_the_others_go_on(in_flight: int, fill: float) -> None:
    calls: list[list[tuple[str, int]]] = []
    members = [Member(name, 2, 1) for name in "abcde"]
    submit = calling(failing_on("be", calls))
    results = dict(run_many(flows_of(members), submit, width=lambda: 5, in_flight=in_flight, fill=lambda: fill))
    assert [type(results[name]) for name in "abcde"] == [str, OracleError, str, str, OracleError]
    assert all(member.is_closed for member in members)
    if in_flight == 1:  # the order of calls, and of the queries of those who go on
        whole = "a0 a1 b0 b1 c0 c1 d0 d1 e0 e1"
        halves = ["a0 a1 b0 b1", "a0 a1", "b0 b1", "c0 c1 d0 d1 e0 e1", "c0 c1", "d0 d1 e0 e1", "d0 d1", "e0 e1"]
        assert shown(calls) == [whole, *halves, "a10 c10 d10"]


def test_no_flow_is_started_while_a_failed_call_is_asked_again() -> None:
    calls: list[list[tuple[str, int]]] = []
    members = [Member("a", 1), Member("b", 1), Member("c", 1, 1), Member("d", 1)]
    list(run_many(flows_of(members), calling(failing_on("b", calls)), width=lambda: 3))
    assert shown(calls) == ["a0 b0 c0", "a0", "b0 c0", "b0", "c0", "c10 d0"]


def test_what_a_flow_raises_on_purpose_is_its_result() -> None:
    def fails() -> Flow[int, str]:
        yield from ask([1])
        raise OracleError("what the answers say", [1])

    flows: list[tuple[str, Flow[int, str]]] = [("a", fails()), ("b", Member("b", 1)())]
    results = dict(run_many(flows, calling(noting([])), width=lambda: 2))
    assert str(results["a"]) == "what the answers say"
    assert results["b"] == "b"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError, Unavailable])
def test_any_other_error_ends_the_run_and_closes_the_flows(error: type[BaseException]) -> None:
    def ask_all(queries: Queries) -> list[float]:
        if any(query for _, query in queries):
            raise error
        return [0.0] * len(queries)

    members = [Member("a", 1), Member("b", 1, 2), Member("c", 1, 1)]
    results = run_many(flows_of(members), calling(ask_all), width=lambda: 3)
    assert next(results) == ("a", "a")
    with pytest.raises(error):
        list(results)
    assert all(member.is_closed for member in members)


# --- budgets ----------------------------------------------------------------------------------------------------------


def test_a_flow_is_told_that_its_queries_cannot_be_paid_for_and_smaller_ones_are_asked() -> None:
    left = 4

    def afford(count: int) -> BudgetExhausted | None:
        nonlocal left
        if count > left:
            return BudgetExhausted("4 queries", Known())
        left -= count
        return None

    calls: list[list[tuple[str, int]]] = []
    members = [Member("a", 3), Member("b", 2, forgives=True), Member("c", 1, 1), Member("d", 1)]
    results = dict(run_many(flows_of(members), calling(noting(calls)), width=lambda: 3, afford=afford))
    assert shown(calls) == ["a0 a1 a2 c0"]
    assert results["a"] == "a"
    assert results["b"] == "b stopped"
    assert isinstance(results["c"], BudgetExhausted)  # its second batch
    assert isinstance(results["d"], BudgetExhausted)  # started all the same, and told
    assert members[1].arrived == (None, None)


def test_a_flow_is_given_the_answers_that_arrived_before_a_budget_ran_out() -> None:
    def ask_all(queries: Queries) -> list[float]:
        if ("a", 2) in queries:
            raise BudgetExhausted("rows sent", Known())
        return [float(query) for _, query in queries]

    member = Member("a", 3, forgives=True)
    pool = run_many(flows_of([member]), calling(ask_all), width=lambda: 1, in_flight=2, fill=lambda: 2)
    assert dict(pool) == {"a": "a stopped"}
    assert member.arrived == (0.0, 1.0, None)


# --- a pool -----------------------------------------------------------------------------------------------------------


class Line:
    """Calls that end when the test says so: whenever so many are under way, the latest of them is answered."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self.open: list[tuple[Future[Sequence[float]], Queries]] = []
        self.most = 0
        self.sent: list[Queries] = []

    def submit(self, queries: Queries) -> Future[Sequence[float]]:
        future: Future[Sequence[float]] = Future()
        self.open.append((future, queries))
        self.sent.append(queries)
        self.most = max(self.most, len(self.open))
        if len(self.open) == self.at_once:
            self.answer_latest()
        return future

    def answer_latest(self) -> None:
        future, queries = self.open.pop()
        future.set_result([float(query) for _, query in queries])


def test_a_call_that_takes_long_holds_up_only_the_flows_in_it() -> None:
    line = Line(at_once=2)
    members = [Member(name, 1, 1, 1) for name in "abcde"]
    results = run_many(flows_of(members), line.submit, width=lambda: 3, in_flight=2, fill=lambda: 1)
    assert [name for name, _ in (next(results) for _ in range(4))] == ["b", "c", "d", "e"]  # a waits for the first call
    assert line.most == 2
    line.at_once = 1
    line.answer_latest()
    assert list(results) == [("a", "a")]
    assert max(map(len, line.sent)) == 1


def test_a_flow_whose_budget_runs_out_is_given_the_answers_that_are_on_their_way() -> None:
    calls: list[Future[Sequence[float]]] = []

    def submit(queries: Queries) -> Future[Sequence[float]]:
        future: Future[Sequence[float]] = Future()
        calls.append(future)
        if queries == [("a", 1)]:
            future.set_exception(BudgetExhausted("rows sent", Known()))
        elif queries[0][0] == "b":  # sent when the run has heard that the budget is spent
            calls[0].set_result([7.0])
            future.set_result([0.0])
        return future

    member = Member("a", 4, forgives=True)
    flows = flows_of([member, Member("b", 1)])
    assert dict(run_many(flows, submit, width=lambda: 2, in_flight=2, fill=lambda: 1)) == {"a": "a stopped", "b": "b"}
    assert member.arrived == (7.0, None, None, None)
    assert len(calls) == 3  # the rest of its batch is not sent


def test_calls_under_way_are_waited_for_when_no_flow_needs_them() -> None:
    calls: list[Future[Sequence[float]]] = []

    def submit(queries: Queries) -> Future[Sequence[float]]:
        future: Future[Sequence[float]] = Future()
        calls.append(future)
        if queries == [("a", 1)]:
            future.set_exception(OracleError("cannot be scored", queries))
            Thread(target=lambda: calls[0].set_result([7.0])).start()
        return future

    ((_, result),) = run_many(flows_of([Member("a", 2)]), submit, width=lambda: 1, in_flight=2, fill=lambda: 1)
    assert isinstance(result, OracleError)
    assert calls[0].result() == [7.0]  # it was sent, so it was paid for


def test_calls_are_filled_from_all_flows_that_wait_and_no_fuller_than_they_may_be() -> None:
    calls: list[list[tuple[str, int]]] = []
    members = [Member("a", 3), Member("b", 4)]
    pool = run_many(flows_of(members), calling(noting(calls)), width=lambda: 2, in_flight=2, fill=lambda: 5)
    assert dict(pool) == {"a": "a", "b": "b"}
    assert shown(calls) == ["a0 a1 a2 b0 b1", "b2 b3"]


def test_leaving_early_cancels_the_calls_under_way_and_closes_the_flows() -> None:
    line = Line(at_once=3)
    members = [Member(name, 1) for name in "abc"]
    results = run_many(flows_of(members), line.submit, width=lambda: 3, in_flight=3, fill=lambda: 1)
    assert next(results) == ("c", "c")
    results.close()
    assert [future.cancelled() for future, _ in line.open] == [True, True]
    assert all(member.is_closed for member in members)


def test_a_call_that_somebody_else_cancels_interrupts_its_flows() -> None:
    def submit(queries: Queries) -> Future[Sequence[float]]:
        future: Future[Sequence[float]] = Future()
        if queries[0][0] == "a":
            future.cancel()
        else:
            future.set_result([0.0] * len(queries))
        return future

    members = [Member("a", 1), Member("b", 1)]
    results: dict[str, str | FlipsetError] = dict(
        run_many(flows_of(members), submit, width=lambda: 2, in_flight=2, fill=lambda: 1)
    )
    assert isinstance(results["a"], Interrupted)
    assert results["b"] == "b"


@pytest.mark.parametrize("grace", [0.0, PATIENCE])
def test_c3_calls_under_way_at_a_fault_may_end_while_the_grace_lasts(grace: float) -> None:
    calls: list[Future[Sequence[float]]] = []
    has_failed, may_cancel = Event(), Event()

    def submit(queries: Queries) -> Future[Sequence[float]]:
        future: Future[Sequence[float]] = Future()
        calls.append(future)
        if len(calls) == 2:
            calls[0].set_exception(Unavailable("gone"))
            has_failed.set()
        return future

    def answer() -> None:
        has_failed.wait(PATIENCE)
        if not grace:
            may_cancel.wait(PATIENCE)
        if calls[1].set_running_or_notify_cancel():
            calls[1].set_result([1.0])

    other = Thread(target=answer)
    other.start()
    members = [Member("a", 1), Member("b", 1)]
    with pytest.raises(Unavailable):
        list(run_many(flows_of(members), submit, width=lambda: 2, in_flight=2, fill=lambda: 1, grace=grace))
    may_cancel.set()
    other.join()
    assert calls[1].cancelled() == (not grace)
    assert all(member.is_closed for member in members)
