"""Functions with known answers: each member is monotone, and its optimal flip set is the only one."""

from math import comb

import pytest

from flipset import InputError
from flipset.paper.families import Member, hidden_feature, hidden_features, hidden_set, hidden_sets
from flipset.testing import smallest


@pytest.mark.parametrize(
    "member", [*hidden_sets(6, 4, 2), *hidden_sets(5, 5, 1), *hidden_features(5)], ids=lambda m: f"{m.d}/{m.optimal}"
)
def test_members_are_monotone_with_one_optimal_set(member: Member) -> None:
    for query in range(1 << member.d):
        for i in range(member.d):
            assert not member.flips(query) or member.flips(query | 1 << i)
    assert smallest(member.flips, member.d) == (member.optimal,)


def test_families_have_every_member_once() -> None:
    assert len({member.optimal for member in hidden_sets(9, 6, 3)}) == comb(6, 3)
    assert [member.optimal for member in hidden_features(4)] == [1, 2, 4, 8]


def test_a_wrong_guess_rules_out_just_itself() -> None:
    """No two members differ on a set of the hidden size, but for their own."""
    members = list(hidden_sets(5, 5, 2))
    for one in members:
        for other in members:
            differing = [q for q in range(32) if one.flips(q) != other.flips(q)]
            assert set(differing) == (
                {one.optimal, other.optimal} if one is not other and one.optimal != other.optimal else set()
            )


@pytest.mark.parametrize(("d", "S", "optimal"), [(4, 2, 0b100), (4, 5, 0b1), (4, 0, 0)])
def test_a_set_outside_is_refused(d: int, S: int, optimal: int) -> None:
    with pytest.raises(InputError, match="the hidden set must lie in the first S features"):
        hidden_set(d, S, optimal)
    with pytest.raises(InputError, match="must lie below"):
        hidden_feature(d, d)
