"""The table search for a single row, as a search over sets."""

from random import Random
from typing import TYPE_CHECKING

import pytest

from flipset import run
from flipset.errors import BudgetExhausted
from flipset.layers import Allowance, Tally, Transcript, count, limit_queries, trace
from flipset.protocol import Flips, everything
from flipset.search.table.one import conclude_search, search_one
from flipset.testing import DRAWS, Predicate, labels, smallest

if TYPE_CHECKING:
    from collections.abc import Callable


def draw(seed: int) -> tuple[Predicate, int]:
    rng = Random(seed)
    while True:
        d = rng.randint(1, 8)
        g = DRAWS[seed % len(DRAWS)](rng, d)
        if not g(0):
            return g, d


@pytest.mark.parametrize("reasons", [True, False])
def test_what_is_concluded_is_true_and_proved(reasons: bool) -> None:
    handed_on = 0
    for seed in range(200):
        g, d = draw(seed)
        tally = Tally()
        outcome = run(count(search_one(d, -1.0, batch=32, reasons=reasons), tally), labels(g))
        truth = smallest(g, d)
        if outcome.ones is None:
            assert truth[0].bit_count() > 2
            handed_on += 1
            continue
        found = conclude_search(outcome, d, int, tally.queries, tally.rounds)
        assert found.status == ("optimal" if truth else "none")
        assert found.size == (truth[0].bit_count() if truth else None)
        assert sorted(found.proof.ones) == sorted(truth)
        assert found.proof.check(d)
        assert not any(map(g, found.proof.zeros))
        assert (found.queries, found.rounds) == (len(outcome.flips), outcome.rounds)
    assert 10 < handed_on < 150


def test_sets_are_read_in_the_features_of_the_row() -> None:
    """Three of five features can move: the search numbers them 0, 1, 2, and the row has others before them."""
    outcome = run(search_one(3, -1.0, batch=32, reasons=True), labels(lambda query: query & 0b110 == 0b110))
    found = conclude_search(outcome, 5, lambda word: word << 2, 9, 3)
    assert found.flipsets == (frozenset({3, 4}),)
    assert found.proof.d == 5


def test_a_budget_that_ends_returns_what_was_asked() -> None:
    g: Callable[[Flips], bool] = lambda query: query.bit_count() >= 2  # noqa: E731
    for most in range(12):
        asked: Transcript[Flips] = []
        flow = trace(limit_queries(search_one(6, -1.0, batch=4, reasons=True), Allowance(most)), asked)
        outcome = run(flow, labels(g))
        words = [query for round_ in asked for query in round_.queries]
        assert len(words) == most
        assert outcome.flips.tolist() == words  # the part of a round that was paid for included
        assert outcome.margins.tolist() == labels(g)(words)
        assert outcome.rounds == len(asked)
        assert outcome.ones is None
        assert outcome.zeros == ()


def test_a_budget_raised_by_somebody_else_ends_it_too() -> None:
    search = search_one(6, -1.0, batch=4, reasons=True)
    next(search)
    with pytest.raises(StopIteration) as stop:
        search.throw(BudgetExhausted("a test"))
    assert stop.value.value.flips.tolist() == []


def test_a_single_feature_is_everything_there_is() -> None:
    for flips in (True, False):
        outcome = run(search_one(1, -1.0, batch=32, reasons=True), lambda batch, flips=flips: [flips] * len(batch))  # type: ignore[misc]
        assert outcome.ones == ((1,) if flips else ())
        assert outcome.flips.tolist() == [everything(1)]
