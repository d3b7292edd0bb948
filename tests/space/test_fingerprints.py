"""Fingerprints of tables and spaces: of values, not of the objects that hold them."""

import hashlib
from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset.space import Feature, Space
from flipset.space.fingerprints import space_fingerprint
from flipset.space.reference import Reference

COLUMNS: dict[str, list[Any]] = {
    "numbers": [1.5, -0.0, 1e300],
    "whole": [1, -2, 3],
    "large": [1 << 60, 1, (1 << 60) + 1],
    "flags": [True, False, True],
    "words": ["a", "", "ä"],
    "missing numbers": [1.0, None, 3.0],
    "missing whole": [1, None, 3],
    "missing words": ["a", None, ""],
    "missing flags": [True, None, False],
    "days": [datetime(2020, 1, 1), datetime(2021, 2, 3, 4, 5), datetime(1999, 1, 1)],
    "nothing": [None, None, None],
}


def fingerprint(table: Any) -> str:
    return Reference.of(table).fingerprint


@pytest.mark.parametrize("name", COLUMNS)
def test_all_frames_with_the_same_values_have_the_same(name: str) -> None:
    columns = {name: COLUMNS[name]}
    arrow = pa.table(columns)
    frames = [
        pd.DataFrame(columns),
        pd.DataFrame(columns).convert_dtypes(),
        pd.DataFrame(columns, dtype=object),
        pd.DataFrame(columns, index=[5, 6, 7]),
        arrow.to_pandas(types_mapper=pd.ArrowDtype),
        pl.DataFrame(columns),
        arrow,
    ]
    assert len({fingerprint(frame) for frame in frames}) == 1


def test_categories_are_their_values() -> None:
    words = pd.DataFrame({"city": ["b", "a", "b"]})
    frames = [words, words.astype("category"), pl.DataFrame({"city": ["b", "a", "b"]}, schema={"city": pl.Categorical})]
    assert len(set(map(fingerprint, frames))) == 1


def test_narrow_numbers_are_numbers_and_all_missing_values_are_one() -> None:
    narrow = pd.DataFrame({"a": np.array([0.5, 2], dtype=np.float32)})
    assert fingerprint(narrow) == fingerprint(pl.DataFrame({"a": [0.5, 2.0]}))
    assert fingerprint(pd.DataFrame({"a": np.array([1, 2], dtype=np.int8)})) == fingerprint(
        pd.DataFrame({"a": [1.0, 2.0]})
    )
    assert fingerprint(pl.DataFrame({"a": [1.0, None]})) == fingerprint(pl.DataFrame({"a": [1.0, float("nan")]}))
    with_sign = np.array([1.0, -np.nan])
    assert fingerprint(pd.DataFrame({"a": with_sign})) == fingerprint(pd.DataFrame({"a": [1.0, np.nan]}))


def test_tables_that_differ_differ() -> None:
    tables: list[dict[str, list[Any]]] = [
        {"a": [1, 2], "b": [3, 4]},
        {"b": [3, 4], "a": [1, 2]},
        {"a": [2, 1], "b": [4, 3]},
        {"a": [1, 2], "c": [3, 4]},
        {"a": [1, 2], "b": [3, 5]},
        {"a": [1, 2]},
        {"a": [1, 2, 2]},
        {"a": [True, False]},
        {"a": [1, 0]},
        {"a": ["1", "0"]},
        {"a": ["", None]},
        {"a": [None, ""]},
        {"a": ["ab", "c"]},
        {"a": ["a", "bc"]},
        {"a": ["None", "a"]},
        {"a": [None, None]},
        {"a": [None, None, None]},
        {"a": [date(2020, 1, 1), None]},
        {"a": ["time 2020-01-01", None]},
        {"a": [1 << 60, 0]},
        {"a": [(1 << 60) + 1, 0]},
        {"a": [0.1, 0.2]},
        {"a": [0.1, np.nextafter(0.2, 1)]},
    ]
    assert len({fingerprint(pl.DataFrame(table)) for table in tables}) == len(tables)
    mixed: list[list[Any]] = [[1, "a"], ["1", "a"], [True, "a"], ["number 1", "a"], [2, "a"], [1 << 2000, "a"]]
    assert len({fingerprint(pd.DataFrame({"a": cells})) for cells in mixed}) == len(mixed)


@given(st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=4), st.lists(st.text(max_size=3), min_size=1))
def test_columns_of_text_are_told_apart(one: list[str | None], other: list[str | None]) -> None:
    first, second = (fingerprint(pl.DataFrame({"a": pl.Series(cells, dtype=pl.String)})) for cells in (one, other))
    assert (first == second) == (one == other)


def test_a_space_is_the_hash_of_its_json() -> None:
    space = Space([Feature("income", direction=+1, lower=0, upper=100)])
    expected = f"sha256:{hashlib.sha256(space.to_json().encode()).hexdigest()}"
    assert space_fingerprint(space) == space_fingerprint(Space.from_json(space.to_json())) == expected
    assert space_fingerprint(Space([Feature("income", direction=+1, lower=0, upper=99)])) != expected
