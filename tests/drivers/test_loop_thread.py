"""The bridge from code that blocks to code that awaits: results, errors and cancelling all pass over it."""

import asyncio
import threading
from concurrent.futures import CancelledError, Future
from typing import Any

import pytest

from flipset.drivers.loop_thread import LoopThread, awaited, result_of
from flipset.errors import Interrupted
from tests.patience import PATIENCE

"""Seconds after which a test that hangs fails."""


class Endless:
    """A coroutine that waits for ever, and notes that it has begun and that it was cancelled."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.cancelled = threading.Event()

    async def __call__(self) -> None:
        self.begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


async def fail() -> None:
    raise ZeroDivisionError("inside")


async def where() -> str:
    return threading.current_thread().name


def test_coroutines_run_in_the_thread_and_their_results_and_errors_come_back() -> None:
    with LoopThread("of its own") as thread:
        assert result_of(thread.submit(where())) == "of its own"
        with pytest.raises(ZeroDivisionError, match="inside"):
            result_of(thread.submit(fail()))
    assert "of its own" not in [one.name for one in threading.enumerate()]


def test_cancelling_the_future_cancels_the_coroutine() -> None:
    endless = Endless()
    with LoopThread("t") as thread:
        future = thread.submit(endless())
        assert endless.begun.wait(PATIENCE)
        assert future.cancel()
        assert endless.cancelled.wait(PATIENCE)
        with pytest.raises(CancelledError):
            future.result()


def test_closing_cancels_what_is_under_way_tells_those_who_wait_and_runs_the_last_coroutine() -> None:
    endless = Endless()
    order: list[str] = []
    ended: list[type[BaseException]] = []

    def wait(future: Future[None]) -> None:
        try:
            result_of(future)
        except Interrupted as error:
            ended.append(type(error))

    async def last() -> None:
        order.append("last" if endless.cancelled.is_set() else "too soon")

    thread = LoopThread("t")
    waiting = threading.Thread(target=wait, args=(thread.submit(endless()),))
    waiting.start()
    assert endless.begun.wait(PATIENCE)
    thread.close(last)
    waiting.join(PATIENCE)
    assert ended == [Interrupted]
    assert order == ["last"]
    assert thread.loop.is_closed()


def test_it_can_be_closed_from_inside() -> None:
    closed = threading.Event()

    async def last() -> None:
        closed.set()

    async def close() -> None:
        thread.close(last)

    thread = LoopThread("t")
    thread.submit(close())
    assert closed.wait(PATIENCE)
    thread._thread.join(PATIENCE)
    assert thread.loop.is_closed()


def test_an_interrupt_while_waiting_cancels_the_coroutine() -> None:
    class InterruptedFuture(Future[Any]):
        def result(self, timeout: float | None = None) -> Any:
            raise KeyboardInterrupt

    future = InterruptedFuture()
    with pytest.raises(KeyboardInterrupt):
        result_of(future)
    assert future.cancelled()


def test_a_coroutine_of_another_loop_can_await_it_and_cancelling_that_one_cancels_it() -> None:
    endless = Endless()

    async def elsewhere(thread: LoopThread) -> None:
        assert await awaited(thread.submit(where())) == "t"
        with pytest.raises(ZeroDivisionError):
            await awaited(thread.submit(fail()))
        task = asyncio.create_task(awaited(thread.submit(endless())))
        await asyncio.to_thread(endless.begun.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with LoopThread("t") as thread:
        asyncio.run(elsewhere(thread))
        assert endless.cancelled.wait(PATIENCE)


def test_who_awaits_is_told_that_somebody_else_cancelled_it() -> None:
    async def elsewhere() -> None:
        future: Future[None] = Future()
        future.cancel()
        with pytest.raises(Interrupted):
            await awaited(future)

    asyncio.run(elsewhere())
