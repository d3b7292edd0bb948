"""What a verification finds on the way: each field checked, listed with a reason, or not reached."""

from math import nan
from typing import Any

import pytest

from flipset.results.data import ExplanationData
from flipset.results.verifying.findings import FIELDS, MOST_PROBLEMS, Findings, differences, listed, named, same


def test_every_field_of_an_explanation_is_on_the_list() -> None:
    assert set(FIELDS) == set(ExplanationData.__dataclass_fields__)


def test_every_field_ends_as_checked_or_as_not_checked() -> None:
    found = Findings()
    found.checked += ["score", "decision"]
    found.not_checked["moves"] = "no space"
    result = found.result()
    assert result.checked == ("decision", "score")  # in the order of the fields
    assert set(result.checked) | set(result.not_checked) == set(FIELDS)
    assert result.not_checked["moves"] == "no space"
    assert "not reached" in result.not_checked["proof"]
    assert result


def test_a_problem_and_an_open_question_end_it() -> None:
    found = Findings()
    assert found.check(True, "never")
    assert not found.is_over
    assert not found.check(False, "score: wrong")
    assert found.is_over
    assert not found.result()
    found = Findings()
    found.leave_undecided("too many steps")
    assert found.result().not_checked["proof"] == "too many steps"
    assert found.result().not_checked["score"] == "not reached, because an earlier stage was not decided"
    assert found.is_over
    assert not found.result()
    assert found.result().problems == ()


def test_not_all_of_very_many_problems_are_told() -> None:
    found = Findings()
    for i in range(MOST_PROBLEMS + 50):
        found.check(False, f"problem {i}")
    assert len(found.result().problems) == MOST_PROBLEMS


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [(1, 1.0, True), (nan, nan, True), (True, 1, False), (None, None, True), (0.5, nan, False), ("a", "a", True)],
)
def test_cells_are_the_same_by_value_but_true_is_not_1(a: Any, b: Any, alike: bool) -> None:
    assert same(a, b) == same(b, a) == alike


def test_differences_are_cells_by_column() -> None:
    assert differences({"a": 1, "b": nan, "c": "x"}, {"a": 1.0, "b": nan, "c": "y"}) == ((2, "y"),)


def test_long_lists_are_cut() -> None:
    assert named(["a"]) == "'a'"
    assert named([]) == "nothing"
    assert named([str(i) for i in range(9)]).endswith("and 3 more")
    assert listed(((0, 1.0), (1, None)), ("a", "b")) == "a=1, b=missing"
