"""Sums are found where they hold, and only those that neither chance nor other sums and orders explain."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset.space.suggestions.orders import find_orders
from flipset.space.suggestions.sums import Sum, find_sums, orders_of, suggest_sums
from tests.space.suggestions.tables import check_counts, table_of

R = np.random.default_rng(0)
N = 2_000
A, B, C = R.poisson(3, N).astype(float), R.poisson(2, N).astype(float), R.poisson(1, N).astype(float)
X, Y = R.lognormal(8, 1, N).round(2), R.lognormal(8, 1, N).round(2)


def texts(cells: dict[str, Any], most_broken: float = 0.001) -> list[str]:
    table = table_of(cells, most_broken=most_broken)
    suggestions = suggest_sums(table, find_sums(table, find_orders(table)))
    for one in suggestions:
        check_counts(pd.DataFrame(cells), one)
    return [one.text for one in suggestions]


def test_an_equality_within_rounding() -> None:
    assert texts({"x": X, "total": X + Y, "y": Y}) == ["total == x + y"]
    narrow = {"x": X.astype(np.float32), "y": Y.astype(np.float32)}
    total = narrow["x"] + narrow["y"]
    table = table_of({**narrow, "total": total})
    assert [one.broken for one in suggest_sums(table, find_sums(table, []))] == [0]
    assert texts({"x": X, "total": X + Y + 0.01, "y": Y}) == []


def test_an_equality_with_amounts_below_0() -> None:
    assert texts({"assets": X, "debts": -Y, "net": X - Y}) == ["net == assets + debts"]


def test_a_few_rows_may_break_it() -> None:
    total = A + B
    total[[5, 900]] += 1
    cells = {"a": A, "b": B, "total": total}
    table = table_of(cells)
    [one] = suggest_sums(table, find_sums(table, find_orders(table)))
    assert (one.text, one.support, one.broken, one.rows) == ("total == a + b", N, 2, (5, 900))
    # None may break it; but in the other rows the sum is still at most the total, in all of them.
    assert texts(cells, 0) == ["a + b <= total"]


def test_a_sum_of_at_most_a_column() -> None:
    total = A + B + C * (R.random(N) < 0.4)
    assert texts({"a": A, "b": B, "total": total}) == ["a + b <= total"]


def test_two_orders_are_no_sum() -> None:
    assert texts({"a": A, "b": B, "most": np.maximum(A, B) + C}) == []
    # They are so small that their sum is not too large by chance.
    assert texts({"a": np.minimum(A, 1) + (A > 8), "b": np.minimum(B, 1) + (B > 8), "most": A + B + 30}) == []


def test_a_sum_with_nothing_is_none() -> None:
    assert texts({"a": A, "b": A, "nothing": C * 0}) == []
    assert texts({"a": A, "b": A + 0, "hardly": np.where(np.arange(N) < 2, 3.0, 0) + (np.arange(N) == 9)}) == []


def test_sums_that_follow_are_left_out() -> None:
    total = A + B + C * (R.random(N) < 0.4)
    more = total + C
    # What is less than a part, or more than the whole, adds nothing.
    less = np.floor(A / 2)
    cells = {"a": A, "b": B, "total": total, "more": more, "less": less}
    found = texts(cells)
    assert "a + b <= total" in found
    assert not {"a + b <= more", "b + less <= total", "b + less <= more"} & set(found)
    assert texts({"a": A, "b": B, "total": A + B, "again": A + B}) == ["total == a + b"]


@pytest.mark.parametrize("seed", range(10))
def test_all_equalities_between_three_columns(seed: int) -> None:
    r = np.random.default_rng(seed)
    parts = r.poisson(2, (600, 3)).astype(float)
    chosen = [tuple(r.random(3) < 0.6) for _ in range(6)]
    kept = list(dict.fromkeys(one for one in chosen if any(one)))
    cells = {f"c{i}": parts[:, list(one)].sum(axis=1) for i, one in enumerate(kept)}
    force = [
        f"{whole} == {a} + {b}"
        for a, b in combinations(cells, 2)
        for whole in cells
        if whole not in (a, b) and (cells[a] + cells[b] == cells[whole]).all()
    ]
    table = table_of(cells, most_broken=0)
    sums = find_sums(table, find_orders(table))
    assert sorted(one.text for one in suggest_sums(table, sums) if " == " in one.text) == sorted(force)


def test_orders_follow_from_a_sum_unless_the_other_part_is_below_0_or_missing() -> None:
    table = table_of({"a": A, "b": B, "total": A + B})
    one = Sum((0, 1), 2, is_equal=True)
    assert orders_of(table, [one]) == [(0, 2), (1, 2)]
    assert orders_of(table_of({"a": A, "b": -B, "total": A - B}), [one]) == [(1, 2)]
    some = np.where(np.arange(N) % 3 == 0, np.nan, B)
    assert orders_of(table_of({"a": A, "b": some, "total": A + B}), [one]) == [(1, 2)]
