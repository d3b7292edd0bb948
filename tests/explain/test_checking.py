"""Audits, verification and rechecks, as methods of an explainer."""

import pytest

from flipset import Explainer, Feature, InputError, Space
from flipset.explain.checking import CheckedModel

SPACE = Space([Feature("income", "integer", direction=+1, lower=0, upper=9)])
EXPLAINER = Explainer(lambda rows: rows[:, 0] >= 6, SPACE)


def test_an_explainer_is_a_checked_model() -> None:
    assert isinstance(EXPLAINER, CheckedModel)
    e = EXPLAINER.explain([3])
    assert EXPLAINER.verify(e)
    assert EXPLAINER.audit([[3], [7]]).passed
    (again,) = EXPLAINER.recheck([e])
    assert again.holds


def test_only_explanations_are_verified() -> None:
    with pytest.raises(InputError, match="verify takes an Explanation, got str"):
        EXPLAINER.verify("why.json")  # type: ignore[arg-type]


def test_an_audit_needs_rows() -> None:
    with pytest.raises(InputError, match="at least one row"):
        EXPLAINER.audit([])
