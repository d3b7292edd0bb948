"""What could move, and where the decision turns, are those of the space and of whoever verifies."""

from dataclasses import replace

from flipset import Feature, Space
from flipset.results.verifying.allowed import check_space, check_threshold
from flipset.results.verifying.findings import Findings, Terms
from tests.results.examples import SPACE, data_of, explained

E_ = data_of(explained())


def space_problems(space: Space | None) -> Findings:
    found = Findings()
    check_space(E_, Terms(space=space), found)
    return found


def test_the_space_that_it_was_made_with_has_no_problem() -> None:
    found = space_problems(SPACE)
    assert found.problems == []
    assert {"moves", "held_fixed"} <= set(found.checked)


def test_another_range_order_weight_or_column_is_noticed() -> None:
    income, debt, age = SPACE.features
    for features, words in (
        ([replace(income, upper=8), debt, age], "'income' could become income=9"),
        ([replace(income, fixed=True), debt, age], "could move, and in this space 'debt' can"),
        ([replace(income, weight=2), debt, age], "'income' weighs 1, and in this space 2"),
        ([replace(income, may_become=(-7,), special=(-7,)), debt, age], "has an order in only one"),
        ([debt, income, age], "its columns are not those of the space"),
        ([income, debt, Feature("age", "integer", direction=+1, lower=0, upper=99)], "could move, and in this space"),
    ):
        found = space_problems(Space(features))
        assert any(words in problem for problem in found.problems), (words, found.problems)


def test_without_a_space_it_is_taken_from_the_explanation_and_said_so() -> None:
    found = space_problems(None)
    assert found.problems == []
    assert set(found.not_checked) == {"moves", "held_fixed"}


def test_the_threshold_is_compared_where_it_is_known() -> None:
    for threshold, holds in ((E_.threshold, True), (0.7, False)):
        found = Findings()
        check_threshold(E_, Terms(threshold=threshold), found)
        assert (found.problems == []) == holds
        assert found.checked == ["threshold"]
    found = Findings()
    check_threshold(E_, Terms(), found)
    assert "threshold" in found.not_checked
