"""Running a flow by awaiting the model."""

import asyncio
from collections.abc import Sequence

import pytest

from flipset import arun
from flipset.errors import BudgetExhausted, OracleError
from flipset.protocol import Flow, ask


class Asks:
    def __init__(self, rounds: int = 2) -> None:
        self.rounds = rounds
        self.is_closed = False

    def flow(self) -> Flow[int, list[float]]:
        heard: list[float] = []
        try:
            for i in range(self.rounds):
                try:
                    heard += yield from ask([i])
                except BudgetExhausted:
                    break
            return heard
        finally:
            self.is_closed = True


def test_cancelling_the_task_closes_the_flow() -> None:
    asks = Asks()

    async def cancel() -> None:
        asked = asyncio.Event()

        async def never(batch: Sequence[int]) -> list[float]:
            asked.set()
            await asyncio.get_running_loop().create_future()
            raise AssertionError("nobody answers")

        task = asyncio.create_task(arun(asks.flow(), never))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert asks.is_closed


def test_a_budget_of_the_oracle_is_raised_inside_and_the_flow_keeps_what_it_has() -> None:
    async def oracle(batch: Sequence[int]) -> list[float]:
        if batch[0] == 1:
            raise BudgetExhausted("one row")
        return [0.5]

    assert asyncio.run(arun(Asks().flow(), oracle)) == [0.5]


def test_flows_run_side_by_side_in_one_loop() -> None:
    order: list[tuple[str, int]] = []

    async def both() -> list[list[float]]:
        def oracle(name: str) -> object:
            async def answer(batch: Sequence[int]) -> list[float]:
                order.append((name, batch[0]))
                await asyncio.sleep(0)
                return [1.0]

            return answer

        return await asyncio.gather(*(arun(Asks().flow(), oracle(name)) for name in "ab"))  # type: ignore[arg-type]

    assert asyncio.run(both()) == [[1.0, 1.0]] * 2
    assert order == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_an_error_of_the_model_closes_the_flow() -> None:
    asks = Asks()

    async def oracle(batch: Sequence[int]) -> list[float]:
        raise RuntimeError("no")

    with pytest.raises(OracleError, match="RuntimeError"):
        asyncio.run(arun(asks.flow(), oracle))
    assert asks.is_closed
