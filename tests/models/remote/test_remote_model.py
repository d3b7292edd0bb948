"""What counts as an endpoint: a subclass, and anything else that keeps the contract."""

import asyncio
import pickle
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, InputError, Journal, OracleError, Space, Unavailable
from flipset.models import read_model
from flipset.models.remote import CallTimes, Endpoint, RemoteModel
from tests.endpoints import Rows, Server, serving
from tests.journal.test_journal import Remembered

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abcd"])
ROWS = np.random.default_rng(2).integers(0, 6, (24, 4)).astype(float)


def score(rows: Any) -> Any:
    table = np.asarray(rows, dtype=float)
    return 1 / (1 + np.exp(12 - table.sum(axis=1) - np.minimum(table[:, 0], table[:, 1])))


def as_lists(rows: Rows) -> list[float]:
    return [float(one) for one in score(rows)]


class Ours(Endpoint):
    """An endpoint with a method of its own."""

    def shout(self) -> str:
        return str(self).upper()


class LookAlike:
    """A model over another kind of line; it inherits nothing."""

    in_flight = 3
    price_per_row = 0.0
    answered_as: str | None = None

    def __init__(self) -> None:
        self.call_times = CallTimes()
        self.awaited = 0
        self.called = 0
        self.at_once = self.most_at_once = 0
        self.is_closed = False

    def __call__(self, rows: Any, names: Sequence[str] | None = None) -> Any:
        self.called += 1
        return self._answer(rows, names)

    async def ask(self, rows: Any, names: Sequence[str] | None = None) -> Any:
        self.awaited += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        for _ in range(5):  # others get their turn
            await asyncio.sleep(0)
        self.at_once -= 1
        return self._answer(rows, names)

    def _answer(self, rows: Any, names: Sequence[str] | None) -> Any:
        assert names == SPACE.names
        self.call_times.note(len(rows), 0.01)
        if (np.asarray(rows)[:, 0] == 77).any():
            raise RuntimeError("seventy-seven")
        return score(rows)

    def fill(self) -> int:
        return 8

    def identity(self) -> str:
        return "look-alike, version 1"

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(as_lists) as running:
        yield running


def test_a_subclass_is_an_endpoint(server: Server) -> None:
    expected = Explainer(score, SPACE).explain_table(ROWS, batch=8)
    with Ours(server.infer, in_flight=2) as ours:
        assert isinstance(ours, RemoteModel)
        assert read_model(ours).endpoint is ours
        explainer = Explainer(ours, SPACE)
        assert list(explainer.explain_table(ROWS, batch=8)) == list(expected)
        assert ours.bill.calls == server.requests > 0
        with pytest.raises(InputError, match="an endpoint needs no workers"):
            explainer.explain_table(ROWS, workers=2)
        assert repr(ours) == f"Ours('{server.infer}')"
        with pickle.loads(pickle.dumps(ours)) as sent:
            assert isinstance(sent, Ours)
            assert (sent.shout(), sent.in_flight) == (ours.shout(), 2)


def test_models_that_are_here_are_no_endpoints() -> None:
    assert not isinstance(score, RemoteModel)
    assert read_model(score).endpoint is None


@pytest.mark.parametrize("batch", [8, None])
def test_a_look_alike_is_awaited_several_calls_at_a_time(batch: int | None) -> None:
    model = LookAlike()
    found = Explainer(model, SPACE).explain_table(ROWS, batch=batch)
    here = Explainer(score, SPACE).explain_table(ROWS, batch=8)
    assert [(e.flipsets, e.score) for e in found] == [(e.flipsets, e.score) for e in here]  # type: ignore[union-attr]
    assert model.most_at_once == 3
    assert bool(model.called) == (batch is None)  # what is measured is waited for
    assert max(rows for rows, _ in model.call_times.calls) <= (32 if batch is None else 8)


def test_a_row_that_a_look_alike_fails_on_is_found() -> None:
    rows = ROWS.copy()
    rows[5, 0] = 77
    found = Explainer(LookAlike(), SPACE).explain_table(rows, batch=8, fixed=["a"])
    assert [i for i, one in enumerate(found) if isinstance(one, OracleError)] == [5]
    assert "seventy-seven" in str(found[5])


@pytest.mark.parametrize("batch", [8, None])
def test_a_coroutine_awaits_it_in_its_own_loop(batch: int | None) -> None:
    model = LookAlike()
    explainer = Explainer(model, SPACE)
    assert asyncio.run(explainer.aexplain(ROWS[0], batch=batch)).flipsets == explainer.explain(ROWS[0]).flipsets
    assert model.awaited
    called = model.called
    asyncio.run(explainer.aexplain(ROWS[1], batch=batch))
    assert model.called == called  # no thread, and no call that blocks


def test_a_coroutine_with_a_journal_leaves_the_disk_to_a_thread(tmp_path: Path) -> None:
    model = LookAlike()
    explainer = Explainer(model, SPACE, journal=Journal(tmp_path / "answers.db", model="m"))
    e = asyncio.run(explainer.aexplain(ROWS[0], batch=8))
    assert (model.awaited, model.called > 0) == (0, True)
    assert e == explainer.explain(ROWS[0], batch=8)


def test_cancelling_a_coroutine_that_explains_gives_its_request_up() -> None:
    release = threading.Event()

    def wait(rows: Rows) -> list[float]:
        assert release.wait(20)
        return as_lists(rows)

    async def cancel(explainer: Explainer, server: Server) -> None:
        task = asyncio.create_task(explainer.aexplain(ROWS[0], batch=8))
        while not server.requests:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with serving(wait) as server, Endpoint(server.infer, timeout=60) as endpoint:
        asyncio.run(cancel(Explainer(endpoint, SPACE), server))
        release.set()
        assert server.requests == 1


def test_the_name_of_a_journal_is_enough_for_a_look_alike(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    first, second = LookAlike(), LookAlike()
    expected = list(Explainer(first, SPACE, journal=path).explain_table(ROWS, batch=8))
    assert list(Explainer(second, SPACE, journal=path).explain_table(ROWS, batch=8)) == expected
    assert (first.awaited > 0, first.called, second.awaited) == (True, 0, 0)
    assert dict(Journal(path, model="").about())["model"] == "look-alike, version 1"


def test_a_journal_has_answers_of_one_version_of_a_look_alike(tmp_path: Path) -> None:
    model = LookAlike()
    model.answered_as = "1"
    explainer = Explainer(model, SPACE, journal=tmp_path / "answers.db")
    explainer.explain_table(ROWS[:4], batch=8)
    model.answered_as = "2"
    found = explainer.explain_table(ROWS[4:], batch=8)
    assert {type(one) for one in found} == {Unavailable}
    assert "has answers of version 1" in str(found[0])


@pytest.mark.parametrize("behind", ["store", "gate"])
def test_where_it_cannot_be_awaited_it_is_called_in_threads(behind: str) -> None:
    model = LookAlike()
    explainer = Explainer(model, SPACE, journal=Remembered() if behind == "store" else None)
    if behind == "gate":
        explainer = explainer.through(lambda predict: lambda rows: predict(rows))
    expected = Explainer(score, SPACE).explain_table(ROWS, batch=8)
    assert list(explainer.explain_table(ROWS, batch=8)) == list(expected)
    assert (model.awaited, model.called > 0) == (0, True)
    assert asyncio.run(explainer.aexplain(ROWS[0], batch=8)) == expected[0]
    assert model.awaited == 0
