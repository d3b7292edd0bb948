"""The table search for a single row, as a search over sets."""

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from flipset import run
from flipset.errors import BudgetExhausted
from flipset.layers import Allowance, Tally, Transcript, count, limit_queries, trace
from flipset.protocol import Flips, everything
from flipset.search.table import search as table
from flipset.search.table.one import Outcome, search_one
from flipset.testing import DRAWS, Predicate, labels, smallest
from tests.search.table.test_search import draw as draw_with_margin
from tests.search.table.test_search import order_of, reasons_by_the_rule, search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def draw(seed: int) -> tuple[Predicate, int]:
    rng = Random(seed)
    while True:
        d = rng.randint(1, 8)
        g = DRAWS[seed % len(DRAWS)](rng, d)
        if not g(0):
            return g, d


@pytest.mark.parametrize("reasons", [0, 1, 5])
def test_what_is_concluded_is_true_and_proved(reasons: int) -> None:
    for seed in range(200):
        g, d = draw(seed)
        tally = Tally()
        outcome = run(count(search_one(d, -1.0, reasons=reasons), tally), labels(g))
        truth = smallest(g, d)
        found = outcome.conclude(d, tally.queries, tally.rounds)
        assert found.status == ("optimal" if truth else "none")
        assert found.size == (truth[0].bit_count() if truth else None)
        assert sorted(found.proof.ones) == sorted(truth)
        assert found.proof.check(d)
        assert not any(map(g, found.proof.zeros))
        assert len(set(found.proof.zeros)) == len(found.proof.zeros)
        assert outcome.contradiction() is None
        assert (found.queries, found.rounds) == (len(outcome.answers), tally.rounds)
        assert all((margin >= 0) == g(flips) for flips, margin in outcome.answers.items())


def test_it_finds_and_reports_what_a_table_does() -> None:
    """The zeros that are reported follow from the rule, with labels and with margins that may mislead."""
    sizes = set()
    for seed in range(300):
        rng = Random(seed)
        d = rng.randint(1, 8)
        g, margin = draw_with_margin(rng, d)
        oracle: Callable[[Sequence[Flips]], list[float]] = lambda batch, m=margin: [m(q) for q in batch]  # type: ignore[misc] # noqa: E731
        outcome = run(search_one(d, margin(0), reasons=5), oracle)
        assert outcome.ones is not None
        size, ones, told, _, _ = search([margin], d).found(0)
        assert (sorted(outcome.ones), outcome.zeros[: outcome.reported]) == (sorted(ones), told), seed
        if size:
            order = order_of(margin, everything(d))
            assert outcome.zeros[: outcome.reported] == reasons_by_the_rule(g, order, min(5, size)), seed
        sizes.add(size)
    assert sizes >= {0, 1, 2, 3, 4}


def test_no_set_larger_than_allowed_is_looked_for() -> None:
    handed_on = 0
    for seed in range(100):
        g, d = draw(seed)
        truth = smallest(g, d)
        for most in range(1, d + 1):
            outcome = run(search_one(d, -1.0, reasons=5, most=most), labels(g))
            if truth and truth[0].bit_count() > most:
                assert outcome.ones is None
                handed_on += 1
            else:
                assert sorted(outcome.ones or ()) == sorted(truth)
    assert handed_on > 40


def test_a_size_that_is_too_large_is_handed_on_with_all_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_OPEN_ALONE", 2)
    outcome = run(search_one(7, -1.0, reasons=1), labels(lambda query: query.bit_count() >= 3))
    assert outcome.ones is None
    assert outcome.zeros == ()
    assert everything(7) in outcome.answers


def test_a_budget_that_ends_returns_what_was_asked() -> None:
    g: Callable[[Flips], bool] = lambda query: query.bit_count() >= 3  # noqa: E731
    whole: Transcript[Flips] = []
    run(trace(search_one(6, -1.0, reasons=5), whole), labels(g))
    total = sum(len(round_.queries) for round_ in whole)
    for most in range(total):
        asked: Transcript[Flips] = []
        flow = trace(limit_queries(search_one(6, -1.0, reasons=5), Allowance(most)), asked)
        outcome = run(flow, labels(g))
        words = [query for round_ in asked for query in round_.queries]
        assert len(words) == most
        # The part of a round that was paid for is included.
        assert outcome.answers == dict(zip(words, labels(g)(words), strict=True))
        assert outcome.ones is None
        assert outcome.zeros == ()


def test_a_budget_raised_by_somebody_else_ends_it_too() -> None:
    search_ = search_one(6, -1.0, reasons=5)
    next(search_)
    with pytest.raises(StopIteration) as stop:
        search_.throw(BudgetExhausted("a test"))
    assert stop.value.value == Outcome()


def test_a_single_feature_is_everything_there_is() -> None:
    for flips in (True, False):
        outcome = run(search_one(1, -1.0, reasons=5), lambda batch, flips=flips: [flips] * len(batch))  # type: ignore[misc]
        assert outcome.ones == ((1,) if flips else ())
        assert list(outcome.answers) == [everything(1)]
        assert outcome.conclude(1, 1, 1).proof.check(1)


def test_a_row_that_contradicts_itself_is_noticed() -> None:
    def contradiction(d: int, ones: set[int]) -> tuple[int, int] | None:
        return run(search_one(d, -1.0, reasons=5), labels(lambda query: query in ones)).contradiction()

    assert contradiction(3, {0b001}) == (0b001, 0b111)
    assert contradiction(4, {0b0001, 0b0010, 0b1110, 0b1111}) is None  # what was asked is in order


def test_answers_that_are_not_monotone_end_the_search_all_the_same() -> None:
    noticed = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(1, 8))
        flips = rng.random(1 << d) < rng.random()
        outcome = run(search_one(d, -1.0, reasons=5), lambda batch, f=flips: [bool(f[q]) for q in batch])  # type: ignore[misc]
        assert set(outcome.answers) <= set(range(1, 1 << d))
        pair = outcome.contradiction()
        if pair is not None:
            one, zero = pair
            assert one & ~zero == 0
            assert flips[one]
            assert not flips[zero]
            noticed += 1
    assert noticed > 80
