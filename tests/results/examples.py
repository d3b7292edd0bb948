"""Explanations as data: what the rooms before `explain` are given, without the methods that users have."""

from dataclasses import fields
from typing import Any

from flipset import Explainer, Explanation, Feature, Space
from flipset.results.data import ExplanationData

SPACE = Space(
    [
        Feature("income", "integer", direction=+1, lower=0, upper=9),
        Feature("debt", "integer", direction=-1, lower=0, upper=9),
        Feature("age", fixed=True),
    ]
)


def approve(rows: Any) -> Any:
    return rows[:, 0] - rows[:, 1] >= 6


EXPLAINER = Explainer(approve, SPACE)


def explained(income: int = 4, debt: int = 5) -> Explanation:
    return EXPLAINER.explain([income, debt, 50])


def data_of(e: Explanation) -> ExplanationData:
    return ExplanationData(**{field.name: getattr(e, field.name) for field in fields(e)})
