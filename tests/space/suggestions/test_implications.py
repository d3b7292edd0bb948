"""Implications are compared with every pair of conditions: all that hold follow, and none follows from the others."""

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset.space.suggestions.evidence import MOST_KEPT, is_rare
from flipset.space.suggestions.implications import conditions_of, suggest_implications
from tests.space.suggestions.tables import check_counts, table_of
from tests.space.suggestions.test_graph import leads

R = np.random.default_rng(0)
N = 1_000
FLAG = R.integers(0, 2, N)
MONEY = R.lognormal(8, 1, N).round(2)


def texts(cells: dict[str, Any], most_broken: float = 0.001, **others: Any) -> list[str]:
    table = table_of(cells, most_broken=most_broken)
    suggestions = suggest_implications(table, others.get("orders", ()), others.get("one_hot", ()))
    for one in suggestions:
        check_counts(pd.DataFrame(cells), one)
    return [one.text for one in suggestions]


def test_a_flag_and_an_amount() -> None:
    balance = np.where((FLAG == 1) & (R.random(N) < 0.7), MONEY, 0)
    assert texts({"balance": balance, "has": FLAG}) == ["has == 0 implies balance == 0"]
    # Both directions, where both hold.
    assert texts({"balance": FLAG * MONEY, "has": FLAG}) == [
        "balance == 0 implies has == 0",
        "has == 0 implies balance == 0",
    ]


def test_texts_and_truth_values() -> None:
    kind = np.where(FLAG == 1, np.where(MONEY > 3_000, "car", "home"), "none")
    assert texts({"kind": kind, "has": FLAG == 1}) == [
        'kind == "none" implies has == 0',
        'has == 0 implies kind == "none"',
    ]
    is_open = np.where(FLAG * (MONEY > 2_000) == 1, "yes", "no")
    assert texts({"is open": is_open, "has": FLAG}) == ['`is open` == "yes" implies has == 1']


def test_amounts_below_0() -> None:
    change = np.where(FLAG == 1, MONEY - 5_000, 0)
    assert texts({"change": change, "size": np.where(FLAG == 1, 0.0, MONEY)}) == [
        "change == 0 implies size > 0",
        "change != 0 implies size == 0",
    ]


def test_unrelated_columns_imply_nothing() -> None:
    cells = {f"f{i}": R.integers(0, 2 + i, N) for i in range(6)} | {"rare": R.random(N) < 0.01, "money": MONEY}
    assert texts(cells) == []


def test_a_few_rows_may_break_it() -> None:
    balance = FLAG * MONEY
    balance[np.flatnonzero(FLAG == 0)[:2]] = 5
    cells = {"has": FLAG, "balance": balance}
    assert texts(cells, 0) == ["balance == 0 implies has == 0"]
    table = table_of(cells, most_broken=0.01)
    broken = {one.text: (one.broken, one.rows) for one in suggest_implications(table, (), ())}
    first = tuple(np.flatnonzero(FLAG == 0)[:2].tolist())
    assert broken == {"has == 0 implies balance == 0": (2, first), "balance == 0 implies has == 0": (0, ())}


def test_what_follows_from_orders_and_groups_is_left_out() -> None:
    few, more = R.poisson(1, N), R.poisson(1, N)
    more = more + few
    many = {"few": few * 10, "more": more * 10}
    assert "more == 0 implies few == 0" in texts(many)
    assert texts(many, orders=[(0, 1)]) == []
    third = R.integers(0, 3, N)
    hot = {f"is_{i}": (third == i).astype(int) for i in range(3)}
    assert len(texts(hot)) == 3
    assert texts(hot, one_hot=[(0, 1, 2)]) == []


def random_table(seed: int, *, missing: bool) -> dict[str, Any]:
    r = np.random.default_rng(seed)
    n = int(r.integers(3, 6))
    base = r.integers(0, 2, (300, 3)).astype(float)
    cells: dict[str, Any] = {}
    for i in range(n):
        kind = r.integers(0, 4)
        used = base[:, r.random(3) < 0.6]
        joined = used.min(axis=1, initial=1) if r.random() < 0.5 else used.max(axis=1, initial=0)
        if kind == 2:
            joined = joined * r.integers(1, 9, 300)  # an amount, mostly 0
        if kind == 3:
            joined = joined + base[:, 0]  # three values
        cells[f"c{i}"] = joined
    for name in list(cells):
        if missing and r.random() < 0.6:
            hidden = r.random(300) < 0.2 if r.random() < 0.5 else base[:, 2] == 0
            cells[name] = np.where(hidden, np.nan, cells[name])
    return cells


class Force:
    """The conditions of a table, and which of them are never both true, looked at row by row."""

    def __init__(self, cells: dict[str, Any]) -> None:
        self.values = np.array(list(cells.values()))
        self.is_there = ~np.isnan(self.values)
        self.table = table_of(cells, most_broken=0)
        conditions = conditions_of(self.table)
        both = [(one, k) for one in conditions for k in (0, 1)]
        self.said = {one.texts[k]: i for i, (one, k) in enumerate(both)}
        self.place = [one.place for one, _ in both]
        equal = [self.values[one.place] == one.value for one, _ in both]
        self.true = [e ^ bool(k) & self.is_there[one.place] for e, (one, k) in zip(equal, both, strict=True)]
        # A column has one value.
        self.own = [
            (i, j + 1)
            for i, j in product(range(0, len(both), 2), repeat=2)
            if i != j and self.place[i] == self.place[j]
        ]

    def arrows(self, text: str) -> list[tuple[int, int]]:
        u, v = (self.said[part] for part in text.split(" implies "))
        return [(u, v), (v ^ 1, u ^ 1)]

    def allowed(self, there: Any) -> int:
        return sum(1 << i for i, place in enumerate(self.place) if there[place])

    def patterns(self, rows: Any) -> set[tuple[bool, ...]]:
        """Return which columns are there in some rows."""
        return {tuple(row) for row in self.is_there.T[rows].tolist()}

    def never_both(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs that are never both true, which says something."""
        for u, v in combinations(range(len(self.place)), 2):
            rows = self.is_there[self.place[u]] & self.is_there[self.place[v]]
            if self.place[u] == self.place[v] or not rows.any() or (self.true[u] & self.true[v]).any():
                continue
            mine, others = int((self.true[u] & rows).sum()), int((self.true[v] & rows).sum())
            if max(mine, others) > (1 - MOST_KEPT) * rows.sum() and is_rare(0, mine * others / rows.sum(), 0):
                yield u, v


@pytest.mark.parametrize("missing", [False, True])
def test_all_implications_follow_and_none_can_be_left_out(missing: bool) -> None:
    seen = 0
    for seed in range(40):
        cells = random_table(seed, missing=missing)
        force = Force(cells)
        suggestions = suggest_implications(force.table, (), ())
        for one in suggestions[seed % 5 :: 5]:
            check_counts(pd.DataFrame(cells), one)
        rules = [force.arrows(one.text) for one in suggestions]
        arrows = force.own + [arrow for rule in rules for arrow in rule]
        for u, v in force.never_both():
            seen += 1
            rows = force.is_there[force.place[u]] & force.is_there[force.place[v]]
            for there in force.patterns(rows):
                assert leads(arrows, u, v ^ 1, force.allowed(there)), (seed, u, v)
        for rule in rules:
            rest = force.own + [arrow for other in rules if other is not rule for arrow in other]
            u, v = rule[0]
            covered = force.table.covered((force.place[u], force.place[v]))
            through = force.allowed([covered >> i & 1 for i in range(len(cells))])
            assert not leads(rest, u, v, through), (seed, rule)
    assert seen > 200
