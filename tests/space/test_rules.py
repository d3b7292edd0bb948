"""The rules of a space are checked against its features."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from flipset import Feature, InputError, Space

FEATURES = (
    Feature("late_90", "integer", direction=-1, lower=0, upper=9),
    Feature("late_60", "integer", direction=-1, lower=0, upper=9),
    Feature("total", "integer", direction=1, lower=10, upper=20),
    Feature("grade", "ordinal", direction=1, options=("low", "middle", "high")),
    Feature("job", "categorical", options=("none", "clerk")),
    Feature("ratio"),
    Feature("free"),
)


def space(*constraints: str, **how: Any) -> Space:
    return Space(FEATURES, constraints=constraints, **how)


def test_a_space_without_rules_has_none() -> None:
    assert space().rules is None
    assert space().constraints == ()
    assert Space(FEATURES).computed is None


def test_columns_of_rules_are_grouped() -> None:
    made = space("late_90 <= late_60", "job == 'none' implies total <= 15", derived={"ratio": "late_60 / total"})
    assert made.rules is not None
    assert set(made.rules.components) == {frozenset({"late_90", "late_60"}), frozenset({"job", "total"})}
    assert made.rules.parts == (frozenset({"late_90", "late_60", "job", "total", "ratio"}),)
    assert made.constraints == ("late_90 <= late_60", "job == 'none' implies total <= 15")


def test_spaces_with_rules_can_be_copied_and_sent() -> None:
    made = space("late_90 <= late_60", derived={"ratio": "late_60 / total"})
    sent = pickle.loads(pickle.dumps(made))
    assert sent == made
    assert sent.rules == made.rules
    assert made != space("late_90 <= late_60")
    assert made != space("late_60 <= late_90", derived={"ratio": "late_60 / total"})
    narrower = made.with_changes(bounds={"total": (12, 14)})
    assert (narrower.constraints, narrower.derived) == (made.constraints, made.derived)


@pytest.mark.parametrize(
    ("constraint", "problem"),
    [
        ("late_9 <= late_60", r"there is no column 'late_9'; did you mean 'late_90'\?"),
        ("wages <= late_60", "there is no column 'wages'; the columns are 'late_90', 'late_60'"),
        ("late_90 == 0 implies wages == 0", "there is no column 'wages'"),
        ("if late_90 moves then wages moves", "there is no column 'wages'"),
        ("job <= late_60", "computes with the column 'job', which is categorical"),
        ("grade <= late_60", "computes with the column 'grade', which is ordered labels, such as 'low'"),
        ("total <= late_60", "cannot be kept: within the bounds of its columns, total .*-late_60 is at least 1"),
        ("late_90 < 0", "cannot be kept: .* late_90 is at least 0, and would have to be less than 0"),
        ("grade > 'low' implies total >= 12", "would be the order of the alphabet"),
        ("total >= 12 implies job < 'none'", "would be the order of the alphabet"),
        ("total == 'none' implies late_90 == 0", "compares 'total', a column of numbers, with the text 'none'"),
    ],
)
def test_constraints_that_are_refused(constraint: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        space(constraint)


@pytest.mark.parametrize(
    "constraint",
    [
        "grade == 'low' implies total >= 12",
        "total >= 12 implies job in ['none', 'clerk']",
        "free <= late_60",
        "free == 'x' implies late_60 == 0",
        "total <= late_60 + 1",
    ],
)
def test_constraints_that_are_taken(constraint: str) -> None:
    assert space(constraint).constraints == (constraint,)


@pytest.mark.parametrize("given", ["late_90 <= late_60", 3, None])
def test_constraints_are_a_list(given: Any) -> None:
    with pytest.raises(InputError, match="constraints must be a list of texts"):
        Space(FEATURES, constraints=given)


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({"derived": {"total": "late_90 + late_60"}}, "the derived column 'total' cannot move by itself"),
        ({"follows": {"total": "total + late_60"}}, "the follower 'total' cannot move by itself"),
        ({"derived": {"job": "late_90 + late_60"}}, "the derived column 'job' cannot move by itself"),
        (
            {"derived": {"ratio": "job / total"}},
            "the derived column 'ratio' computes with the column 'job', which is cat",
        ),
        ({"derived": {"ratio": "wages / total"}}, "there is no column 'wages'"),
    ],
)
def test_computed_columns_that_are_refused(how: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        space(**how)


def test_a_constraint_about_a_sum_is_one_about_its_parts() -> None:
    made = space("ratio <= total", derived={"ratio": "late_90 + late_60"})
    assert made.rules is not None
    assert made.rules.constraints[0].columns == ("late_90", "late_60", "total")
    assert made.rules.constraints[0].text == "ratio <= total"


@pytest.mark.parametrize(
    ("constraint", "how", "problem"),
    [
        (
            "ratio <= 1",
            {"derived": {"ratio": "late_60 / total"}},
            "'ratio', which is no sum of columns; write it about",
        ),
        ("ratio == 1 implies total == 12", {"derived": {"ratio": "late_60 + total"}}, "is about the computed column"),
        ("if ratio moves then total moves", {"derived": {"ratio": "late_60 + total"}}, "is about the computed column"),
        ("ratio <= 1", {"follows": {"ratio": "2 * total"}}, "no sum of columns that gives 'ratio' its own value where"),
    ],
)
def test_what_cannot_be_said_about_computed_columns(constraint: str, how: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        space(constraint, **how)
