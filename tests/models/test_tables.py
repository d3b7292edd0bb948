"""Rows, as a model takes them: what it is given for a row depends on that row alone."""

from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from flipset.models.tables import are_numeric_cells, ask_rows, is_numeric_row, kinds_of, make_tables, plain_rows
from flipset.space.reference import Reference
from flipset.space.rows import Row


def test_questions_are_rows_with_some_other_cells() -> None:
    row = Row.of([1, 2.5, None])
    ((places, table),) = make_tables(3, None, [(row, ()), (row, ((0, 9), (2, 7)))])
    assert places == slice(None)
    np.testing.assert_array_equal(table, [[1, 2.5, np.nan], [9, 2.5, 7]])
    assert table.dtype == np.float64


def test_a_row_of_numbers_stays_one_whatever_is_asked_beside_it() -> None:
    rows = [Row.of([1, 2]), Row.of([3, "text"]), Row.of(["more", 4]), Row.of([5, "x"])]

    def given(row: Any, among: Any) -> list[Any]:
        for places, table in make_tables(2, None, [(one, ()) for one in among]):
            numbers = range(len(among)) if isinstance(places, slice) else places
            for i, cells in zip(numbers, table, strict=True):
                if among[i] is row:
                    return [table.dtype, *cells]
        raise AssertionError("every row is in some table")

    for row in rows:
        alone = given(row, [row])
        for order in permutations(rows):
            assert given(row, order) == alone


def test_scores_come_back_in_the_order_of_the_questions() -> None:
    rng = Random(1)
    rows = [Row.of([i, "text" if rng.random() < 0.5 else 0]) for i in range(20)]
    scores = ask_rows(lambda table: np.array([float(row[0]) for row in table]), 2, None, [(row, ()) for row in rows])
    assert scores == [float(i) for i in range(20)]


@pytest.mark.parametrize("module", [pd, pl], ids=["pandas", "polars"])
def test_a_frame_like_the_reference_has_its_types(module: Any) -> None:
    reference = Reference.of(module.DataFrame({"a": [1.0, 2.0], "kind": ["x", "y"]}))
    row = Row.of([1.5, "x"])
    ((_, table),) = make_tables(2, reference, [(row, ()), (row, ((1, "y"),))])
    assert type(table) is module.DataFrame
    assert plain_rows(table) == [[1.5, "x"], [1.5, "y"]]
    assert kinds_of(table) == ["float", "text"]


def test_kinds_are_by_type_and_in_arrays_of_objects_by_cells() -> None:
    frame = pd.DataFrame({"a": [1], "b": [0.5], "c": [True], "d": ["x"]})
    assert kinds_of(frame) == ["int", "float", "bool", "text"]
    assert kinds_of(np.array([[1, 2]])) == ["int", "int"]
    assert kinds_of(np.array([[True]])) == ["bool"]
    assert kinds_of(np.array([[1, True, "x"], [None, False, 2]], dtype=object)) == ["float", "bool", "text"]


@pytest.mark.parametrize(
    ("cells", "fits"),
    [([1, 0.5], True), ([None, True], True), (["1", 2], False), ([2**53 + 1, 0], False), ([np.float32(1), 2], True)],
)
def test_only_numbers_that_a_float_holds_are_piled(cells: list[Any], fits: bool) -> None:
    assert is_numeric_row(Row.of(cells), None) == fits
    assert are_numeric_cells(tuple(enumerate(cells)), 2, None) == fits


def test_of_a_frame_only_its_numeric_columns_must_be_numbers() -> None:
    reference = Reference.of(pd.DataFrame({"a": [1.0], "note": ["x"]}))
    assert is_numeric_row(Row.of([2.0, "text"]), reference)
    assert not is_numeric_row(Row.of(["text", "text"]), reference)
    assert are_numeric_cells(((0, 3.0),), 2, reference)
    assert not are_numeric_cells(((1, 3.0),), 2, reference)


def test_plain_rows_know_one_kind_of_missing() -> None:
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [np.nan, "x"]})
    assert plain_rows(frame) == [[1, None], [None, "x"]]
    assert plain_rows(np.array([[1.0, np.nan]])) == [[1.0, None]]
