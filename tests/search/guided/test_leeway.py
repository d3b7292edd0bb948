"""How many guesses the bound allows, and that some way to keep to it is always left."""

from collections.abc import Callable
from math import comb

import pytest

from flipset.protocol import Search, compute
from flipset.search.guided.bound import credit, worst_case
from flipset.search.guided.leeway import Leeway, Spent, leeway


def opened(*counts: int) -> Callable[[int], Search[int | None]]:
    """Return the number of open sets of each size from 1 on; None beyond."""

    def count_open(k: int) -> Search[int | None]:
        return counts[k - 1] if k <= len(counts) else None
        yield ()

    return count_open


def test_without_counts_it_is_the_credit() -> None:
    for guesses in (0, 3, 50):
        left = compute(leeway(20, 2, 4, 1, 20, Spent(9 + guesses, guesses, 1), opened()))
        assert left == Leeway(credit(20, 2, 4, 1, discovered=1) - guesses, 0)


def test_as_many_features_matter_as_the_answer_has() -> None:
    assert compute(leeway(20, 1, 1, 3, 20, Spent(0, 0, 0), opened())).guesses == credit(20, 1, 3, 3)


def test_few_open_sets_allow_more_guesses_than_the_credit() -> None:
    # Eight single features, one of which is known to flip alone: asking the other seven ends the search.
    left = compute(leeway(8, 1, 1, 1, 1, Spent(2, 0, 0), opened(7)))
    assert left == Leeway(worst_case(8, 1, 1, 1) - 2 - 7, 1)
    # If none is known to flip, the plain loop must still fit in after all of them have failed.
    left = compute(leeway(16, 3, 3, 1, 16, Spent(1, 0, 0), opened(4)))
    assert left == Leeway(min(worst_case(16, 3, 3, 1) - 1, credit(16, 3, 3, 2)) - 4, 1)
    # Too many open sets leave the credit as it is.
    assert compute(leeway(30, 1, 1, 1, 30, Spent(1, 0, 0), opened(30))).sizes == 0


@pytest.mark.parametrize("d", [4, 8, 12, 16])
def test_it_falls_by_at_most_one_with_each_query(d: int) -> None:
    for c, r in ((1, 1), (2, 4), (4, 7)):
        for upper in (1, 2, d):
            for spent in range(20):
                count = comb(d, 2) - spent
                before = compute(leeway(d, c, r, 1, upper, Spent(spent, spent, 0), opened(d, count)))
                failed = compute(leeway(d, c, r, 1, upper, Spent(spent + 1, spent + 1, 0), opened(d, count)))
                assert failed.guesses >= before.guesses - 1
                asked = compute(leeway(d, c, r, 1, upper, Spent(spent + 1, spent + 1, 0), opened(d - 1, count)))
                assert not before.sizes or asked.guesses >= before.guesses
