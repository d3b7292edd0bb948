"""What a flow asks is counted when it is answered."""

import pytest

from flipset import run
from flipset.errors import BudgetExhausted
from flipset.layers import Allowance, Tally, count, limit_queries
from tests.layers.asking import questions


def test_count_counts_queries_and_rounds() -> None:
    tally = Tally()
    run(count(questions((1, 2), (3,), ()), tally), lambda batch: [1.0] * len(batch))
    assert tally == Tally(queries=3, rounds=2)  # an empty batch is a checkpoint, not a round


def test_what_was_not_answered_is_not_counted() -> None:
    inside, outside = Tally(), Tally()
    flow = count(limit_queries(count(questions((1, 2), (3, 4)), inside), Allowance(3)), outside)
    with pytest.raises(BudgetExhausted):
        run(flow, lambda batch: [1.0] * len(batch))
    assert inside == Tally(queries=2, rounds=1)  # the second batch was never answered as a whole
    assert outside == Tally(queries=3, rounds=2)  # the model answered a part of it


def test_several_flows_may_share_a_tally() -> None:
    tally = Tally()
    for _ in range(3):
        run(count(questions((1,), (2, 3)), tally), lambda batch: [1.0] * len(batch))
    assert tally == Tally(queries=9, rounds=6)
