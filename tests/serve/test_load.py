"""The page under load: hostile checks and large tables keep no honest request waiting. Events, no clocks."""

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from threading import Event, Semaphore
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Feature, Space
from flipset.serve import Served
from flipset.serve.calls import ModelAccess
from flipset.serve.cases import Claim
from flipset.serve.jobs import CHECK, ROW, TABLE, Workers
from tests.hostile import hostile_explanation
from tests.patience import PATIENCE
from tests.serve.running import TOKEN, Running, running

UNITS = 100
NAMES = [f"x{i}" for i in range(UNITS)]
SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=1) for name in NAMES])
TABLE_OF_ZEROS = pd.DataFrame(0, index=range(3), columns=NAMES)


def any_of_two(rows: Any) -> Any:
    """Flips with one of the first two features."""
    return np.asarray(rows)[:, :2].max(axis=1) > 0


def endless() -> Any:
    """An explanation whose check takes exponential time."""
    rng, data = Random(0), hostile_explanation(UNITS)
    held = sorted({tuple(sorted(rng.sample(range(UNITS), 8))) for _ in range(300)})
    data["proof"]["zeros_hold"] = [list(one) for one in held]
    data["reasons"] = [[f"x{i}" for i in one] for one in held]
    data["lower"] = 24
    return data


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(Served(Explainer(any_of_two, SPACE), TABLE_OF_ZEROS, eager=False)) as where:
        yield where


@contextmanager
def sent(server: Running, path: str, body: Any) -> Iterator[socket.socket]:
    """Send a request; leave without reading the answer when the block ends."""
    content = json.dumps(body).encode()
    head = (
        f"POST /api/{path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        line.sendall(head.encode() + content)
        yield line


def test_c2_an_endless_check_keeps_nobody_waiting_and_ends_when_its_client_leaves(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flipset.serve.cases.PAGE_CHECK_STEPS", 10**15)  # it would run for years
    begun, ended = Semaphore(0), Semaphore(0)
    replay = Claim.replay

    def watched(claim: Claim, explainer: Any, stop: Any) -> Any:
        begun.release()
        try:
            return replay(claim, explainer, stop)
        finally:
            ended.release()

    monkeypatch.setattr("flipset.serve.cases.Claim.replay", watched)
    body = {"explanation": endless()}
    with server.client() as client:
        with sent(server, "verify", body), sent(server, "verify", body):
            for _ in range(CHECK.threads):
                assert begun.acquire(timeout=PATIENCE)
            said = client.post("/api/explain", json={"row": 0})  # all threads for checks are busy
            assert said.json()["explanation"]["flipsets"] == [["x0"], ["x1"]]
            assert client.get("/api/rows").status_code == 200
            assert not ended.acquire(blocking=False)
        for _ in range(CHECK.threads):
            assert ended.acquire(timeout=PATIENCE)
        honest = said.json()["explanation"]
        assert client.post("/api/verify", json={"explanation": honest}).json()["ok"] is True


@pytest.mark.parametrize("steps", [10_000, 2_000_000])
def test_c2_a_check_that_takes_too_long_is_not_decided(
    server: Running, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    monkeypatch.setattr("flipset.serve.cases.PAGE_CHECK_STEPS", steps)
    with server.client() as client:
        said = client.post("/api/verify", json={"explanation": endless()}).json()
    assert (said["ok"], said["decided"]) == (False, False)


def test_c2_large_numbers_and_many_columns_are_refused_while_others_are_answered(server: Running) -> None:
    huge = endless() | {"proof": {"format": "flipset-proof/1", "d": 4_000_000_000, "ones": [], "zeros_hold": []}}
    names = {f"x{i}": 0 for i in range(60_000)}
    with server.client() as client:
        said = client.post("/api/verify", json={"explanation": huge})
        assert (said.status_code, "proof.d" in said.text) == (400, True)
        with sent(server, "verify", {"explanation": endless() | {"row": names}}) as line:
            assert client.post("/api/explain", json={"row": 1}).status_code == 200
            assert line.recv(12) == b"HTTP/1.1 200"  # not confirmed: the columns are not those of the space
        for path in ("explain", "report"):
            said = client.post(f"/api/{path}", json={"row": 0, "values": names})
            assert said.status_code == 422
            assert len(said.content) < 1_000


class Here:
    """A client that stays."""

    async def is_disconnected(self) -> bool:
        return False


def test_c11_a_what_if_waits_for_one_call_of_a_table_and_no_more() -> None:
    permits, entered, begun = Semaphore(0), Event(), Event()

    def model(rows: Any) -> Any:
        table = np.asarray(rows)
        if table[:, 2].max() > 0:  # a row of the tables
            entered.set()
            assert permits.acquire(timeout=PATIENCE)
        return table[:, :2].sum(axis=1) > 1

    space = Space(
        [Feature(name, "integer", direction=+1, lower=0, upper=1) for name in "ab"] + [Feature("c", fixed=True)]
    )
    workers = Workers(Explainer(model, space), ModelAccess())

    def tables(explainer: Any, stop: Any) -> Any:
        return len(explainer.explain_table([[0, 0, k] for k in range(1, 40)], max_rows=4))

    def what_if(explainer: Any, stop: Any) -> Any:
        begun.set()
        return explainer.explain([0, 0, 0]).flipsets

    async def run() -> None:
        client: Any = Here()
        large = [asyncio.create_task(workers.do(TABLE, client, tables)) for _ in range(TABLE.threads + TABLE.waiting)]
        await asyncio.to_thread(entered.wait)
        small = asyncio.create_task(workers.do(ROW, client, what_if))
        await asyncio.to_thread(begun.wait)
        permits.release()  # one call of a table may end, and no other
        assert await small == (("a", "b"),)
        assert not any(one.done() for one in large)
        permits.release(1_000_000)
        assert set(await asyncio.gather(*large)) == {39}

    asyncio.run(run())
    workers.close()
