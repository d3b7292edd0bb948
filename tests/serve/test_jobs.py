"""Work for clients: so much at a time, and none for those who are gone."""

import asyncio
from threading import Event
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, Space
from flipset.serve import jobs
from flipset.serve.calls import ModelAccess
from flipset.serve.jobs import Busy, Left, Workers

SPACE = Space([Feature("a", "integer", direction=+1, lower=0, upper=9)])


class Client:
    """A request whose client leaves when the test says so."""

    def __init__(self) -> None:
        self.looked = Event()
        self.has_left = False

    async def is_disconnected(self) -> bool:
        self.looked.set()
        return self.has_left


def desk(model: Any = None) -> Workers:
    return Workers(Explainer(model or (lambda rows: np.asarray(rows)[:, 0] >= 5), SPACE), ModelAccess())


def test_work_is_done_with_the_explainer_and_its_result_returned() -> None:
    at = desk()
    e: Any = asyncio.run(at.do(Client(), lambda explainer: explainer.explain([1])))  # type: ignore[arg-type]
    assert e.flipsets == (("a",),)
    at.close()


def test_an_error_of_the_work_is_the_callers() -> None:
    at = desk()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(at.do(Client(), lambda explainer: 1 / 0))  # type: ignore[arg-type]
    assert asyncio.run(at.do(Client(), lambda explainer: "next")) == "next"  # type: ignore[arg-type]
    at.close()


def test_too_many_are_told_that_it_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    at, go, entered = desk(), Event(), Event()
    monkeypatch.setattr(jobs, "WAITING", 1)

    async def both() -> None:
        def wait(explainer: Any) -> str:
            entered.set()
            go.wait()
            return "done"

        first = asyncio.create_task(at.do(Client(), wait))  # type: ignore[arg-type]
        await asyncio.to_thread(entered.wait)
        with pytest.raises(Busy):
            await at.do(Client(), lambda explainer: "more")  # type: ignore[arg-type]
        go.set()
        assert await first == "done"
        assert await at.do(Client(), lambda explainer: "later") == "later"  # type: ignore[arg-type]

    asyncio.run(both())
    at.close()


def test_a_client_that_has_left_stops_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LOOK_EVERY", 0.001)
    client, entered, go = Client(), Event(), Event()
    asked: list[int] = []

    def model(rows: Any) -> Any:
        asked.append(len(rows))
        entered.set()
        go.wait()
        return np.asarray(rows)[:, 0] >= 5

    at = desk(model)

    async def leave() -> None:
        task = asyncio.create_task(at.do(client, lambda explainer: explainer.explain([1], batch=1)))  # type: ignore[arg-type]
        await asyncio.to_thread(entered.wait)
        client.has_left = True
        client.looked.clear()
        await asyncio.to_thread(client.looked.wait)  # it was looked at after the client had left
        go.set()
        with pytest.raises(Left):
            await task

    asyncio.run(leave())
    assert asked == [1]  # no call after the one that was under way
    at.close()


def test_work_may_ask_whether_anybody_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LOOK_EVERY", 0.001)
    client, entered = Client(), Event()
    at = desk()

    def work(explainer: Any, is_gone: Any) -> str:
        entered.set()
        while not is_gone():
            pass
        return "noticed"

    async def leave() -> Any:
        task = asyncio.create_task(at.do_until(client, work))  # type: ignore[arg-type]
        await asyncio.to_thread(entered.wait)
        client.has_left = True
        return await task

    assert asyncio.run(leave()) == "noticed"
    at.close()
