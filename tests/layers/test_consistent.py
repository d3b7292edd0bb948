"""Where answers contradict each other, those said first stand."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import run
from flipset.errors import BudgetExhausted
from flipset.layers import consistent
from flipset.layers.budget import Allowance, limit_queries
from flipset.sets.known import Known
from tests.layers.asking import questions

if TYPE_CHECKING:
    from flipset.protocol import Flips


@given(st.lists(st.tuples(st.integers(0, 15), st.booleans()), max_size=12))
def test_the_search_hears_a_monotone_function_and_doubts_are_pairs(said: list[tuple[int, bool]]) -> None:
    answers = iter(said)
    doubts: list[tuple[Flips, Flips]] = []
    search = consistent(questions(*((query,) for query, _ in said)), Known(), doubts)
    heard = run(search, lambda batch: [1.0 if next(answers)[1] else -1.0 for _ in batch])
    told = [(query, margin >= 0) for (query, _), margin in zip(said, heard, strict=True)]
    assert not [(a, b) for a, yes in told for b, no in told if yes and not no and a & ~b == 0]
    # An answer was changed exactly where it contradicts what stood before it, and each change has its pair.
    changed = [flips != yes for (_, flips), (_, yes) in zip(said, told, strict=True)]
    assert sum(changed) == len(doubts)
    for smaller, larger in doubts:
        assert smaller & ~larger == 0
    for i, ((query, flips), is_changed) in enumerate(zip(said, changed, strict=True)):
        before = told[:i]
        clash = any(a & ~query == 0 for a, yes in before if yes) if not flips else False
        clash |= any(query & ~b == 0 for b, yes in before if not yes) if flips else False
        assert is_changed == clash


def test_the_size_of_an_answer_that_stands_is_kept() -> None:
    margins = iter([0.25, -3.0])
    search = consistent(questions((0b01,), (0b10,)), Known(), [])
    assert run(search, lambda batch: [next(margins)]) == [0.25, -3.0]


def test_answers_of_a_batch_that_a_budget_cuts_are_learned() -> None:
    known = Known()
    doubts: list[tuple[Flips, Flips]] = []
    search = limit_queries(consistent(questions((0b01, 0b11, 0b10)), known, doubts), Allowance(2))
    with pytest.raises(BudgetExhausted) as stop:
        run(search, lambda batch: [1.0 if query == 0b01 else -1.0 for query in batch])
    assert known.settle(0b01) is True
    assert doubts == [(0b01, 0b11)]
    assert list(stop.value.answers) == [1.0, 0.0, None]
