"""The contract of a layer: around any flow and in any stack, it changes what is asked but never what is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipset.drivers import run
from flipset.errors import BudgetExhausted, ProtocolError
from flipset.layers import Tally, count, guard, remember, trace
from flipset.paper import ball_search, find_optimal
from flipset.protocol import Done, Flow, advance, ask, checkpoint, interrupt, is_checkpoint, relay
from flipset.testing.contract import Contract, check
from flipset.testing.functions import labels, margins, smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.protocol import Answers, Flips, Search
    from flipset.testing.contract import Case


class LayerContract(Contract):
    """What a layer around a search must do. Define `layer`, with limits that no test reaches."""

    def layer(self, flow: Flow[Flips, Any]) -> Flow[Flips, Any]:
        """Return the flow with a new layer of its own around it."""
        raise NotImplementedError

    def stacks(self, case: Case, search: Search[Any]) -> Search[Any]:
        """Return the search inside this layer among others, in a random order."""
        others: list[Callable[[Search[Any]], Search[Any]]] = [
            lambda flow: count(flow, Tally()),
            remember,
            guard,
            lambda flow: trace(flow, []),
            lambda flow: relay(flow, _after_a_checkpoint),
            self.layer,
        ]
        # This layer is always there, and may be there twice: it must not mind another of its kind.
        for wrap in [*case.rng.sample(others, 4), self.layer]:
            search = wrap(search)
        return search

    # --- the result -----------------------------------------------------------------------------------------------

    def test_it_changes_no_result_in_any_stack(self) -> None:
        """Around two searches, alone and among other layers, with labels and with margins."""
        for case in self.cases():
            truth = smallest(case.g, case.d)
            for oracle in (labels(case.g), margins(case.g, case.d, case.rng)):
                for search in (find_optimal(case.d), ball_search(case.d, batch=case.rng.randint(1, 5))):
                    found = run(self.stacks(case, search), oracle)
                    check(found == truth, f"{case.name}: found {found}, and the truth is {truth}")

    def test_each_query_has_its_own_answer(self) -> None:
        """The flow gets one answer for each query, in order, with the sign that the function gives it."""
        for case in self.cases():
            batches = _batches(case)
            heard = run(self.layer(_hearing(batches)), labels(case.g))
            for batch, answers in zip(batches, heard, strict=True):
                signs = [answer >= 0 for answer in answers]
                check(signs == [case.g(query) for query in batch], f"{case.name}: {batch} was answered by {answers}")

    def test_it_asks_nothing_of_its_own(self) -> None:
        """Every query that leaves the layer was asked by the flow in that round."""
        for case in self.cases():
            batches = _batches(case)
            asked: list[Flips] = []

            def oracle(batch: Sequence[Flips], case: Case = case, asked: list[Flips] = asked) -> list[float]:
                asked.extend(batch)
                return labels(case.g)(batch)

            run(self.layer(_hearing(batches)), oracle)
            strange = set(asked) - {query for batch in batches for query in batch}
            check(not strange, f"{case.name}: the flow never asked {sorted(strange)}")

    # --- the exchange ---------------------------------------------------------------------------------------------

    def test_it_passes_checkpoints_on(self) -> None:
        """An empty batch of the flow is an empty batch of the layer, which goes on with no answers."""
        flow = self.layer(_pausing())
        for number in range(3):
            step = advance(flow) if number == 0 else advance(flow, ())
            check(is_checkpoint(step), f"checkpoint {number + 1} of the flow became {step!r}")
        step = advance(flow, ())
        check(
            not isinstance(step, Done) and list(step) == [1], f"after its checkpoints the flow asks [1], not {step!r}"
        )
        flow.close()

    def test_it_refuses_a_wrong_number_of_answers(self) -> None:
        """A driver's mistake is a `ProtocolError`."""
        flow = self.layer(_hearing([[1, 2]]))
        advance(flow)
        try:
            advance(flow, [1.0, 1.0, 1.0])
        except ProtocolError:
            return
        raise AssertionError("takes 3 answers to a batch of 2")

    def test_an_error_of_the_flow_passes_through(self) -> None:
        """What the flow raises reaches the driver as it is."""
        raised = ZeroDivisionError("the flow's own")

        def failing() -> Flow[Flips, None]:
            yield from ask([1])
            raise raised

        try:
            run(self.layer(failing()), lambda batch: [1.0] * len(batch))
        except ZeroDivisionError as error:
            check(error is raised, "another error than the flow's own")
        else:
            raise AssertionError("the flow's error is lost")

    # --- the end --------------------------------------------------------------------------------------------------

    def test_it_closes_the_flow(self) -> None:
        """Closing the layer, or an error of the driver, closes the flow inside."""
        for end in (lambda flow: flow.close(), _fail):
            watched = _Watched()
            flow = self.layer(watched.flow())
            advance(flow)
            end(flow)
            check(watched.is_closed, "the flow inside is still open")

    def test_a_budget_that_ends_outside_is_raised_inside(self) -> None:
        """The flow may end with what it has, and that is then the result of the layer."""
        for round_ in range(3):
            flow = self.layer(_settling())
            step = advance(flow)
            for _ in range(round_):
                check(not isinstance(step, Done), "the flow ended early")
                step = advance(flow, [-1.0])
            step = interrupt(flow, BudgetExhausted("a test"))
            check(isinstance(step, Done), f"after the budget ended in round {round_ + 1} the flow asks {step!r}")
            if isinstance(step, Done):
                check(step.result == f"stopped in round {round_ + 1}", f"the flow returned {step.result!r}")

    def test_a_flow_that_does_not_forgive_ends_by_the_error(self) -> None:
        """`BudgetExhausted` leaves the layer where the flow lets it."""
        flow = self.layer(_hearing([[1], [2]]))
        advance(flow)
        try:
            step = interrupt(flow, BudgetExhausted("a test"))
        except BudgetExhausted:
            return
        raise AssertionError(f"the error is lost: {step!r}")


class _Watched:
    """A flow that notes whether it was closed."""

    is_closed = False

    def flow(self) -> Flow[Flips, None]:
        try:
            for query in range(1, 9):
                yield from ask([query])
        finally:
            self.is_closed = True


def _fail(flow: Flow[Flips, Any]) -> None:
    try:
        flow.throw(ZeroDivisionError("the driver's own"))
    except ZeroDivisionError:
        return
    raise AssertionError("an error of the driver is lost")


def _hearing(batches: Sequence[Sequence[Flips]]) -> Flow[Flips, list[list[float]]]:
    """Ask these batches; return what was answered."""
    heard = []
    for batch in batches:
        heard.append(list((yield from ask(batch))))
    return heard


def _batches(case: Case) -> list[list[Flips]]:
    """Draw batches in which queries come twice, in one batch and in several."""
    return [[case.rng.randrange(1 << case.d) for _ in range(case.rng.randint(1, 6))] for _ in range(4)]


def _pausing() -> Flow[Flips, None]:
    for _ in range(3):
        yield from checkpoint()
    yield from ask([1])


def _after_a_checkpoint(batch: Sequence[Flips]) -> Flow[Flips, Answers]:
    yield from checkpoint()
    return (yield from ask(batch))


def _settling() -> Flow[Flips, str]:
    """Ask one set after another, none of which follows from others; end with what there is when a budget ends."""
    for round_ in range(1, 9):
        try:
            yield from ask([1 << round_])
        except BudgetExhausted:
            return f"stopped in round {round_}"
    return "done"
