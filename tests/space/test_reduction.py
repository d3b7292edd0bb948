"""From rows in a box to sets of flips: only features that can improve take part, and rows are made in one place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import InputError
from flipset.protocol import features_of
from flipset.space.reduction import reduce_row, unpack

X, LOWER, UPPER = [1.0, 5.0, 3.0, 0.0], [0.0, 0.0, 3.0, 0.0], [9.0, 9.0, 3.0, 7.0]
DIRECTIONS = [1, -1, 1, 0]


@given(st.lists(st.integers(0, 2**20 - 1), max_size=6))
def test_bits_are_unpacked_as_they_are(batch: list[int]) -> None:
    assert unpack(batch, 20).tolist() == [[bool(flips >> i & 1) for i in range(20)] for flips in batch]


def test_features_at_their_best_or_without_direction_are_left_out() -> None:
    up, down = (reduce_row(X, LOWER, UPPER, DIRECTIONS, rise=rise) for rise in (True, False))
    assert up.movable == (0, 1)  # the third cannot move in its box, the fourth has no direction
    assert up.best[:2].tolist() == [9.0, 0.0]
    assert down.best[:2].tolist() == [0.0, 9.0]


def test_a_query_is_the_row_with_its_features_at_their_best() -> None:
    reduction = reduce_row(X, LOWER, UPPER, DIRECTIONS, rise=True)
    assert reduction.rows([0b00, 0b01, 0b10, 0b11]).tolist() == [X, [9, 5, 3, 0], [1, 0, 3, 0], [9, 0, 3, 0]]
    for flips in range(4):
        of_search = reduction.rows([flips])
        of_features = reduction.rows_of_features([reduction.spread(flips)])
        assert (of_search == of_features).all()
        assert reduction.features(features_of(flips)) == frozenset(features_of(reduction.spread(flips)))


def test_the_row_itself_is_not_changed() -> None:
    row = np.array(X)
    reduction = reduce_row(row, LOWER, UPPER, DIRECTIONS, rise=True)
    reduction.rows([0b11])[:] = -1
    assert row.tolist() == X
    assert reduction.x.tolist() == X


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": [1, 2]}, "lower must have one entry per feature of x: 2, got 4"),
        ({"x": [[1, 2]]}, "one-dimensional"),
        ({"x": ["a", 1, 2, 3]}, "x must be numbers"),
        ({"x": [float("nan"), 5, 3, 0]}, "x is NaN at feature 0"),
        ({"x": [1, 10, 3, 0]}, "x is above upper at feature 1"),
        ({"x": [-1, 5, 3, 0]}, "x is below lower at feature 0"),
        ({"lower": [0, 0, 4, 0]}, "lower is above upper at feature 2"),
        ({"directions": [1, 2, 0, 0]}, r"directions\[1\] is 2"),
        ({"directions": [1, "+", 0, 0]}, r"directions\[1\] is '\+'"),
    ],
)
def test_boxes_that_cannot_be_right_are_refused(change: dict[str, object], message: str) -> None:
    given = {"x": X, "lower": LOWER, "upper": UPPER, "directions": DIRECTIONS} | change
    with pytest.raises(InputError, match=message):
        reduce_row(**given, rise=True)  # type: ignore[arg-type]
