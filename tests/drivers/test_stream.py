"""Running a flow step by step: results as soon as they are there, and nothing asked before somebody wants them."""

from collections import deque
from collections.abc import Sequence

import pytest

from flipset.drivers import stream
from flipset.errors import BudgetExhausted, OracleError
from flipset.protocol import Flow, ask, checkpoint


class Finds:
    """Finds a word for each round; two at once in the second, and one after the last."""

    def __init__(self) -> None:
        self.found: deque[str] = deque()
        self.asked: list[int] = []
        self.is_closed = False

    def flow(self) -> Flow[int, None]:
        try:
            for i in range(3):
                yield from checkpoint()
                yield from ask([i])
                self.found.append(f"round {i}")
                if i == 1:
                    self.found.append("one more")
            self.found.append("last")
        except BudgetExhausted:
            self.found.append("stopped")
        finally:
            self.is_closed = True

    def oracle(self, batch: Sequence[int]) -> list[float]:
        self.asked += batch
        return [1.0] * len(batch)


def test_nothing_is_asked_before_the_next_result_is_wanted() -> None:
    finds = Finds()
    results = stream(finds.flow(), finds.oracle, finds.found)
    assert finds.asked == []
    assert next(results) == "round 0"
    assert finds.asked == [0]
    assert [next(results), next(results)] == ["round 1", "one more"]
    assert finds.asked == [0, 1]
    assert list(results) == ["round 2", "last"]
    assert finds.is_closed


def test_closing_the_iterator_closes_the_flow() -> None:
    finds = Finds()
    results = stream(finds.flow(), finds.oracle, finds.found)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert finds.is_closed
    assert finds.asked == [0]


def test_what_was_found_before_an_error_is_handed_over_first() -> None:
    finds = Finds()

    def oracle(batch: Sequence[int]) -> list[float]:
        if batch[0] == 1:
            raise RuntimeError("no")
        return [1.0]

    results = stream(finds.flow(), oracle, finds.found)
    assert next(results) == "round 0"
    with pytest.raises(OracleError, match="RuntimeError"):
        next(results)
    assert finds.is_closed


def test_a_budget_of_the_oracle_ends_in_what_was_found_by_then() -> None:
    finds = Finds()

    def oracle(batch: Sequence[int]) -> list[float]:
        if batch[0] == 2:
            raise BudgetExhausted("two rows")
        return [1.0]

    assert list(stream(finds.flow(), oracle, finds.found)) == ["round 0", "round 1", "one more", "stopped"]
