"""All drivers of the library keep the contract of a driver, and the contract finds those that do not."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from flipset.drivers import arun, calling, replay, run, run_many, stream
from flipset.drivers.answers import as_model_errors, read_margins
from flipset.drivers.drive import adrive, drive
from flipset.protocol import Answers, Done, Flips, Flow, advance, ask, relay
from flipset.testing import DriverContract, OracleDriverContract

Oracle = Callable[[Sequence[Flips]], Sequence[Any]]
Driver = Callable[[Flow[Flips, Any], Oracle], Any]


def awaiting(flow: Flow[Flips, Any], oracle: Oracle) -> Any:
    async def waits(batch: Sequence[Flips]) -> Sequence[Any]:
        await asyncio.sleep(0)
        return oracle(batch)

    return asyncio.run(arun(flow, waits))


def streaming(flow: Flow[Flips, Any], oracle: Oracle) -> Any:
    found: deque[Any] = deque()

    def finding() -> Flow[Flips, None]:
        found.append((yield from flow))

    (result,) = stream(finding(), oracle, found)
    return result


class TestOracleDrivers(OracleDriverContract):
    run_it: Driver

    @pytest.fixture(autouse=True, params=[run, awaiting, streaming], ids=["run", "arun", "stream"])
    def each(self, request: pytest.FixtureRequest) -> None:
        self.run_it = staticmethod(request.param)

    def drive(self, flow: Flow[Flips, Any], oracle: Oracle) -> Any:
        return self.run_it(flow, oracle)


# --- drivers that are given answers which somebody else has read ------------------------------------------------------


def replaying(flow: Flow[Flips, Any], oracle: Oracle) -> Any:
    """Replay from a transcript that is written one round ahead of the flow."""
    asked: list[Sequence[Flips]] = []

    def noted(batch: Sequence[Flips]) -> Flow[Flips, Answers]:
        if batch:
            asked.append(batch)
        return (yield from ask(batch))

    def rounds() -> Iterator[tuple[Sequence[Flips], Sequence[float]]]:
        while asked:
            batch = asked.pop()
            yield batch, oracle(batch)

    return replay(relay(flow, noted), rounds())


def one_of_many(flow: Flow[Flips, Any], oracle: Oracle, submit: Any, **how: Any) -> Any:
    """Run a flow among two others, which ask nothing."""

    def silent() -> Flow[Flips, str]:
        return "nothing"
        yield ()

    flows = [("before", silent()), ("this", flow), ("after", silent())]
    with closing(run_many(flows, submit(oracle), width=lambda: 2, **how)) as results:
        found = dict(results)
    assert found["before"] == found["after"] == "nothing"
    if isinstance(found["this"], Exception):
        raise found["this"]
    return found["this"]


def at_once(oracle: Oracle) -> Any:
    return calling(lambda queries: oracle([query for _, query in queries]))


def in_threads(flow: Flow[Flips, Any], oracle: Oracle) -> Any:
    with ThreadPoolExecutor(2) as threads:

        def submit(oracle: Oracle) -> Callable[[Sequence[tuple[str, Flips]]], Future[Sequence[float]]]:
            return lambda queries: threads.submit(oracle, [query for _, query in queries])

        return one_of_many(flow, oracle, submit, in_flight=2, fill=lambda: 100)


def by_steps(flow: Flow[Flips, Any], oracle: Oracle) -> Any:
    return drive(flow, lambda batch: oracle(batch) if batch else ())


def by_awaited_steps(flow: Flow[Flips, Any], oracle: Oracle) -> Any:
    async def answer(batch: Sequence[Flips]) -> Sequence[Any]:
        return oracle(batch) if batch else ()

    return asyncio.run(adrive(flow, answer))


DRIVERS: dict[str, Driver] = {
    "replay": replaying,
    "lock-step": partial(one_of_many, submit=at_once),
    "pool": partial(one_of_many, submit=at_once, in_flight=3, fill=lambda: 100),
    "threads": in_threads,
    "drive": by_steps,
    "adrive": by_awaited_steps,
}


class TestDrivers(DriverContract):
    run_it: Driver

    @pytest.fixture(autouse=True, params=DRIVERS)
    def each(self, request: pytest.FixtureRequest) -> None:
        self.run_it = DRIVERS[request.param]

    def drive(self, flow: Flow[Flips, Any], oracle: Oracle) -> Any:
        return self.run_it(flow, oracle)


# --- drivers that break it --------------------------------------------------------------------------------------------


def simple(flow: Flow[Flips, Any], oracle: Oracle, *, read: Any = read_margins, blame: Any = as_model_errors) -> Any:
    """Run a flow as `run` does, without its care: it does not know checkpoints, and never closes the flow."""
    step = advance(flow)
    while not isinstance(step, Done):
        with blame(step):
            answers = oracle(step)
        step = advance(flow, read(step, answers))
    return step.result


class Nobody:
    """Blames nobody."""

    def __init__(self, batch: Sequence[Flips]) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def one_by_one(flow: Flow[Flips, Any], oracle: Oracle) -> Any:
    return run(flow, lambda batch: [oracle([query])[0] for query in batch])


def empty_handed(flow: Flow[Flips, Any], oracle: Oracle) -> Any:
    run(flow, oracle)


@pytest.mark.parametrize(
    ("run_it", "test", "problem"),
    [
        (one_by_one, "test_it_asks_the_batches_of_the_flow_and_returns_its_result", "asked"),
        (empty_handed, "test_it_asks_the_batches_of_the_flow_and_returns_its_result", "found None"),
        (simple, "test_a_checkpoint_is_answered_and_reaches_no_oracle", "the driver asked"),
        (empty_handed, "test_a_flow_that_asks_nothing_has_its_result", "the driver None"),
        (simple, "test_an_interrupt_of_the_oracle_closes_the_flow", "still open"),
        (simple, "test_what_the_model_raises_is_an_oracle_error_and_closes_the_flow", "still open"),
        (partial(simple, blame=Nobody), "test_what_the_model_raises_is_an_oracle_error_and_closes_the_flow", "own"),
        (partial(simple, read=lambda _, given: given), "test_answers_that_cannot_be_read_are_refused", "answer"),
        (partial(simple, read=lambda _, given: given), "test_labels_are_read_as_margins", "were read as"),
        (simple, "test_a_budget_of_the_oracle_is_raised_inside_the_flow", "a test"),
    ],
)
def test_the_contract_finds_what_breaks_it(run_it: Driver, test: str, problem: str) -> None:
    kept: list[Flow[Flips, Any]] = []  # a flow that nobody holds is closed by the interpreter

    class Broken(OracleDriverContract):
        def drive(self, flow: Flow[Flips, Any], oracle: Oracle) -> Any:
            kept.append(flow)
            return run_it(flow, oracle)

    with pytest.raises(Exception, match=problem):
        getattr(Broken(), test)()
