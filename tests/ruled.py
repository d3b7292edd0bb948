"""A space with rules of every kind, a model for it, and rows: for tests of what people see of rules.

Late payments of 90 days are late payments of 60 days, satisfactory accounts are accounts, the debt-to-income ratio is
computed, and age goes with the years at an address.
"""

from typing import Any

import pandas as pd

from flipset import Decision, Explainer, Feature, Space

CONSTRAINTS = ("late_90 <= late_60", "satisfactory <= total")
DERIVED = {"dti": "debt / income"}
FOLLOWS = {"age": "age + (years - years.before)"}

ROW = {
    "late_60": 3, "late_90": 2, "satisfactory": 4, "total": 6, "income": 40.0, "debt": 30.0, "dti": 0.75, "years": 1,
    "age": 30,
}  # fmt: skip
"""A row that is declined, and keeps all rules."""

BROKEN = ROW | {"late_90": 4}
"""The same row with more late payments of 90 days than of 60 days."""

FIXED = {"total", "dti", "age"}


def ruled_space(*, with_rules: bool = True, **further: Any) -> Space:
    """Return the space; without rules, the computed columns are held fixed."""
    features = [
        Feature("late_60", "integer", direction=-1, lower=0, upper=6),
        Feature("late_90", "integer", direction=-1, lower=0, upper=6),
        Feature("satisfactory", "integer", direction=+1, lower=0, upper=30),
        Feature("total", "integer", fixed=True),
        Feature("income", direction=+1, lower=10, upper=120, step=1),
        Feature("debt", direction=-1, lower=0, upper=60, step=1),
        Feature("dti", fixed=True, label="debt-to-income ratio"),
        Feature("years", "integer", direction=+1, lower=0, upper=10),
        Feature("age", "integer", fixed=True, unit="years"),
    ]
    rules: dict[str, Any] = {"constraints": CONSTRAINTS, "derived": DERIVED, "follows": FOLLOWS} if with_rules else {}
    return Space(features, reference=table(), decision=Decision(threshold=0.5), **rules, **further)


def table() -> pd.DataFrame:
    """Return some rows: the last breaks a constraint."""
    rows = []
    for i in range(8):
        income, debt = 30.0 + 5 * i, 40.0 - 2 * i
        row = {"late_60": 4 - i // 2, "late_90": max(0, 2 - i // 2), "satisfactory": i, "total": i + 2}
        rows.append(row | {"income": income, "debt": debt, "dti": debt / income, "years": i, "age": 25 + i})
    return pd.DataFrame([*rows, ROW, BROKEN])


def score(rows: Any) -> Any:
    """Score rows of the space; an array has its columns in their order."""
    if isinstance(rows, pd.DataFrame):
        rows = rows.to_numpy(dtype=float)
    late_60, late_90, satisfactory, _, income, _, dti, years, age = (rows[:, i].astype(float) for i in range(9))
    points = income - 60 * dti - 6 * late_60 - 6 * late_90 + 2 * satisfactory + 2 * years + 0.2 * age
    return 0.5 + (points - 25) / 200


def ruled_explainer(**further: Any) -> Explainer:
    """Return the explainer of the model."""
    return Explainer(score, ruled_space(**further))
