"""Generators stepped by a function or a coroutine: the same answers, the same errors, and closed however they end."""

import asyncio
from collections.abc import Callable, Generator
from typing import Any

import pytest

from flipset.drivers.drive import adrive, drive
from flipset.errors import OracleError


def awaiting(steps: Generator[Any, Any, Any], answer: Callable[[Any], Any]) -> Any:
    async def awaited(step: Any) -> Any:
        await asyncio.sleep(0)
        return answer(step)

    return asyncio.run(adrive(steps, awaited))


BOTH = pytest.mark.parametrize("run", [drive, awaiting])


class Steps:
    """Yields numbers, adds the answers up, and notes how it ends."""

    def __init__(self, count: int, *, forgives: bool = False) -> None:
        self.count = count
        self.forgives = forgives
        self.is_closed = False

    def __call__(self) -> Generator[int, int, int]:
        total = 0
        try:
            for i in range(self.count):
                try:
                    total += yield i
                except OracleError:
                    if not self.forgives:
                        raise
            return total
        finally:
            self.is_closed = True


@BOTH
def test_answers_are_sent_back_and_the_result_returned(run: Any) -> None:
    assert run(Steps(4)(), lambda step: 10 * step) == 60
    assert run(Steps(0)(), lambda step: 1 / 0) == 0


@BOTH
@pytest.mark.parametrize("forgives", [True, False])
def test_what_is_raised_on_purpose_is_raised_inside(run: Any, forgives: bool) -> None:
    def answer(step: int) -> int:
        if step == 1:
            raise OracleError("one", [step])
        return step

    steps = Steps(4, forgives=forgives)
    if forgives:
        assert run(steps(), answer) == 5
    else:
        with pytest.raises(OracleError, match="one"):
            run(steps(), answer)
    assert steps.is_closed


@BOTH
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_anything_else_closes_the_generator_and_passes(run: Any, error: type[BaseException]) -> None:
    def answer(step: int) -> int:
        raise error

    steps = Steps(2, forgives=True)
    with pytest.raises(error):
        run(steps(), answer)
    assert steps.is_closed


def test_cancelling_the_task_closes_the_generator() -> None:
    steps = Steps(1)

    async def cancel() -> None:
        asked = asyncio.Event()

        async def never(step: int) -> int:
            asked.set()
            await asyncio.get_running_loop().create_future()
            raise AssertionError("nobody answers")

        task = asyncio.create_task(adrive(steps(), never))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert steps.is_closed
