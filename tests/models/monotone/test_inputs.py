"""Inputs follow their columns through steps."""

import pytest

from flipset.models.monotone.inputs import as_they_are, columns_of, mixed
from flipset.models.monotone.shown import Declared


def test_columns_are_inputs_of_their_own() -> None:
    inputs = columns_of(Declared(("a", "b"), {}))
    assert [one.columns for one in inputs] == [{0}, {1}]
    assert [one.sign for one in inputs] == [1, 1]
    assert as_they_are(inputs) is inputs


@pytest.mark.parametrize(
    ("levels", "sign"), [([1, 2, 3], 1), ([False, True], 1), ([3, 1, 2], 0), (["low", "high"], 0), ([1, 1], 0)]
)
def test_levels_that_are_not_ascending_numbers_have_no_order_yet(levels: list[object], sign: int) -> None:
    (one,) = columns_of(Declared(("a",), {}, {"a": levels}))
    assert one.sign == sign
    assert one.levels == tuple(levels)
    assert bool(one.why_not) == (sign == 0)


def test_steps_are_combined() -> None:
    (one,) = columns_of(Declared(("a",), {}))
    twice = one.scaled(-1, lambda value: -value / 2).scaled(-1, lambda value: 3 - value)
    assert twice.sign == 1
    assert twice.undo is not None
    assert twice.undo(1.0) == -1.0
    assert one.scaled(1).undo is None
    lost = one.without_order("step 'x' loses it")
    assert (lost.sign, lost.scaled(-1).sign, lost.without_order("later").why_not) == (0, 0, "step 'x' loses it")


def test_what_is_constant_depends_on_no_column() -> None:
    a, b = columns_of(Declared(("a", "b"), {}))
    assert a.scaled(0).columns == frozenset()
    both = mixed([a, b], "they are mixed")
    assert (both.columns, both.sign, both.why_not) == (frozenset({0, 1}), 0, "they are mixed")
