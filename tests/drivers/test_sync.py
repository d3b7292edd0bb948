"""Running a flow by calling the model."""

from collections.abc import Sequence

import pytest

from flipset import run
from flipset.errors import BudgetExhausted, OracleError, ProtocolError, Unavailable
from flipset.protocol import Flow, ask


class Settles:
    """Asks two batches; ends with what it has where it is interrupted."""

    def __init__(self, *, forgives: type[BaseException] | tuple[type[BaseException], ...] = ()) -> None:
        self.forgives = forgives
        self.is_closed = False

    def flow(self) -> Flow[int, str]:
        heard = 0
        try:
            for batch in ([1, 2], [3]):
                try:
                    heard += len((yield from ask(batch)))
                except self.forgives as error:
                    return f"{heard} answers, then {type(error).__name__}"
            return f"{heard} answers"
        finally:
            self.is_closed = True


def raising_on_3(error: BaseException) -> object:
    def oracle(batch: Sequence[int]) -> list[float]:
        if 3 in batch:
            raise error
        return [1.0] * len(batch)

    return oracle


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BudgetExhausted("3 rows")])
def test_an_interrupt_and_a_budget_are_raised_inside_the_flow(error: BaseException) -> None:
    settles = Settles(forgives=type(error))
    assert run(settles.flow(), raising_on_3(error)) == f"2 answers, then {type(error).__name__}"  # type: ignore[arg-type]
    assert settles.is_closed


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BudgetExhausted("3 rows"), SystemExit(1), Unavailable("gone")])
def test_what_the_flow_does_not_forgive_ends_it(error: BaseException) -> None:
    settles = Settles()
    with pytest.raises(type(error)) as caught:
        run(settles.flow(), raising_on_3(error))  # type: ignore[arg-type]
    assert caught.value is error
    assert settles.is_closed


def test_an_error_of_the_model_is_not_raised_inside_the_flow() -> None:
    settles = Settles(forgives=Exception)
    with pytest.raises(OracleError, match="RuntimeError when asked 1 query: no"):
        run(settles.flow(), raising_on_3(RuntimeError("no")))  # type: ignore[arg-type]
    assert settles.is_closed


def test_a_flow_may_ask_again_after_a_budget_ended() -> None:
    def stubborn() -> Flow[int, list[float]]:
        try:
            yield from ask([3])
        except BudgetExhausted:
            return list((yield from ask([1])))
        raise AssertionError("3 is not answered")

    assert run(stubborn(), raising_on_3(BudgetExhausted("one row"))) == [1.0]  # type: ignore[arg-type]


def test_a_flow_that_miscounts_is_told() -> None:
    def careless() -> Flow[int, None]:
        yield from ask([1])
        raise ProtocolError("its own")

    with pytest.raises(ProtocolError, match="its own"):
        run(careless(), lambda batch: [1.0])
