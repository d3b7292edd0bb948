"""Calls that do not return are abandoned, and no further calls are made."""

import asyncio
from threading import Event, get_ident

import pytest

from flipset.drivers import abandon
from flipset.drivers.abandon import CallThreads, PatientCalls, within
from flipset.errors import NotReturned

PATIENCE = 60  # seconds, against hanging only


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abandon, "GRACE", 0.0)


def test_without_a_limit_calls_are_made_where_they_are() -> None:
    with within(None, lambda _: get_ident()) as ask:
        assert ask(0) == get_ident()
    with within(3600.0, lambda _: get_ident()) as ask:
        assert ask(0) == ask(0) != get_ident()  # one thread after another would be a waste


def test_errors_pass() -> None:
    with within(3600.0, int) as ask, pytest.raises(ValueError, match="invalid literal"):
        ask("x")


def test_c6_a_blocked_call_is_abandoned_and_so_is_every_further_one() -> None:
    release, calls = Event(), []

    def model(_: int) -> bool:
        calls.append(1)
        return release.wait(PATIENCE)

    try:
        with within(0.0, model) as ask:
            with pytest.warns(RuntimeWarning, match="did not return"), pytest.raises(NotReturned, match="abandoned"):
                ask(0)
            with pytest.raises(NotReturned, match="abandoned"):
                ask(0)
        assert calls == [1]
    finally:
        release.set()


def test_a_blocked_call_is_abandoned_in_a_coroutine_too() -> None:
    release = Event()
    try:
        with PatientCalls("test") as patient, pytest.warns(RuntimeWarning), pytest.raises(NotReturned):
            asyncio.run(patient.acall(0.0, release.wait, PATIENCE))
    finally:
        release.set()


def test_a_coroutine_is_cancelled_and_others_may_follow() -> None:
    cancelled = []

    async def blocked() -> int:
        try:
            return await asyncio.Future()
        except asyncio.CancelledError:
            cancelled.append(1)
            raise

    async def one() -> int:
        return 1

    async def both(patient: PatientCalls) -> int:
        with pytest.raises(NotReturned):
            await patient.await_call(0.0, blocked())
        await asyncio.sleep(0)
        return await patient.await_call(3600.0, one())

    with PatientCalls("test") as patient:
        assert asyncio.run(both(patient)) == 1
    assert cancelled == [1]


def test_threads_are_used_again_and_end() -> None:
    with CallThreads("test") as threads:
        assert {threads.submit(get_ident).result(PATIENCE) for _ in range(2)} != set()
        cancelled = threads.submit(get_ident)
        cancelled.cancel()
        assert threads.submit(int, "3").result(PATIENCE) == 3
