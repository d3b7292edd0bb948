"""The rules of explanations read from JSON."""

from typing import Any

import pytest

from flipset.boundary.reading import Field
from flipset.errors import InputError
from flipset.results.rules_from_json import read_rules
from flipset.space.row_rules import RowConstraint
from flipset.space.told_rules import Steps, ToldRules

ROW = {"a": 1, "b": 2, "dti": 0.5, "age": 30}
RULES: dict[str, Any] = {
    "constraints": [{"text": "a <= b", "broken": False}],
    "derived": {"dti": None},
    "follows": {"age": "age + (a - a.before)"},
    "codes": {"a": [-7]},
    "stops": {"a": [2, 3], "b": {"first": 3, "last": 9, "step": 1}},
}


def test_rules_are_read() -> None:
    assert read_rules(Field(RULES, "rules"), ROW) == ToldRules(
        (RowConstraint("a <= b", False),),
        {"dti": None},
        {"age": "age + (a - a.before)"},
        {"a": (-7,)},
        {"a": (2, 3), "b": Steps(3, 9, 1)},
    )


@pytest.mark.parametrize(
    ("part", "value", "problem"),
    [
        ("stops", {"a": []}, "in order"),
        ("stops", {"a": [2, 2]}, "in order"),
        ("stops", {"a": [2, 4, 3]}, "in order"),
        ("stops", {"a": [2, "x"]}, "in order"),
        ("stops", {"a": {"first": 1, "last": 5, "step": 0}}, "steps that lead"),
        ("stops", {"a": {"first": 1, "last": 5, "step": -1}}, "steps that lead"),
        ("stops", {"z": [1]}, "which is not a column of the row"),
        ("derived", {"z": "a"}, "which is not a column of the row"),
        ("follows", {"age": 3}, "rules.follows"),
        ("constraints", [{"text": "a <= b"}], "'broken'"),
        ("codes", {"a": 3}, "must be a list"),
    ],
)
def test_malformed_rules_are_refused(part: str, value: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_rules(Field({**RULES, part: value}, "rules"), ROW)
