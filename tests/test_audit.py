"""Audits: what is wrong is found, what is right is not blamed, and the budget is kept."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Feature, InputError, Space

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
