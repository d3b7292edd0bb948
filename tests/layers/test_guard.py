"""Answers that no monotone function gives."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import NotMonotone, find_flipsets, run
from flipset.errors import BudgetExhausted
from flipset.layers import Allowance, guard, limit_queries
from flipset.protocol import flips_of
from flipset.sets.known import Known
from tests.layers.asking import questions


@given(st.lists(st.lists(st.tuples(st.integers(0, 15), st.booleans()), min_size=1, max_size=4), max_size=5))
def test_guard_raises_exactly_when_the_transcript_holds_a_pair(rounds: list[list[tuple[int, bool]]]) -> None:
    answers = iter([1.0 if flips else -1.0 for batch in rounds for _, flips in batch])
    search = guard(questions(*(tuple(query for query, _ in batch) for batch in rounds)))
    flat = [pair for batch in rounds for pair in batch]
    pairs = {(s, t) for s, yes in flat if yes for t, no in flat if not no and s & ~t == 0}
    try:
        run(search, lambda batch: [next(answers) for _ in batch])
    except NotMonotone as error:
        assert (flips_of(error.smaller), flips_of(error.larger)) in pairs
        assert error.smaller <= error.larger
    else:
        assert not pairs


def test_not_monotone_speaks_briefly_of_large_sets() -> None:
    with pytest.raises(NotMonotone) as caught:
        run(guard(questions((1,), (2**1000 - 1,))), lambda batch: [1.0 if q == 1 else -1.0 for q in batch])
    assert len(str(caught.value)) < 300
    assert "{0}" in str(caught.value)


def test_what_the_answers_say_can_be_read_afterwards_also_of_a_batch_cut_short() -> None:
    known = Known()
    with pytest.raises(BudgetExhausted):
        run(limit_queries(guard(questions((1, 2), (6, 7)), known), Allowance(3)), lambda b: [float(q) - 2 for q in b])
    assert [known.settle(q) for q in (1, 2, 6, 7, 4)] == [False, True, True, True, None]


def test_an_earlier_answer_may_come_from_elsewhere() -> None:
    known = Known()
    known.learn(0b001, True)
    with pytest.raises(NotMonotone):
        run(guard(questions((0b011,)), known), lambda batch: [-1.0])


@pytest.mark.parametrize("most", [3, 4, 5, 8])
def test_contradictions_in_a_batch_that_a_budget_cuts_are_raised(most: int) -> None:
    def model(sets: Sequence[frozenset[int]]) -> list[float]:
        return [0.5 if len(one) in (0, 3) else -0.5 for one in sets]  # nothing flips, and one feature does not

    with pytest.raises(NotMonotone):
        find_flipsets(model, 3, batch=64, max_queries=most)
