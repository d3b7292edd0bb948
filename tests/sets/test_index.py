"""An index of sets, against a look at each of them."""

from hypothesis import given
from hypothesis import strategies as st

from flipset.sets.index import Index

sets = st.integers(0, 255)


@given(st.lists(sets, min_size=1, max_size=12), st.integers(0, 2**12 - 1))
def test_the_smallest_is_the_first_of_those_asked_for(members: list[int], positions: int) -> None:
    positions &= (1 << len(members)) - 1
    positions = positions or 1
    among = [i for i in range(len(members)) if positions >> i & 1]
    fewest = min(members[i].bit_count() for i in among)
    assert Index(members).smallest(positions) == next(i for i in among if members[i].bit_count() == fewest)


@given(st.lists(sets, max_size=12), sets)
def test_positions_are_those_of_arrival_also_when_sets_come_one_by_one(members: list[int], query: int) -> None:
    grown = Index([])
    for member in members:
        grown.add(member)
    whole = Index(members)
    for index in (grown, whole):
        assert index.sets == members
        assert index.disjoint(query) == sum(1 << i for i, m in enumerate(members) if not m & query)
        assert index.inside(query) == sum(1 << i for i, m in enumerate(members) if not m & ~query)
        assert index.containing(query) == sum(1 << i for i, m in enumerate(members) if not query & ~m)


def test_a_set_that_was_dropped_is_not_found_and_the_others_stay_where_they_are() -> None:
    index = Index([0b001, 0b011, 0b100])
    index.drop(0b010)
    assert index.containing(0b001) == 0b001
    assert index.disjoint(0b001) == 0b100
    index.add(0b111)
    assert index.containing(0b001) == 0b1001


@given(st.lists(sets, max_size=6), st.lists(sets, min_size=64, max_size=90), sets)
def test_many_sets_at_once_are_added_like_one_by_one(first: list[int], many: list[int], query: int) -> None:
    one_by_one, at_once = Index(first), Index(first)
    for flips in many:
        one_by_one.add(flips)
    at_once.add_all(many)
    assert at_once.sets == one_by_one.sets
    assert at_once.alive == one_by_one.alive
    for lookup in ("disjoint", "inside", "containing"):
        assert getattr(at_once, lookup)(query) == getattr(one_by_one, lookup)(query)
    assert at_once.smallest(at_once.alive) == one_by_one.smallest(one_by_one.alive)
