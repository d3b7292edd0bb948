"""Cells as plain values, and what a feature says of them."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Feature
from flipset.space.feature import is_missing, is_number, level_range, plain


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (float("nan"), None),
        (np.float64("nan"), None),
        (pd.NA, None),
        (pd.NaT, None),
        (None, None),
        (Decimal("1.5"), Decimal("1.5")),
    ],
)
def test_a_cell_becomes_a_plain_value(cell: Any, value: Any) -> None:
    assert plain(cell) == value
    assert type(plain(cell)) is type(value)
    assert is_missing(plain(cell)) == (value is None)


@pytest.mark.parametrize(
    ("value", "counts"),
    [
        (1, True),
        (0.5, True),
        (True, True),
        (float("inf"), False),
        (float("nan"), False),
        ("1", False),
        (10**400, False),
    ],
)
def test_numbers_are_finite(value: Any, counts: bool) -> None:
    assert is_number(value) == counts


def test_special_codes_and_missing_values_are_outside_the_order() -> None:
    feature = Feature("late", "integer", direction=-1, lower=0, upper=9, special=(-7, -8), may_become=(-7,))
    assert [feature.is_ordinary(value) for value in (3, 20, -7, -8, None, float("nan"))] == [True, True] + [False] * 4


def test_levels_are_listed_values_or_bits() -> None:
    grade = Feature("grade", "ordinal", direction=+1, options=("low", "middle", "high"), lower="middle")
    assert grade.levels == ("low", "middle", "high")
    assert level_range(grade) == (1, 2)
    assert Feature("flag", "binary").levels == (0, 1)
    assert Feature("x").levels == ()


def test_a_feature_reads_as_what_was_said_of_it() -> None:
    feature = Feature("x", "integer", direction=+1, lower=0, upper=9)
    assert repr(feature) == "Feature(name='x', kind='integer', direction=1, lower=0, upper=9)"
    assert eval(repr(feature), {"Feature": Feature}) == feature


def test_numpy_values_are_taken_as_plain_ones() -> None:
    given: dict[str, Any] = {
        "direction": np.int64(1),
        "lower": np.int64(0),
        "upper": np.int64(9),
        "fixed": np.bool_(False),
    }
    feature = Feature("x", "integer", **given)
    assert feature == Feature("x", "integer", direction=1, lower=0, upper=9)
    assert type(feature.lower) is int
