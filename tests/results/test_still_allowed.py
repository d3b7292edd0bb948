"""What a space of today allows of an explanation on file: each reason in words."""

from collections.abc import Mapping
from typing import Any

import pytest

from flipset import Explainer, Explanation, Feature, Group, Space
from flipset.results.still_allowed import compare_with_space
from flipset.space.rows import read_row

INCOME = Feature("income", "integer", direction=+1, lower=0, upper=100)
DEBT = Feature("debt", direction=-1, lower=0, upper=100)
HOME = Feature("home", "categorical", options=("rent", "own", "other"))
POINTS = {"rent": 0, "own": 30, "other": 10}


def score(rows: Any) -> list[float]:
    table = rows if isinstance(rows, list) else [list(row) for row in rows]
    return [float(income - debt + POINTS[home]) for income, debt, home in table]


def explained(row: Mapping[str, Any]) -> Explanation:
    return Explainer(score, Space([INCOME, DEBT, HOME]), threshold=50).explain(dict(row))


ROW = {"income": 40, "debt": 20.0, "home": "rent"}
ON_FILE = explained(ROW)


def reasons(*features: Feature, **how: Any) -> dict[tuple[str, ...], str]:
    space = Space(features, **how)
    found = compare_with_space(ON_FILE, read_row(ON_FILE.row, space.names), space)
    return dict(zip([one.flipset for one in ON_FILE.counterfactuals], found.why_not, strict=True))


def test_the_same_space_allows_everything() -> None:
    assert {one.flipset for one in ON_FILE.counterfactuals} == {("income",), ("home",)}
    space = Space([INCOME, DEBT, HOME])
    now = compare_with_space(ON_FILE, read_row(ROW, space.names), space)
    assert now.same_moves
    assert now.why_not == ("", "")


@pytest.mark.parametrize(
    ("income", "reason"),
    [
        (Feature("income", "integer", direction=+1, lower=0, upper=100, fixed=True), "income is held fixed"),
        (Feature("income", "integer", direction=+1, lower=0, upper=60), "income may only rise to 60"),
        (Feature("income", "integer", direction=+1, lower=0, upper=40), "income cannot move from 40"),
        (Feature("income", "integer", direction=+1, lower=0, upper=100, may_rise=False), "income cannot move from 40"),
        (Feature("income", "integer", direction=+1, lower=0, upper=100, step=20), "income cannot become 70"),
        (Feature("income", "integer", direction=+1, lower=0, upper=70), ""),
        (Feature("income", "integer", direction=+1, lower=0, upper=100, step=10), ""),
        (Feature("income", "integer", direction=-1, lower=0, upper=100), "income cannot become 70"),
    ],
)
def test_each_reason_in_words(income: Feature, reason: str) -> None:
    assert reasons(income, DEBT, HOME) == {("income",): reason, ("home",): ""}


def test_options_that_are_gone() -> None:
    fewer = Feature("home", "categorical", options=("rent", "other"))
    assert reasons(INCOME, DEBT, fewer) == {("income",): "", ("home",): "home cannot become own"}


def test_a_group_that_is_held_fixed() -> None:
    def stay(name: str) -> Feature:
        return Feature(name, "integer", direction=+1, lower=0, upper=9, fixed=True, group="both")

    def move(name: str) -> Feature:
        return Feature(name, "integer", direction=+1, lower=0, upper=9, group="both")

    before = Space([move("a"), move("b")], [Group("both")])
    e = Explainer(lambda rows: rows[:, 0] + rows[:, 1], before, threshold=12).explain([1, 1])
    after = Space([stay("a"), stay("b")], [Group("both")])
    now = compare_with_space(e, read_row(e.row, after.names), after)
    assert not now.same_moves
    assert all(why.endswith("is held fixed") for why in now.why_not)


def test_a_row_that_is_not_allowed_itself() -> None:
    number = Feature("home", direction=+1, lower=0, upper=9)  # on file, it is a text
    space = Space([INCOME, Feature("debt", "ordinal", direction=-1, options=(0.0, 10.0)), number])
    now = compare_with_space(ON_FILE, read_row(ON_FILE.row, space.names), space)
    assert not now.same_moves
    assert all(why.startswith("the row is not allowed: ") for why in now.why_not)
