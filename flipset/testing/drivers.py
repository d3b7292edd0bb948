"""The contract of a driver: it answers the batches of a flow, each as it is and in order, and closes it at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipset.errors import BudgetExhausted, OracleError
from flipset.paper import ball_search, find_optimal
from flipset.protocol import Flow, ask, checkpoint, relay
from flipset.testing.contract import Contract, check
from flipset.testing.functions import labels, smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.protocol import Answers, Flips

    Oracle = Callable[[Sequence[Flips]], Sequence[Any]]


class DriverContract(Contract):
    """What whoever runs a flow must do. Define `drive`."""

    def drive(self, flow: Flow[Flips, Any], oracle: Oracle) -> Any:
        """Run the flow, its batches answered by `oracle`; return its result, or raise what ended it."""
        raise NotImplementedError

    def test_it_asks_the_batches_of_the_flow_and_returns_its_result(self) -> None:
        """Exactly those, in order, and no empty one; each answer reaches its query."""
        for case in self.cases():
            for search in (find_optimal(case.d), ball_search(case.d, batch=3)):
                yielded: list[list[Flips]] = []
                asked: list[list[Flips]] = []

                def oracle(batch: Sequence[Flips], g: Any = case.g, asked: list[Any] = asked) -> list[float]:
                    asked.append(list(batch))
                    return labels(g)(batch)

                found = self.drive(relay(search, _noting(yielded)), oracle)
                truth = smallest(case.g, case.d)
                check(found == truth, f"{case.name}: found {found}, and the truth is {truth}")
                check(asked == [batch for batch in yielded if batch], f"{case.name}: asked {asked} for {yielded}")

    def test_a_checkpoint_is_answered_and_reaches_no_oracle(self) -> None:
        """The flow goes on at once, with no answers."""

        def pausing() -> Flow[Flips, str]:
            yield from checkpoint()
            yield from ask([1])
            yield from checkpoint()
            yield from checkpoint()
            return "done"

        asked: list[list[Flips]] = []

        def oracle(batch: Sequence[Flips]) -> list[float]:
            asked.append(list(batch))
            return [1.0] * len(batch)

        found = self.drive(pausing(), oracle)
        check(found == "done", f"the flow returned 'done', the driver {found!r}")
        check(asked == [[1]], f"the flow asks [[1]], the driver asked {asked}")

    def test_a_flow_that_asks_nothing_has_its_result(self) -> None:
        """No oracle is needed for it."""

        def silent() -> Flow[Flips, str]:
            return "done"
            yield ()

        def oracle(batch: Sequence[Flips]) -> list[float]:
            raise AssertionError(f"the oracle was asked {list(batch)}")

        found = self.drive(silent(), oracle)
        check(found == "done", f"the flow returned 'done', the driver {found!r}")

    def test_an_error_of_the_flow_ends_it(self) -> None:
        """What the flow raises on purpose comes out as it is."""
        raised = OracleError("the flow's own", [1])

        def failing() -> Flow[Flips, None]:
            yield from ask([1])
            raise raised

        try:
            self.drive(failing(), lambda batch: [1.0])
        except OracleError as error:
            check(error is raised, "another error than the flow's own")
        else:
            raise AssertionError("the flow's error is lost")

    def test_an_interrupt_of_the_oracle_closes_the_flow(self) -> None:
        """The keyboard ends the run; the flow is closed by then."""
        watched = _Watched()
        try:
            self.drive(watched.flow(), _raising(KeyboardInterrupt()))
        except KeyboardInterrupt:
            check(watched.is_closed, "the flow is still open")
        else:
            raise AssertionError("the interrupt is lost")


class OracleDriverContract(DriverContract):
    """What a driver must do that calls a model: it says whose fault it was, and takes only answers that can be read."""

    def test_what_the_model_raises_is_an_oracle_error_and_closes_the_flow(self) -> None:
        """The error says what was raised, and holds the batch."""
        watched = _Watched()
        try:
            self.drive(watched.flow(), _raising(ZeroDivisionError("the model's own")))
        except OracleError as error:
            check("ZeroDivisionError" in str(error) and "the model's own" in str(error), f"the error says {error}")
            check(list(error.batch) == [1], f"the error is about {error.batch!r}")  # type: ignore[call-overload]
            check(isinstance(error.__cause__, ZeroDivisionError), "the error does not hold its cause")
        else:
            raise AssertionError("the model's error is lost")
        check(watched.is_closed, "the flow is still open")

    def test_answers_that_cannot_be_read_are_refused(self) -> None:
        """Too few, too many, NaN, none at all, text, or a 0 that may mean either."""
        # The integer 0 is refused because a label 0 means "does not flip" and a margin of 0 means "flips".
        for answers in ([], [1.0, 1.0], [float("nan")], [None], ["yes"], [0], None):
            watched = _Watched()
            try:
                self.drive(watched.flow(), lambda batch, answers=answers: answers)  # type: ignore[misc]
            except OracleError:
                check(watched.is_closed, f"{answers!r} was refused, and the flow is still open")
            else:
                raise AssertionError(f"{answers!r} passed for the answer to one query")

    def test_labels_are_read_as_margins(self) -> None:
        """True is +1, False is -1, and a margin stays what it is."""

        def hearing() -> Flow[Flips, list[float]]:
            return list((yield from ask([1, 2, 3, 4])))

        heard = self.drive(hearing(), lambda batch: [True, False, 0.25, -3])
        check(heard == [1.0, -1.0, 0.25, -3.0], f"True, False, 0.25 and -3 were read as {heard}")

    def test_a_budget_of_the_oracle_is_raised_inside_the_flow(self) -> None:
        """The flow may end with what it has."""

        def settling() -> Flow[Flips, str]:
            try:
                yield from ask([1])
            except BudgetExhausted:
                return "stopped"
            return "done"

        found = self.drive(settling(), _raising(BudgetExhausted("a test")))
        check(found == "stopped", f"the flow returned 'stopped', the driver {found!r}")


class _Watched:
    """A flow that notes whether it was closed."""

    is_closed = False

    def flow(self) -> Flow[Flips, None]:
        try:
            yield from ask([1])
        finally:
            self.is_closed = True


def _raising(error: BaseException) -> Oracle:
    def oracle(batch: Sequence[Flips]) -> Sequence[Any]:
        raise error

    return oracle


def _noting(yielded: list[list[Flips]]) -> Callable[[Sequence[Flips]], Flow[Flips, Answers]]:
    def answer(batch: Sequence[Flips]) -> Flow[Flips, Answers]:
        yielded.append(list(batch))
        return (yield from ask(batch))

    return answer
