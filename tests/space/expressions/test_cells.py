"""Values of columns: kinds, missing ones, and whole numbers beyond floats."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from flipset import InputError
from flipset.space.expressions import meets, parse
from flipset.space.expressions.cells import as_time, of_column, of_literal


@pytest.mark.parametrize(
    "cells",
    [
        [1, None, 3],
        np.array([1.0, np.nan, 3.0]),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, np.nan, 3], dtype="float32"),
        pd.Series([Decimal(1), None, Decimal("3.0")], dtype=object),
        pl.Series([1, None, 3]),
        pa.chunked_array([[1, None, 3]]),
    ],
    ids=lambda cells: type(cells).__module__,
)
def test_numbers_of_any_library_are_the_same(cells: Any) -> None:
    read = of_column("x", cells)
    values, holds = read.numbers()
    assert holds.tolist() == [True, False, True]
    assert values[holds].tolist() == [1.0, 3.0]
    assert read.missing().tolist() == [False, True, False]
    assert not read.is_truth


@pytest.mark.parametrize(
    "cells",
    [
        ["x", None],
        pd.Series(["x", None]),
        pd.Series(["x", None], dtype="category"),
        pl.Series(["x", None]),
        pd.Series(["x", float("nan")], dtype=object),
        pd.Series(["x", pd.NA], dtype="string"),
    ],
)
def test_texts_of_any_library_are_the_same(cells: Any) -> None:
    read = of_column("x", cells)
    assert read.views.keys() == {"text"}
    assert read.missing().tolist() == [False, True]


def test_truth_is_a_number_too() -> None:
    for cells in ([True, False, None], pd.Series([True, False, None], dtype="boolean")):
        read = of_column("x", cells)
        assert read.is_truth
        assert read.truth().tolist() == [True, False, False]
    assert of_column("x", np.array([True, False])).numbers()[0].tolist() == [1.0, 0.0]
    assert not of_column("x", [True, 1]).is_truth
    with pytest.raises(InputError, match="the column 'x' is not a condition"):
        of_column("x", [1, 0]).truth()
    assert not of_column("x", [None, None]).truth().any()  # a column without values says nothing


def test_whole_numbers_beyond_floats_stay_whole() -> None:
    big = 2**53 + 1
    for cells in (
        np.array([big, 1]),
        np.array([big, 1], dtype="uint64"),
        [big, 1],
        pd.Series([big, None], dtype="Int64"),
    ):
        assert of_column("x", cells).views["number"][0][0] == big
    assert of_column("x", [10**400, 1]).numbers()[0].tolist() == [float("inf"), 1.0]


@pytest.mark.parametrize(
    "cells",
    [
        pd.to_datetime(pd.Series(["2026-01-31", None])),
        pd.to_datetime(pd.Series(["2026-01-31T00:00:00Z", None])),
        [dt.date(2026, 1, 31), None],
        np.array(["2026-01-31", "NaT"], dtype="M8[D]"),
        pl.Series([dt.datetime(2026, 1, 31), None]),
    ],
)
def test_dates_of_any_library_are_the_same(cells: Any) -> None:
    values, holds = of_column("x", cells).views["time"]
    assert holds.tolist() == [True, False]
    assert values[0] == as_time(of_literal("2026-01-31")).views["time"][0][0]


def test_a_column_of_several_kinds_has_all_of_them() -> None:
    read = of_column("x", [1, "word", None, 2.5])
    assert {kind: holds.tolist() for kind, (_, holds) in read.views.items()} == {
        "number": [True, False, False, True],
        "text": [False, True, False, False],
    }


def test_what_cannot_be_compared_is_named() -> None:
    with pytest.raises(InputError, match="the column 'x' holds a tuple, which cannot be compared"):
        of_column("x", pd.Series([(1, 2), (3, 4)]))
    with pytest.raises(InputError, match="there are several columns 'x'"):
        of_column("x", pd.DataFrame([[1, 2]]))
    with pytest.raises(InputError, match="the text 'soon' is not a date"):
        as_time(of_literal("soon"))


def chosen(condition: str, **columns: Any) -> list[bool]:
    """For each row, whether the condition holds."""
    count = len(next(iter(columns.values())))
    return [bool(one) for one in meets(parse(condition), columns, count)]


LARGE = [2**53 + 1, 2**53, None]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.array(LARGE, dtype="Int64")),
        pd.Series(pd.array(LARGE, dtype="int64[pyarrow]")),
        pl.Series(LARGE),
        pa.array(LARGE),
        pa.chunked_array([LARGE[:1], LARGE[1:]]),
        np.ma.array([2**53 + 1, 2**53, 2**53], mask=[False, False, True]),
        LARGE,
        [Decimal(2**53 + 1), Decimal(2**53), Decimal("sNaN")],
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)
def test_large_whole_numbers_beside_a_missing_one_are_exact(column: Any) -> None:
    assert chosen("id == 9007199254740992", id=column) == [False, True, False]
    assert chosen("id == 9007199254740993", id=column) == [True, False, False]
    assert chosen("id > 9007199254740992", id=column) == [True, False, False]
    assert chosen("id in [9007199254740993]", id=column) == [True, False, False]
    assert chosen("-id == -9007199254740993", id=column) == [True, False, False]


def test_large_decimals_are_exact() -> None:
    column = [Decimal(10**18), Decimal(10**18 + 1), Decimal("1e100000000")]
    assert chosen("m == 1000000000000000001", m=column) == [False, True, False]
    assert chosen("m > 1000000000000000000", m=column) == [False, True, True]


def test_nanoseconds_count() -> None:
    column = np.array(["2024-01-01T00:00:00.000000001", "2024-01-01", "NaT"], dtype="M8[ns]")
    assert chosen("d == '2024-01-01'", d=column) == [False, True, False]
    assert chosen("d > '2024-01-01'", d=column) == [True, False, False]
