"""Rules that were put into a table are suggested, with their counts, and nothing else is."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from flipset import InputError, Suggestion, suggest_constraints
from tests.space.suggestions.tables import check_counts, loans

EXPECTED = [
    "turnover == `turnover again`",
    "late_90 <= late_60 <= late_30",
    "turnover == balance + paid",
    "revolving + instalments <= accounts",
    "balance == 0 implies has_balance == 0",
    "has_balance == 0 implies balance == 0",
    'exactly one of these columns is 1: groups={"job": ["job_none", "job_office", "job_shop"]}',
]


@pytest.mark.parametrize("rows", [1_000, 30_000])
def test_rules_that_were_put_into_a_table(rows: int) -> None:
    frame = pd.DataFrame(loans(rows))
    suggestions = suggest_constraints(frame)
    assert [one.text for one in suggestions] == EXPECTED
    assert [one.support for one in suggestions] == [rows] * len(EXPECTED)
    for one in suggestions:
        if one.is_constraint and rows == 1_000:
            check_counts(frame, one)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "arrow"])
def test_every_frame_gives_the_same(make: Any) -> None:
    cells = loans(1_000)
    assert suggest_constraints(make(cells)) == suggest_constraints(pd.DataFrame(cells))


def test_rows_that_break_a_rule_are_named() -> None:
    frame = pd.DataFrame(loans(5_000))
    frame.loc[[17, 402], "late_90"] = 20
    frame.loc[402, "late_60"] = 19
    [one] = [one for one in suggest_constraints(frame) if "late" in one.text]
    assert one == Suggestion("late_90 <= late_60 <= late_30", "order", 5_000, 2, (17, 402))
    assert not any("late_90 <= late_60" in one.text for one in suggest_constraints(frame, most_broken=0))


def test_codes_and_missing_cells_are_not_compared() -> None:
    frame = pd.DataFrame(loans(2_000)).astype({"late_60": float, "late_90": float})
    frame.loc[::4, "late_60"] = -9
    frame.loc[::5, "late_90"] = np.nan
    texts = {one.text: one for one in suggest_constraints(frame, special={"late_60": [-9]})}
    assert texts["late_90 <= late_60"].support == 1_200
    assert texts["late_60 <= late_30"].support == 1_500
    assert texts["late_90 <= late_30"].support == 1_600  # it does not follow where late_60 is a code
    assert {*texts} == {one.text for one in suggest_constraints(frame, special={"*": [-9]})}
    assert "late_90 <= late_60" not in {one.text for one in suggest_constraints(frame)}


def test_unrelated_columns_have_no_rules() -> None:
    r = np.random.default_rng(0)
    draws = (r.normal, r.lognormal, r.random, lambda size: r.poisson(0.2, size), lambda size: r.integers(0, 3, size))
    kinds: list[Any] = [
        *draws,
        lambda size: r.poisson(5, size),
        lambda size: np.round(r.lognormal(size=size), 1) * (r.random(size) < 0.3),
    ]
    for rows in (30, 500, 5_000):
        frame = pd.DataFrame({f"c{i}": kinds[i % len(kinds)](size=rows) for i in range(42)})
        assert [one for one in suggest_constraints(frame) if one.is_constraint] == []


def test_small_and_odd_tables_have_no_rules() -> None:
    odd = {"empty": [None] * 3, "same": [1, 1, 1], "text": ["a", "b", "c"], "when": pd.to_datetime(["2020-01-01"] * 3)}
    assert suggest_constraints(pd.DataFrame(odd)) == []
    assert suggest_constraints(pd.DataFrame({"a": [1]})) == []


@pytest.mark.parametrize("most_broken", [-0.1, 1, "0.1", True, None, float("nan")])
def test_a_share_that_is_none_is_refused(most_broken: Any) -> None:
    with pytest.raises(InputError, match="most_broken must be a share of the rows"):
        suggest_constraints(pd.DataFrame({"a": [1]}), most_broken=most_broken)


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(InputError, match="expected a frame"):
        suggest_constraints([[1, 2]])
