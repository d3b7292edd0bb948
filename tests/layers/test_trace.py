"""What was asked and answered, recorded."""

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from flipset import run
from flipset.errors import BudgetExhausted
from flipset.layers import Allowance, Round, Transcript, limit_queries, trace
from flipset.paper import ball_search
from flipset.testing import asking
from tests.layers.asking import questions

if TYPE_CHECKING:
    from flipset.protocol import Flips


def test_trace_records_rounds_in_order() -> None:
    transcript: Transcript[Flips] = []
    run(trace(ball_search(3, batch=2), transcript), asking(lambda q: q.bit_count() >= 2))
    asked = [query for r in transcript for query in r.queries]
    assert asked == [0, 1, 2, 4, 3, 5, 6]
    assert all(a.bit_count() <= b.bit_count() for a, b in pairwise(asked))


def test_a_checkpoint_and_a_round_without_answers_are_not_recorded() -> None:
    transcript: Transcript[Flips] = []
    with pytest.raises(BudgetExhausted):
        run(limit_queries(trace(questions((1,), (), (2,)), transcript), Allowance(1)), lambda batch: [0.5])
    assert transcript == [Round((1,), (0.5,))]
