"""Audits: what is wrong is found, what is right is not blamed, and the budget is kept."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Feature, InputError, OracleError, Space

SPACE = Space(
    [
        Feature("up", direction=+1, lower=0, upper=10),
        Feature("down", "integer", direction=-1, lower=0, upper=10, special=(-7,)),
        Feature("grade", "ordinal", direction=+1, options=("low", "middle", "high")),
        Feature("fixed", direction=+1, lower=0, upper=1, fixed=True),
    ]
)
ROWS = [[3.0, 4, "low", 0.5], [9.0, -7, "middle", 0.1], [12.0, None, "high", 0.0]]


def place(grade: Any) -> int:
    return ("low", "middle", "high").index(grade)


def honest(rows: Any) -> Any:
    ordinary = [0 if row[1] in (-7, None) or row[1] != row[1] else row[1] for row in rows]
    return np.array([row[0] - debt + place(row[2]) for row, debt in zip(rows, ordinary, strict=True)])


def test_a_monotone_model_passes() -> None:
    audit = Explainer(honest, SPACE).audit(ROWS)
    assert audit.passed
    assert [finding.name for finding in audit.features] == ["up", "down", "grade"]
    assert all(finding.held == 1.0 and finding.pairs > 0 for finding in audit.features)
    assert "no contradiction found" in str(audit)


@pytest.mark.parametrize("name", ["up", "down", "grade"])
def test_a_direction_that_does_not_hold_is_found_with_rows_to_show(name: str) -> None:
    column = SPACE.position(name)

    def wrong(rows: Any) -> Any:
        scores = honest(rows)
        for j, row in enumerate(rows):
            bad = {"up": row[0] > 6, "down": row[1] in (0, 1), "grade": row[2] == "high"}[name]
            scores[j] -= 20 * bad
        return scores

    explainer = Explainer(wrong, SPACE)
    audit = explainer.audit(ROWS)
    assert not audit.passed
    finding = next(finding for finding in audit.features if finding.name == name)
    assert 0 < finding.held < 1
    witness = finding.worst
    assert witness is not None
    assert witness.features == (name,)
    assert witness.fall > 10
    low, high = explainer.predict(np.array([list(witness.row.values()), list(witness.better.values())], dtype=object))
    assert (low, high) == (witness.score, witness.better_score)
    better = place(witness.better[name]) > place(witness.row[name]) if name == "grade" else (
        (witness.better[name] - witness.row[name]) * (SPACE.features[column].direction or 0) > 0
    )  # fmt: skip
    assert better
    assert all(f.worst is None for f in audit.features if f.name != name)
    assert "NOT MONOTONE" in str(audit)


def test_the_budget_is_kept_and_counted() -> None:
    asked = 0

    def predict(rows: Any) -> Any:
        nonlocal asked
        asked += len(rows)
        return honest(rows)

    for budget in (1, 20, 50, 1000):
        asked = 0
        audit = Explainer(predict, SPACE).audit(ROWS * 20, budget=budget)
        assert asked == audit.queries <= budget


def test_the_same_audit_twice_and_rounding_is_no_contradiction() -> None:
    frame = pd.DataFrame({"x": np.linspace(0, 1, 50), "y": np.linspace(1, 0, 50)})
    space = Space.from_frame(frame, increasing=["x", "y"])
    noise = Explainer(lambda rows: 1.0 + 1e-16 * np.sin(1e6 * rows["x"]), space)
    assert noise.audit(frame) == noise.audit(frame)
    assert noise.audit(frame).passed


def test_an_audit_needs_rows() -> None:
    with pytest.raises(InputError, match="at least one row"):
        Explainer(honest, SPACE).audit([])


def ones(count: int) -> Space:
    return Space([Feature(f"x{i}", direction=+1, lower=0, upper=1) for i in range(count)])


def test_a6_equal_infinities_are_in_order_and_hide_nothing() -> None:
    space = Space([Feature("x", "integer", direction=+1, lower=0, upper=4)])
    steps = {0: -np.inf, 1: -np.inf, 2: 0.0, 3: np.inf, 4: np.inf}
    assert Explainer(lambda rows: np.array([steps[x] for x in rows[:, 0]]), space).audit([[2]]).passed
    for scores in ([0, 5, -np.inf, 6, 7], [np.inf, np.inf, 3, 4, 5], [-np.inf, -np.inf, 1, 0, np.inf]):
        audit = Explainer(lambda rows, s=scores: np.array([s[int(x)] for x in rows[:, 0]]), space).audit([[2]])
        finding = audit.features[0]
        wrong = sum(a > b for a, b in pairwise(scores))
        assert (finding.pairs, finding.in_order) == (4, 4 - wrong)
        assert finding.worst is not None
        assert finding.worst.fall > 0
        assert not audit.passed


def test_a6_a_score_that_is_nan_is_an_error() -> None:
    explainer = Explainer(lambda rows: np.where(rows[:, 0] == 1, np.nan, rows[:, 0]), ones(1))
    with pytest.raises(OracleError, match="NaN"):
        explainer.audit([[0.0]])


def test_a6_nothing_compared_is_not_passed() -> None:
    audit = Explainer(lambda rows: rows.sum(axis=1), ones(3)).audit([[0.0] * 3], budget=1)
    assert (audit.passed, audit.queries, audit.not_compared, audit.least_budget) == (False, 1, ("x0", "x1", "x2"), 4)
    assert str(audit).splitlines()[0] == "1 query: NOT AUDITED, nothing was compared"
    assert str(audit).splitlines()[-1] == "Not compared: x0, x1, x2. The budget must be at least 4 queries."


@pytest.mark.parametrize("budget", range(1, 40))
def test_a6_a_small_budget_is_spread_over_the_features(budget: int) -> None:
    seen: list[tuple[float, ...]] = []

    def total(rows: Any) -> Any:
        seen.extend(map(tuple, rows.tolist()))
        return rows.sum(axis=1)

    audit = Explainer(total, ones(5)).audit([[0.0] * 5, [0.5] * 5], budget=budget)
    compared = sum(finding.pairs > 0 for finding in audit.features)
    assert compared == min(5, budget - 1)
    assert audit.passed == (budget >= audit.least_budget == 6)
    assert len(seen) == audit.queries <= budget
    assert len(set(seen)) == len(seen)  # no row is asked twice
    assert (audit.chains.pairs > 0) == (budget >= 7)


def test_a6_an_audit_with_thousands_of_features_compares_what_the_budget_allows() -> None:
    audit = Explainer(lambda rows: rows.sum(axis=1), ones(17_000)).audit(np.zeros((2, 17_000)), budget=200)
    assert (audit.queries, audit.least_budget, audit.passed) == (200, 17_001, False)
    assert len(audit.not_compared) == 17_000 - 199
    assert "x199, x200, x201, x202, x203, x204, x205, x206 and 16,793 more" in str(audit)
    wide = Explainer(lambda rows: rows.sum(axis=1) - 9 * rows[:, 7], ones(300)).audit(np.zeros((1, 300)), budget=301)
    assert [finding.name for finding in wide.features if finding.worst] == ["x7"]
    assert not wide.not_compared


def test_a6_chains_of_many_features_move_several_in_one_step() -> None:
    audit = Explainer(lambda rows: rows.sum(axis=1), ones(200)).audit(np.zeros((1, 200)))
    assert (audit.passed, audit.chains.pairs) == (True, 64)


def test_a6_a_feature_with_one_value_is_named() -> None:
    space = Space([Feature("x", direction=+1, lower=0, upper=9), Feature("same", direction=+1, lower=5, upper=5)])
    explainer = Explainer(lambda rows: rows.sum(axis=1), space)
    audit = explainer.audit([[1.0, 5.0], [2.0, 5.0]])
    assert (audit.passed, audit.one_value) == (False, ("same",))
    assert "No budget compares same: one value in all rows, and no other allowed." in str(audit)
    assert explainer.audit([[1.0, 5.0], [2.0, 3.0]]).passed  # there it can move


def test_a6_no_feature_to_audit_is_not_passed() -> None:
    audit = Explainer(lambda rows: rows[:, 0], Space([Feature("x", fixed=True)])).audit([[1.0]])
    assert not audit.passed
    assert "there is nothing to audit" in str(audit)


def test_b13_columns_align_for_long_names() -> None:
    space = Space([Feature("n" * size, direction=+1, lower=0, upper=9) for size in (3, 26, 27, 60)])
    lines = str(Explainer(lambda rows: rows.sum(axis=1), space).audit([[1.0] * 4])).splitlines()[1:]
    assert len({line.index("% of") for line in lines if "pairs in order" in line}) == 1
