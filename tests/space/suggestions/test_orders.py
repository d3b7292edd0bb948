"""Orders are compared with every pair of columns: all that hold follow, and none follows from the others."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset.space.suggestions.evidence import says_something
from flipset.space.suggestions.orders import MOST_TRIED, fewest_orders, find_orders, suggest_orders
from tests.space.suggestions.tables import check_counts, table_of
from tests.space.suggestions.test_graph import leads

Orders = list[tuple[int, int]]


def random_table(seed: int, *, missing: bool) -> dict[str, Any]:
    """Columns of counts, each the sum of some of the same parts: some are parts of others, some are equal."""
    r = np.random.default_rng(seed)
    rows, n = 400, int(r.integers(3, 8))
    parts = r.poisson(0.7, (rows, 3)).astype(float)
    cells = {f"c{i}": parts[:, r.random(3) < 0.6].sum(axis=1) for i in range(n)}
    cells["noise"] = r.normal(size=rows)
    for name in list(cells):
        if missing and r.random() < 0.6:
            hidden = r.random(rows) < 0.2 if r.random() < 0.5 else cells["c0"] == r.integers(0, 3)
            cells[name] = np.where(hidden, np.nan, cells[name])
    return cells


def orders_by_force(cells: dict[str, Any], most_broken: float) -> Orders:
    columns = list(cells.values())
    found = []
    for i, a in enumerate(columns):
        for j, b in enumerate(columns):
            rows = ~np.isnan(a) & ~np.isnan(b)
            broken = sum(x > y for x, y in zip(a[rows], b[rows], strict=True))
            is_many = len(set(a[~np.isnan(a)])) > 2 and len(set(b[~np.isnan(b)])) > 2
            if i == j or not rows.any() or not is_many or broken / rows.sum() > most_broken:
                continue
            if says_something(a[rows], b[rows], broken, most_broken):
                found.append((i, j))
    return found


def arrows_of(text: str, names: list[str]) -> Orders:
    operator = " == " if " == " in text else " <= "
    pairs = list(pairwise([names.index(name) for name in text.split(operator)]))
    return pairs + ([(b, a) for a, b in pairs] if operator == " == " else [])


@pytest.mark.parametrize("missing", [False, True])
def test_all_orders_follow_and_none_can_be_left_out(missing: bool) -> None:
    seen = 0
    for seed in range(50):
        cells = random_table(seed, missing=missing)
        table, names = table_of(cells, most_broken=0.0), list(cells)
        orders = find_orders(table)
        assert orders == orders_by_force(cells, 0.0), seed
        equal, ordered = fewest_orders(table, orders, ())
        suggestions = suggest_orders(table, equal, ordered)
        for one in suggestions:
            check_counts(pd.DataFrame(cells), one)
            assert one.broken == 0
        said = [arrow for one in suggestions for arrow in arrows_of(one.text, names)]
        is_there = ~np.isnan(np.array(list(cells.values())))
        for a, b in orders:
            # In each row, through columns that are not missing in it.
            for pattern in {tuple(row) for row in is_there.T[is_there[a] & is_there[b]]}:
                assert leads(said, a, b, sum(1 << i for i, there in enumerate(pattern) if there)), (seed, a, b)
        seen += len(said)
        for rule in [[(a, b), (b, a)] for a, b in equal] + [[arrow] for arrow in ordered]:
            rest = [arrow for arrow in said if arrow not in rule]
            assert not all(leads(rest, a, b, table.covered((a, b))) for a, b in rule), (seed, rule)
    assert seen > 100


def test_orders_that_are_broken_in_a_few_rows() -> None:
    r = np.random.default_rng(0)
    part = r.poisson(2, 5_000).astype(float)
    whole = part + r.poisson(1, 5_000)
    whole[[3, 77, 4_000]] = -1
    cells = {"part": part, "whole": whole}
    for most_broken, found in ((0.0, 0), (0.0005, 0), (0.0006, 1), (0.01, 1)):
        table = table_of(cells, most_broken=most_broken)
        orders = find_orders(table)
        assert orders == orders_by_force(cells, most_broken)
        one = suggest_orders(table, *fewest_orders(table, orders, ()))
        assert len(one) == found
        for suggestion in one:
            assert (suggestion.broken, suggestion.rows) == (3, (3, 77, 4_000))


def test_what_few_rows_show_is_counted_in_all() -> None:
    rows = 3 * MOST_TRIED
    part = np.arange(rows) % 50.0
    whole = part + np.arange(rows) % 7
    broken = whole.copy()
    broken[1:300:3] = -1  # between the rows that are tried first
    table = table_of({"part": part, "whole": whole, "broken": broken})
    assert find_orders(table) == [(0, 1), (2, 1)]


def test_a_chain_is_one_text_where_its_parts_are_tested_on_the_same_rows() -> None:
    r = np.random.default_rng(0)
    low = r.poisson(2, 1_000).astype(float)
    middle = low + r.poisson(1, 1_000)
    high = middle + r.poisson(1, 1_000)

    def texts(middle: Any) -> list[tuple[str, int]]:
        table = table_of({"high": high, "low": low, "middle": middle})
        found = fewest_orders(table, find_orders(table), ())
        return [(one.text, one.support) for one in suggest_orders(table, *found)]

    assert texts(middle) == [("low <= middle <= high", 1_000)]
    # Where the middle is missing, nothing says that the lowest is at most the highest.
    some = np.where(np.arange(1_000) % 4 == 0, np.nan, middle)
    assert texts(some) == [("low <= high", 1_000), ("low <= middle <= high", 750)]


def test_orders_that_follow_from_sums_are_left_out() -> None:
    r = np.random.default_rng(0)
    low = r.poisson(2, 1_000).astype(float)
    table = table_of({"low": low, "high": low + r.poisson(1, 1_000)})
    orders = find_orders(table)
    assert fewest_orders(table, orders, ()) == ([], [(0, 1)])
    assert fewest_orders(table, orders, orders) == ([], [])
