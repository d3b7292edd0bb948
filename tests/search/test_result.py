"""Sets as people see them."""

from hypothesis import given
from hypothesis import strategies as st

from flipset.layers import Tally
from flipset.proof import Proof
from flipset.search.result import in_order
from flipset.search.solve import conclude


@given(st.lists(st.integers(0, 255), unique=True))
def test_smaller_sets_come_first_and_then_by_their_features(sets: list[int]) -> None:
    shown = in_order(sets)
    assert [(len(s), sorted(s)) for s in shown] == sorted((len(s), sorted(s)) for s in shown)
    assert {sum(1 << i for i in s) for s in shown} == set(sets)


def test_reasons_are_what_the_zeros_leave_out() -> None:
    found = conclude("optimal", Proof(4, (0b0011, 0b1110), (0b0101,)), Tally(5, 2))
    assert found.certificates == (frozenset({0}), frozenset({2, 3}))
    assert (found.size, found.lower, found.upper, found.queries, found.rounds) == (2, 2, 2, 5, 2)


def test_a_stopped_search_has_a_bracket_and_no_size() -> None:
    found = conclude("stopped", Proof(4, (), (0b0111,)), Tally(), lower=1)
    assert (found.size, found.lower, found.upper) == (None, 1, 3)
