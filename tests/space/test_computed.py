"""Computed sequences behave as lists of the same items do, and compute no other items."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset.space.computed import Computed


class Noting(Computed[int]):
    """Some items, and the indexes that were computed."""

    def __init__(self, items: list[int]) -> None:
        self.items = items
        self.computed: list[int] = []

    def __len__(self) -> int:
        return len(self.items)

    def _at(self, j: int) -> int:
        self.computed.append(j)
        return self.items[j]


def read(items: Any, at: Any) -> Any:
    """Return what is read there, or the type of the error."""
    try:
        return items[at]
    except IndexError:
        return IndexError


@given(st.lists(st.integers(), max_size=6), st.integers(-8, 8))
def test_items_are_those_of_a_list(items: list[int], j: int) -> None:
    assert read(Noting(items), j) == read(items, j)


@given(st.lists(st.integers(), max_size=6), st.slices(6))
def test_slices_are_those_of_a_list(items: list[int], part: slice) -> None:
    assert Noting(items)[part] == items[part]


def test_only_what_is_read_is_computed() -> None:
    items = Noting([10, 11, 12, 13])
    assert [items[1], items[-1], *items[2:3]] == [11, 13, 12]
    assert items.computed == [1, 3, 2]
    with pytest.raises(IndexError):
        items[4]
    assert items.computed == [1, 3, 2]


def test_other_operations_of_a_sequence() -> None:
    items = Noting([3, 1, 2])
    assert list(items) == [3, 1, 2]
    assert list(reversed(items)) == [2, 1, 3]
    assert items.index(2) == 2
    assert 1 in items
    assert 5 not in items
