"""All layers of the library keep the contract of a layer, and the contract finds those that do not."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import flipset.layers
from flipset.errors import BudgetExhausted
from flipset.layers import (
    Allowance,
    Tally,
    WorkClock,
    budget,
    clocked,
    consistent,
    count,
    deadline,
    guard,
    limit_queries,
    limit_seconds,
    limit_until,
    remember,
    stay_interrupted,
    trace,
    watch,
)
from flipset.layers.infer import infer
from flipset.protocol import Answers, Flips, Flow, advance, ask, relay
from flipset.sets.known import Known
from flipset.testing import LayerContract

Layer = Callable[[Flow[Flips, Any]], Flow[Flips, Any]]

LAYERS: dict[str, Layer] = {
    "count": lambda flow: count(flow, Tally()),
    "remember": remember,
    "trace": lambda flow: trace(flow, []),
    "guard": guard,
    "consistent": lambda flow: consistent(flow, Known(), []),
    "infer": lambda flow: infer(flow, Known(), 64),
    "budget": lambda flow: budget(flow, 10**9),
    "deadline": lambda flow: deadline(flow, 10.0, lambda: 0.0),
    "limit_queries": lambda flow: limit_queries(flow, Allowance(10**9)),
    "limit_seconds": lambda flow: limit_seconds(flow, 10.0, lambda: 0.0),
    "limit_until": lambda flow: limit_until(flow, lambda: None),
    "stay_interrupted": stay_interrupted,
    "watch": lambda flow: watch(flow, lambda: None),
    "clocked": lambda flow: clocked(flow, WorkClock(lambda: 0.0)),
}


def test_no_layer_is_left_out() -> None:
    made = {name for name in flipset.layers.__all__ if name[0].islower()}
    assert made | {"infer"} == set(LAYERS)


class TestLayers(LayerContract):
    wrap: Layer

    @pytest.fixture(autouse=True, params=LAYERS)
    def each(self, request: pytest.FixtureRequest) -> None:
        self.wrap = LAYERS[request.param]

    def layer(self, flow: Flow[Flips, Any]) -> Flow[Flips, Any]:
        return self.wrap(flow)


# --- layers that break it ---------------------------------------------------------------------------------------------


def answering(answer: Callable[[Sequence[Flips]], Flow[Flips, Answers]]) -> Layer:
    return lambda flow: relay(flow, answer)


def turned(batch: Sequence[Flips]) -> Flow[Flips, Answers]:
    """Gives the answers in the wrong order."""
    return (yield from ask(batch))[::-1]


def nosy(batch: Sequence[Flips]) -> Flow[Flips, Answers]:
    """Asks something of its own."""
    return (yield from ask([*batch, 1 << 30]))[:-1]


def impatient(batch: Sequence[Flips]) -> Flow[Flips, Answers]:
    """Answers checkpoints by itself."""
    return (yield from ask(batch)) if batch else ()


def trusting(batch: Sequence[Flips]) -> Flow[Flips, Answers]:
    """Takes any number of answers."""
    answers = yield batch
    return answers[: len(batch)]


def careless(flow: Flow[Flips, Any]) -> Flow[Flips, Any]:
    """Does by hand what `relay` does, and forgets to close the flow and to tell it of a budget."""
    step: Any = advance(flow)
    while not hasattr(step, "result"):
        step = advance(flow, (yield from ask(step)))
    return step.result


def numb(flow: Flow[Flips, Any]) -> Flow[Flips, Any]:
    """Keeps every error for itself."""
    try:
        return (yield from relay(flow, ask))
    except (BudgetExhausted, ZeroDivisionError):
        return None


@pytest.mark.parametrize(
    ("wrap", "test", "problem"),
    [
        (answering(turned), "test_each_query_has_its_own_answer", "was answered by"),
        (answering(turned), "test_it_changes_no_result_in_any_stack", "the truth is|not monotone"),
        (answering(nosy), "test_it_asks_nothing_of_its_own", "the flow never asked"),
        (answering(impatient), "test_it_passes_checkpoints_on", "checkpoint 1 of the flow became"),
        (answering(trusting), "test_it_refuses_a_wrong_number_of_answers", "takes 3 answers"),
        (numb, "test_an_error_of_the_flow_passes_through", "lost"),
        (careless, "test_it_closes_the_flow", "still open"),
        (careless, "test_a_budget_that_ends_outside_is_raised_inside", "a test"),
        (numb, "test_a_flow_that_does_not_forgive_ends_by_the_error", "the error is lost"),
    ],
)
def test_the_contract_finds_what_breaks_it(wrap: Layer, test: str, problem: str) -> None:
    kept: list[Flow[Flips, Any]] = []  # a flow that nobody holds is closed by the interpreter

    class Broken(LayerContract):
        def layer(self, flow: Flow[Flips, Any]) -> Flow[Flips, Any]:
            kept.append(flow)
            return wrap(flow)

    with pytest.raises(Exception, match=problem):
        getattr(Broken(), test)()
