"""Steps and bounds off the grid: sets, cheapest values and costs equal the enumeration of the stated grid.

The grid here is stated in decimals and listed one multiple after the other: the multiples of the step between the
bounds, each as its column holds it. Nothing of flipset's own idea of paths is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Explanation, Feature, Space, flipset_check

BIG = 1 << 61


@dataclass(frozen=True)
class Column:
    """One column of a case, with its grid as the documentation states it."""

    feature: Feature
    cells: Any
    values: tuple[Any, ...]


class Case:
    """A random space with steps, its table, and an additive model."""

    def __init__(self, seed: int) -> None:
        rng = Random(f"steps/{seed}")
        self.columns = [draw_column(rng, f"x{i}") for i in range(rng.choice([1, 2, 2, 3, 3, 4]))]
        while prod(len(one.values) + 1 for one in self.columns) > 2_000:  # every row is listed
            del self.columns[-1]
        self.table = pd.DataFrame({one.feature.name: one.cells for one in self.columns})
        self.space = Space([one.feature for one in self.columns], reference=self.table)
        self.parts: dict[tuple[int, Any], Fraction] = {}
        self.weights = [rng.choice([1, 1, 2, 3]) for _ in self.columns]
        i = rng.randrange(len(self.table))
        self.row = tuple(self.table[name].tolist()[i] for name in self.table)
        self.frame = self.table.iloc[[i]]
        # The threshold lies between scores of the grid, and sometimes at one of them.
        every = sorted({self.score(row) for row in product(*(one.values or (0,) for one in self.columns))})
        self.threshold = rng.choice(every) if every else 0.0
        self.explainer = Explainer(self.predict, self.space, threshold=self.threshold)

    def score(self, row: Any) -> float:
        return float(round(sum(self.part(i, value) for i, value in enumerate(row)), 6))

    def part(self, i: int, value: Any) -> Fraction:
        if (i, value) not in self.parts:
            feature = self.columns[i].feature
            lower, upper = Fraction(str(feature.lower)), Fraction(str(feature.upper))
            self.parts[i, value] = (
                (feature.direction or 0) * self.weights[i] * (Fraction(value) - lower) / (upper - lower)
            )
        return self.parts[i, value]

    def predict(self, rows: Any) -> Any:
        columns = [rows[name].tolist() for name in rows]
        return np.array([self.score(row) for row in zip(*columns, strict=True)])

    @property
    def decision(self) -> bool:
        return self.score(self.row) >= self.threshold

    def reachable(self, i: int) -> list[Any]:
        """The values that a column may move to for the other decision, the nearest first."""
        column, value = self.columns[i], self.row[i]
        rising = (column.feature.direction == 1) != self.decision
        found = [one for one in column.values if (one > value if rising else one < value)]
        return sorted(found, reverse=not rising)

    def cost(self, i: int, value: Any) -> Fraction:
        """The share of the table that a change passes or reaches."""
        seen, before = self.columns[i].cells.tolist(), self.row[i]
        passed = [one for one in seen if (before < one <= value if value > before else value <= one < before)]
        return Fraction(len(passed), len(seen))


def draw_column(rng: Random, name: str) -> Column:
    kind = rng.choice(["decimal", "decimal", "float32", "integer", "big"])
    direction: Any = rng.choice([1, -1])
    if kind in ("integer", "big"):
        middle = BIG if kind == "big" else rng.randrange(-20, 20)
        step = rng.choice([1, 3, 5, 10])
        lower, upper = middle - rng.randrange(20), middle + rng.randrange(10, 20)
        cells = np.array([middle + rng.randrange(-30, 30) for _ in range(8)], dtype=np.int64)
        feature = Feature(name, "integer", direction=direction, lower=lower, upper=upper, step=step)
        return Column(feature, cells, tuple(k * step for k in range(-(-lower // step), upper // step + 1)))
    digits = Decimal(rng.choice(["0.1", "0.05", "0.3", "0.25", "2.5", "0.7"]))
    low, high = sorted([Decimal(rng.randrange(-300, 300)) / 100, Decimal(rng.randrange(-300, 300)) / 100])
    high += digits  # at least one multiple lies between
    dtype: Any = np.dtype("float32" if kind == "float32" else "float64")
    first = (low / digits).to_integral_value(ROUND_CEILING)
    last = (high / digits).to_integral_value(ROUND_FLOOR)
    values = tuple(float(dtype.type(str(k * digits))) for k in range(int(first), int(last) + 1))
    some = [str(Decimal(rng.randrange(-500, 500)) / 100) for _ in range(5)]
    on_grid = [str(rng.randrange(-9, 9) * digits) for _ in range(3)]
    cells = np.array([dtype.type(text) for text in some + on_grid], dtype=dtype)
    feature = Feature(name, direction=direction, lower=float(low), upper=float(high), step=float(digits))
    return Column(feature, cells, values)


def is_multiple(value: Any, column: Column) -> bool:
    """Say whether a value, as it is told, is a multiple of the step."""
    step = Decimal(str(column.feature.step))
    text = str(np.float32(value)) if column.cells.dtype == np.float32 else str(value)
    return Decimal(text) % step == 0


SEEDS = range(160)


@pytest.mark.parametrize("seeds", [SEEDS[i::4] for i in range(4)], ids=str)
def test_sets_values_and_costs_are_those_of_the_grid(seeds: range) -> None:
    flipped = 0
    for seed in seeds:
        case = Case(seed)
        d = len(case.columns)
        e = case.explainer.explain(case.frame, batch=(1, 8, 32)[seed % 3])
        grids = [case.reachable(i) for i in range(d)]
        turned: dict[frozenset[int], list[tuple[Fraction, tuple[int, ...], tuple[Any, ...]]]] = {}
        for places in product(*(range(len(grid) + 1) for grid in grids)):
            row = tuple(grids[i][j - 1] if j else case.row[i] for i, j in enumerate(places))
            if (case.score(row) >= case.threshold) != case.decision:
                moved = frozenset(i for i, j in enumerate(places) if j)
                cost = sum((case.cost(i, row[i]) for i in moved), Fraction(0))
                turned.setdefault(moved, []).append((cost, places, row))
        if not turned:
            assert e.status == "none", seed
            continue
        flipped += 1
        size = min(map(len, turned))
        smallest = {moved: min(rows) for moved, rows in turned.items() if len(moved) == size}
        names = case.space.names
        assert set(map(frozenset, e.flipsets)) == {frozenset(names[i] for i in moved) for moved in smallest}, seed
        for one in e.counterfactuals:
            cost, _, row = smallest[frozenset(map(names.index, one.flipset))]
            assert tuple(one.row.values()) == row, seed
            assert one.cost == float(cost), seed
            for change in one.changes:
                column = case.columns[names.index(change.feature)]
                assert is_multiple(change.after, column), (seed, change)
                assert Decimal(change.after_text.split()[-1]) % Decimal(str(column.feature.step)) == 0
        assert case.explainer.verify(e), seed
        checked = flipset_check.read_explanation(flipset_check.parse(e.to_json().encode()))
        found = flipset_check.Findings()
        for check in (flipset_check.check_claims, flipset_check.check_proof, flipset_check.check_counterfactuals):
            check(checked, found)
        assert not found.problems, seed
    assert flipped > len(seeds) / 4


@pytest.mark.parametrize("seed", range(0, 160, 20))
def test_every_path_gives_the_same(seed: int) -> None:
    case = Case(seed)
    alone = [case.explainer.explain(case.table.iloc[[i]], batch=1) for i in range(len(case.table))]
    hows: list[dict[str, Any]] = [{}, {"width": 2}, {"batch": 64}, {"max_queries": 10**6}]
    for how in hows:
        for one, other in zip(alone, case.explainer.explain_table(case.table, **how), strict=True):
            assert isinstance(other, Explanation)
            assert (one.flipsets, one.counterfactuals) == (other.flipsets, other.counterfactuals)


def test_a_table_tells_round_numbers_by_default() -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"income": rng.lognormal(10.5, 0.5, 500).round(2), "ratio": rng.beta(2, 3, 500)})
    space = Space.from_frame(table, increasing=["income"], decreasing=["ratio"])
    assert (space["income"].step, space["ratio"].step) == (200, 0.002)
    explainer = Explainer(lambda rows: rows["income"] / 1e5 - rows["ratio"], space, threshold=0.2)
    for e in explainer.explain_table(table[:60]):
        assert isinstance(e, Explanation)
        for one in e.counterfactuals:
            for change in one.changes:
                assert Decimal(str(change.after)) % Decimal(str(space[change.feature].step)) == 0
    assert Space.from_frame(table, increasing=["income"], steps="seen")["income"].step is None
