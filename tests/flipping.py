"""Spaces with the least cost of a row that flips, by the units that change in it: what options are checked against."""

from fractions import Fraction
from typing import Any

import pytest

from flipset import Explainer, Explanation
from tests.spaces import Case

SEEDS = [range(80), *(pytest.param(range(k, k + 100), marks=pytest.mark.campaign) for k in range(80, 1080, 100))]


def flipping(case: Case) -> dict[frozenset[str], Fraction]:
    """The least cost of a row that flips, by the units that change in it."""
    found: dict[frozenset[str], Fraction] = {}
    for row in case.every_row():
        if row != case.row and (case.score(row) >= 0.5) != case.decision:
            moved = case.changed(row)
            found[moved] = min(case.cost_of(row), found.get(moved, case.cost_of(row)))
    return found


def explain(case: Case, **request: Any) -> Explanation:
    e: Explanation = Explainer(case.predict, case.space, cost=case.cost).explain(case.row, **request)
    return e
