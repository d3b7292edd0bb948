"""Work for clients: in queues by kind, and none for clients that have left."""

import asyncio
from threading import Event
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, Space
from flipset.serve import jobs
from flipset.serve.calls import Gone, ModelAccess
from flipset.serve.jobs import CHECK, ROW, TABLE, VIEW, Busy, Kind, Left, Workers
from tests.patience import PATIENCE

SPACE = Space([Feature("a", "integer", direction=+1, lower=0, upper=9)])


class Client:
    """A request whose client leaves when the test says so."""

    def __init__(self) -> None:
        self.looked = Event()
        self.has_left = False

    async def is_disconnected(self) -> bool:
        self.looked.set()
        return self.has_left


def make_workers(model: Any = None) -> Workers:
    return Workers(Explainer(model or (lambda rows: np.asarray(rows)[:, 0] >= 5), SPACE), ModelAccess())


async def do(workers: Workers, work: Any, client: Any = None, kind: Kind = ROW) -> Any:
    asking: Any = client or Client()
    return await workers.do(kind, asking, work)


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LOOK_EVERY", 0.001)


def test_work_is_done_with_the_explainer_and_its_result_returned() -> None:
    workers = make_workers()
    e = asyncio.run(do(workers, lambda explainer, stop: explainer.explain([1])))
    assert e.flipsets == (("a",),)
    workers.close()


def test_an_error_of_the_work_is_the_callers() -> None:
    workers = make_workers()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(do(workers, lambda explainer, stop: 1 / 0))
    assert asyncio.run(do(workers, lambda explainer, stop: "next")) == "next"
    workers.close()


@pytest.mark.parametrize("full", [TABLE, CHECK, VIEW])
def test_c11_a_full_queue_refuses_its_own_kind_and_no_other(full: Kind) -> None:
    workers, go = make_workers(), Event()

    async def crowd() -> None:
        waiting = [
            asyncio.create_task(do(workers, lambda explainer, stop: go.wait(PATIENCE), kind=full))
            for _ in range(full.threads + full.waiting)
        ]
        await asyncio.sleep(0)  # they are all submitted
        with pytest.raises(Busy):
            await do(workers, lambda explainer, stop: "one too many", kind=full)
        assert await do(workers, lambda explainer, stop: explainer.explain([1]).size) == 1
        go.set()
        assert all(await asyncio.gather(*waiting))
        assert await do(workers, lambda explainer, stop: "later", kind=full) == "later"

    asyncio.run(crowd())
    workers.close()


def test_a_client_that_has_left_stops_the_model() -> None:
    client, entered, go = Client(), Event(), Event()
    asked: list[int] = []

    def model(rows: Any) -> Any:
        asked.append(len(rows))
        entered.set()
        assert go.wait(PATIENCE)
        return np.asarray(rows)[:, 0] >= 5

    workers = make_workers(model)

    async def leave() -> None:
        task = asyncio.create_task(do(workers, lambda explainer, stop: explainer.explain([1], batch=1), client))
        await asyncio.to_thread(entered.wait)
        client.has_left = True
        with pytest.raises(Left):
            await task
        go.set()

    asyncio.run(leave())
    workers.close()
    assert asked == [1]  # no call after the one that was under way


@pytest.mark.parametrize("kind", [ROW, CHECK, TABLE])
def test_c2_work_is_told_to_stop_when_its_client_has_left(kind: Kind) -> None:
    client, entered, noticed = Client(), Event(), Event()
    workers = make_workers()

    def work(explainer: Any, stop: Any) -> None:
        entered.set()
        while not stop():
            pass
        noticed.set()

    async def leave() -> None:
        task = asyncio.create_task(do(workers, work, client, kind))
        await asyncio.to_thread(entered.wait)
        client.has_left = True
        with pytest.raises(Left):
            await task

    asyncio.run(leave())
    workers.close()
    assert noticed.is_set()


def test_c2_a_search_ends_at_its_next_checkpoint_when_its_client_has_left() -> None:
    """The model answers no more; what ends the search is the look between two steps of its own computation."""
    client, entered, left = Client(), Event(), Event()
    workers = make_workers()
    ended: list[bool] = []

    def work(explainer: Any, stop: Any) -> None:
        entered.set()
        assert left.wait(PATIENCE)
        try:
            explainer.look()
        except Gone:
            ended.append(True)
            raise

    async def leave() -> None:
        task = asyncio.create_task(do(workers, work, client))
        await asyncio.to_thread(entered.wait)
        client.has_left = True
        with pytest.raises(Left):
            await task
        left.set()

    asyncio.run(leave())
    workers.close()
    assert ended == [True]


def test_a_request_whose_client_leaves_while_it_waits_is_never_begun() -> None:
    workers, go, client = make_workers(), Event(), Client()
    begun: list[str] = []

    async def crowd() -> None:
        busy = [
            asyncio.create_task(do(workers, lambda explainer, stop: go.wait(PATIENCE), kind=TABLE))
            for _ in range(TABLE.threads)
        ]
        await asyncio.sleep(0)
        client.has_left = True
        with pytest.raises(Left):
            await do(workers, lambda explainer, stop: begun.append("begun"), client, TABLE)
        go.set()
        await asyncio.gather(*busy)

    asyncio.run(crowd())
    workers.close()
    assert begun == []
