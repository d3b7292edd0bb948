"""All searches of the library keep the contract of a search, and the contract finds those that do not."""

from collections.abc import Callable
from typing import Any

import pytest

from flipset.paper import ball_search, find_optimal
from flipset.protocol import Flips, Search, ask, checkpoint, does_flip
from flipset.search.guided import guided_search, minimal_in_order
from flipset.search.guided.plain import settle_size
from flipset.search.table.one import search_one
from flipset.sets.known import Known
from flipset.testing import SearchContract, smallest

Found = tuple[Flips, ...]


def plain_loop(d: int, *, batch: int) -> Search[Found]:
    """The plain loop that the guided search falls back on, size by size."""
    known = Known()

    def flips(query: Flips) -> Search[bool]:
        settled = known.settle(query)
        if settled is None:
            settled = yield from does_flip(query)
            known.learn(query, settled)
        return settled

    if not (yield from flips((1 << d) - 1)):
        return ()
    certificates: list[Flips] = []
    for k in range(d + 1):
        yield from settle_size(k, d, certificates, flips)
        if known.ones and min(map(int.bit_count, known.ones)) <= k:
            return tuple(one for one in known.ones if one.bit_count() == k)
    raise AssertionError("everything together flips")


def table_search(d: int, *, batch: int) -> Search[Found]:
    """The table search for one row, up to three features; what it hands on, the guided search goes on with."""
    (margin,) = yield from ask([0])
    if margin >= 0:
        return (0,)
    outcome = yield from search_one(d, margin, reasons=5, most=3)
    if outcome.ones is not None:
        return outcome.ones
    return (yield from guided_search(d, batch=batch, answered={0: margin, **outcome.answers}))


def first_minimal(d: int, *, batch: int) -> Search[Found]:
    """All minimal flip sets in order of size, of which the smallest are kept."""
    found: list[Flips] = []
    yield from minimal_in_order(d, found.append, batch=batch)
    assert [one.bit_count() for one in found] == sorted(one.bit_count() for one in found)
    return tuple(one for one in found if one.bit_count() == found[0].bit_count())


SEARCHES: dict[str, Callable[..., Search[Found]]] = {
    "paper": find_optimal,
    "ball": ball_search,
    "guided": guided_search,
    "plain": plain_loop,
    "table": table_search,
    "minimal": first_minimal,
}


class TestSearches(SearchContract):
    make: Callable[..., Search[Found]]

    @pytest.fixture(autouse=True, params=SEARCHES)
    def each(self, request: pytest.FixtureRequest) -> None:
        self.make = SEARCHES[request.param]
        if request.param == "table":
            self.batches = (256,)  # it makes as many queries in a round as it has candidates

    def search(self, d: int, *, batch: int) -> Search[Found]:
        return self.make(d, batch=batch)


@pytest.mark.campaign
class TestSearchesAtLength(TestSearches):
    seeds = range(1_000, 1_400)
    most_features = 9


# --- searches that break it -------------------------------------------------------------------------------------------


def forgetful(d: int, *, batch: int) -> Search[Found]:
    """Leaves one of the smallest sets out."""
    found = yield from ball_search(d, batch=batch)
    return found[:-1] or found


def twice(d: int, *, batch: int) -> Search[Found]:
    found = yield from ball_search(d, batch=batch)
    return found * 2


def greedy(d: int, *, batch: int) -> Search[Found]:
    """Asks more at a time than it may."""
    return (yield from ball_search(d, batch=batch + 1))


def by_size_of_margins(d: int, *, batch: int) -> Search[Found]:
    """Takes a small margin for none."""
    for size_sets in _levels(d):
        found = []
        for query in size_sets:
            (margin,) = yield from ask([query])
            if margin >= 1e-6:
                found.append(query)
        if found:
            return tuple(found)
    return ()


def _levels(d: int) -> list[list[Flips]]:
    return [[q for q in range(1 << d) if q.bit_count() == k] for k in range(d + 1)]


class Restless:
    """Asks in another order each time."""

    def __init__(self) -> None:
        self.turn = 0

    def __call__(self, d: int, *, batch: int) -> Search[Found]:
        self.turn += 1
        yield from does_flip(self.turn % (1 << d))
        return (yield from ball_search(d, batch=batch))


def stubborn(d: int, *, batch: int) -> Search[Found]:
    """Asks on after its budget ended, and when it is closed."""
    try:
        return (yield from ball_search(d, batch=batch))
    finally:
        for _ in range(100):
            try:
                yield from ask([0])
            except Exception:
                continue


def far_off(d: int, *, batch: int) -> Search[Found]:
    """Asks about a feature that is not there."""
    yield from does_flip(1 << d)
    return (yield from ball_search(d, batch=batch))


def deaf(d: int, *, batch: int) -> Search[Found]:
    """Takes whatever number of answers it is sent."""
    yield [0]
    return (yield from ball_search(d, batch=batch))


def endless(d: int, *, batch: int) -> Search[Found]:
    while True:
        yield from checkpoint()


def refusing(problem: str) -> Any:
    return pytest.raises((AssertionError, RuntimeError), match=problem)


@pytest.mark.parametrize(
    ("make", "test", "problem"),
    [
        (forgetful, "test_it_finds_what_enumeration_finds_with_labels", "the truth is"),
        (twice, "test_it_finds_what_enumeration_finds_with_labels", "the truth is"),
        (by_size_of_margins, "test_it_finds_what_enumeration_finds_with_margins", "the truth is"),
        (by_size_of_margins, "test_it_concludes_from_signs_alone", "times 1e-30|misleading"),
        (greedy, "test_it_asks_sets_of_its_features_and_keeps_to_the_batch", "round 2: asks 2 queries"),
        (far_off, "test_it_asks_sets_of_its_features_and_keeps_to_the_batch", "round 1: asks"),
        (Restless(), "test_it_is_deterministic_and_replays_from_a_transcript", "different queries"),
        (deaf, "test_it_refuses_a_wrong_number_of_answers", "takes 2 answers to a batch of 1"),
        (stubborn, "test_it_closes_cleanly_in_every_round", "ignored GeneratorExit"),
        (stubborn, "test_it_ends_when_a_budget_ends", "asks on after"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_contract_finds_what_breaks_it(make: Callable[..., Search[Found]], test: str, problem: str) -> None:
    class Broken(SearchContract):
        def search(self, d: int, *, batch: int) -> Search[Found]:
            return make(d, batch=batch)

    with refusing(problem):
        getattr(Broken(), test)()


def test_the_contract_ends_where_a_search_does_not() -> None:
    class Broken(SearchContract):
        seeds = range(1)
        most_checkpoints = 1_000

        def search(self, d: int, *, batch: int) -> Search[Found]:
            return endless(d, batch=batch)

    with refusing("does not end"):
        Broken().test_it_goes_on_from_a_checkpoint()


def test_what_is_to_be_checked_must_be_said() -> None:
    with pytest.raises(NotImplementedError):
        SearchContract().test_it_goes_on_from_a_checkpoint()


def test_cases_have_every_size_of_answer() -> None:
    answers = [smallest(case.g, case.d) for case in SearchContract().cases()]
    assert () in answers
    assert {1, 2, 3} <= {answer[0].bit_count() for answer in answers if answer}
