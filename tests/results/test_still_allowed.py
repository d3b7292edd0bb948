"""What a space of today allows of an explanation on file: each reason in words."""

from collections.abc import Mapping
from typing import Any

import pytest

from flipset import Explainer, Explanation, Feature, Group, Space
from flipset.results.still_allowed import compare_with_space
from flipset.space.rows import read_row
from tests.ruled import BROKEN, CONSTRAINTS, ruled_explainer, ruled_space
from tests.ruled import ROW as RULED
from tests.ruled import score as ruled_score

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


# --- rules between columns --------------------------------------------------------------------------------------------


def why_not(e: Explanation, space: Space) -> list[str]:
    return list(compare_with_space(e, read_row(e.row, space.names), space).why_not)


@pytest.mark.parametrize("row", [RULED, BROKEN], ids=["kept", "broken"])
def test_under_the_same_rules_everything_is_allowed(row: Mapping[str, Any]) -> None:
    e = Explanation.from_json(ruled_explainer().explain(dict(row), more=5).to_json())
    now = compare_with_space(e, read_row(e.row, ruled_space().names), ruled_space())
    assert now.same_moves
    assert set(now.why_not) == {""}


def test_a_counterfactual_that_breaks_a_constraint_of_today_is_not_allowed_any_more() -> None:
    free = Explainer(ruled_score, ruled_space(with_rules=False))
    e = free.explain(RULED, more=5, within=["late_60", "satisfactory", "income"])
    space = ruled_space(with_rules=False).with_changes(constraints=CONSTRAINTS)
    now = compare_with_space(e, read_row(e.row, space.names), space)
    assert not now.same_moves
    expected = {True: "it does not keep satisfactory <= total", False: ""}
    assert list(now.why_not) == [expected[one.row["satisfactory"] > 6] for one in e.promised]
    assert len(set(now.why_not)) == 2


def test_a_row_that_breaks_a_constraint_may_keep_its_violation() -> None:
    e = ruled_explainer().explain(BROKEN, more=5)
    assert all(one.row["late_90"] > one.row["late_60"] for one in e.counterfactuals)
    assert set(why_not(e, ruled_space())) == {""}


def test_computed_columns_of_today_are_compared_and_need_not_be_able_to_move() -> None:
    free = Explainer(ruled_score, ruled_space(with_rules=False)).explain(RULED)
    by_debt = next(one for one in free.counterfactuals if "income" in one.flipset)
    assert by_debt.row["dti"] == 0.75
    now = dict(zip([one.flipset for one in free.promised], why_not(free, ruled_space()), strict=True))
    assert now[by_debt.flipset].startswith("dti is 0.75 on file, and is computed as 0.3")
    ruled = ruled_explainer().explain(RULED)
    assert set(why_not(ruled, ruled_space())) == {""}
    # Where the column is held fixed today, it has no formula that could change it.
    assert set(why_not(ruled, ruled_space(with_rules=False))) == {"dti is held fixed"}


def test_what_cannot_be_computed_today_is_not_allowed() -> None:
    free = Explainer(ruled_score, ruled_space(with_rules=False)).explain(RULED)
    features = [*ruled_space(with_rules=False).features]
    change = free.counterfactuals[0].changes[0]
    space = Space(features, derived={"dti": f"30 / 40 + 0 / ({change.feature} - {change.after})"})
    reason = why_not(free, space)[0]
    assert reason.startswith("the derived column 'dti' cannot be computed: a division by 0")
