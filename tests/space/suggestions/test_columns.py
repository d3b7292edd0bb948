"""Columns are read from any frame; what is missing or a code is not ordinary."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from flipset.errors import InputError
from flipset.space.reference import Reference
from flipset.space.suggestions.columns import counted_together, every, read_columns
from tests.space.suggestions.tables import table_of


def ordinary(table: Any) -> list[list[int]]:
    return [np.flatnonzero(mask).tolist() for mask in table.ordinary]


CELLS: dict[str, list[Any]] = {
    "number": [1.5, None, -9.0, 4.0],
    "whole": [1, 2, -9, 4],
    "flag": [True, None, False, True],
    "text": ["a", None, "b", "-9"],
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_every_kind_of_frame(make: Any) -> None:
    table = read_columns(Reference.of(make(CELLS)), {"*": [-9]}, 0)
    assert ordinary(table) == [[0, 3], [0, 1, 3], [0, 2, 3], [0, 2, 3]]
    assert [column.few for column in table.columns] == [(1.5, 4), (1, 2, 4), (0, 1), (0, 1, 2)]
    assert [column.texts for column in table.columns] == [(), (), (), ("-9", "a", "b")]
    assert [column.is_flag for column in table.columns] == [False, False, True, False]


def test_nullable_and_narrow_types() -> None:
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "narrow": np.array([0.5, np.nan, 7], dtype=np.float32),
            "small": np.array([1, 2, 3], dtype=np.uint8),
        }
    )
    table = read_columns(Reference.of(frame), None, 0)
    assert ordinary(table) == [[0, 2], [0, 2], [0, 1, 2]]
    assert [column.is_float for column in table.columns] == [False, True, False]
    assert table.columns[1].precision == float(np.finfo(np.float32).eps)


def test_infinite_cells_are_not_ordinary_and_empty_columns_have_no_numbers() -> None:
    table = table_of({"a": [np.inf, 1.0, -np.inf, 2.0, 3.0], "b": [np.nan] * 5, "c": [None] * 5})
    assert ordinary(table) == [[1, 3, 4], [], []]
    assert [column.is_amount for column in table.columns] == [True, False, False]


def test_codes_of_a_column_win_over_those_of_all() -> None:
    cells = [-9, -8, 0, 1, 2]
    table = table_of({"a": cells, "b": cells}, {"*": [-9], "b": [-8]})
    assert ordinary(table) == [[1, 2, 3, 4], [0, 2, 3, 4]]


def test_columns_that_no_rule_is_about() -> None:
    cells = {"key": [2**60 + i for i in range(9)], "name": [f"n{i}" for i in range(9)], "`": range(9)}
    assert [column.text for column in table_of(cells).columns] == ["", "", ""]


@pytest.mark.parametrize(
    ("special", "said"),
    [
        ({"c": [1]}, "special names 'c', which is not a column"),
        ({"a": "1"}, r"special\['a'\] must be a list of codes"),
        ({"a": 1}, r"special\['a'\] must be a list of codes"),
        ([1], "special must be a mapping"),
    ],
)
def test_wrong_codes_are_refused(special: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        table_of({"a": [1, 2]}, special)


def test_counts_are_exact_in_pieces() -> None:
    r = np.random.default_rng(0)
    masks, others = r.random((5, 1000)) < 0.4, r.random((3, 1000)) < 0.7
    expected = [[int((a & b).sum()) for b in others] for a in masks]
    assert counted_together(masks, others, at_once=64).tolist() == expected
    assert counted_together(masks).tolist() == [[int((a & b).sum()) for b in masks] for a in masks]


def test_together_and_covered_agree_with_counting() -> None:
    r = np.random.default_rng(1)
    cells = np.where(r.random((400, 5)) < [0, 0.1, 0.1, 0.5, 0], np.nan, 1.0)
    cells[:, 2] = np.where(np.isnan(cells[:, 1]), np.nan, cells[:, 2])  # wherever 2 is there, 1 is
    table = table_of({f"c{i}": cells[:, i] for i in range(5)}, most_broken=0.02)
    is_there = ~np.isnan(cells)
    for a in range(5):
        for b in range(5):
            both = is_there[:, a] & is_there[:, b]
            assert table.together[a, b] == both.sum()
            for c in range(5):
                assert table.covered((a, b)) >> c & 1 == ((both & ~is_there[:, c]).sum() <= 0.02 * both.sum())


def test_samples_are_spread_evenly() -> None:
    assert every(np.arange(10), 5).tolist() == [0, 2, 4, 6, 8]
    assert len(every(np.arange(10_001), 10_000)) == 5_001
    assert every(np.arange(3), 5).tolist() == [0, 1, 2]
