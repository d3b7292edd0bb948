"""`Explainer` against every row of random mixed spaces, and its promises one by one."""

from fractions import Fraction
from typing import Any

import pytest

from flipset import Explainer, Explanation
from tests.spaces import Case, draw_case, place, scale_of

CASES, CHUNKS = 5_200, 13


def truth(case: Case) -> dict[frozenset[str], Fraction]:
    """For each set of units, the least cost of a row with the other decision in which exactly these change."""
    cheapest: dict[frozenset[str], Fraction] = {}
    for row in case.every_row():
        if (case.score(row) >= 0.5) != case.decision:
            changed, cost = case.changed(row), case.cost_of(row)
            if changed not in cheapest or cost < cheapest[changed]:
                cheapest[changed] = cost
    return cheapest


def check_constraints(case: Case, row: tuple[Any, ...]) -> None:
    rows = set(case.every_row())
    assert row in rows


def check_no_step_back(case: Case, e: Explanation) -> None:
    """Every change, taken back by a single step, turns the decision back."""
    for counterfactual in e.counterfactuals:
        row = tuple(counterfactual.row.values())
        for change in counterfactual.changes:
            i = case.space.position(change.feature)
            if change.how == "becomes":
                continue
            feature = case.space.features[i]
            scale = scale_of(feature)
            ordinary = feature.is_ordinary(change.before)
            between = [
                value
                for value in scale
                if value != change.after
                and (not ordinary or _between(scale, change.before, value, change.after))
                and _nearer(scale, feature, value, change)
            ]
            steps = [*between, change.before]
            for value in steps:
                back = (*row[:i], value, *row[i + 1 :])
                assert (case.score(back) >= 0.5) == case.decision, (change, value)


def _between(scale: list[Any], before: Any, value: Any, after: Any) -> bool:
    low, high = sorted([place(scale, before), place(scale, after)])
    return low < place(scale, value) < high


def _nearer(scale: list[Any], feature: Any, value: Any, change: Any) -> bool:
    rising = change.how == "at least"
    return (
        place(scale, value) < place(scale, change.after) if rising else place(scale, value) > place(scale, change.after)
    )


def check_overshooting(case: Case, e: Explanation) -> None:
    """Going further than asked for, within bounds, keeps the decision turned."""
    for counterfactual in e.counterfactuals:
        row = tuple(counterfactual.row.values())
        for change in counterfactual.changes:
            if change.how == "becomes":
                continue
            i = case.space.position(change.feature)
            scale = scale_of(case.space.features[i])
            for value in scale:
                beyond = place(scale, value) - place(scale, change.after)
                if beyond > 0 if change.how == "at least" else beyond < 0:
                    assert (case.score((*row[:i], value, *row[i + 1 :])) >= 0.5) != case.decision


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_row_of_random_spaces_agrees(chunk: int) -> None:
    for seed in range(chunk, CASES, CHUNKS):
        case = draw_case(seed, margins=seed % 2 == 0)
        explainer = Explainer(case.predict, case.space, cost=case.cost)
        e = explainer.explain(case.row, batch=(1, 4, 16)[seed % 3])
        known = truth(case)
        assert e.decision == case.decision
        if not known:
            assert (e.status, e.flipsets, e.counterfactuals) == ("none", (), ()), seed
            continue
        size = min(map(len, known))
        smallest = {changed for changed in known if len(changed) == size}
        assert (e.status, e.size) == ("optimal", size), seed
        assert {frozenset(flipset) for flipset in e.flipsets} == smallest, seed
        assert len(e.flipsets) == len(smallest)
        for counterfactual in e.counterfactuals:
            row = tuple(counterfactual.row.values())
            check_constraints(case, row)
            assert case.changed(row) == frozenset(counterfactual.flipset)
            assert case.cost_of(row) == known[frozenset(counterfactual.flipset)], seed
            assert counterfactual.cost == counterfactual.cost_at_least == float(case.cost_of(row))
            assert case.score(row) == counterfactual.score
        check_no_step_back(case, e)
        check_overshooting(case, e)


@pytest.mark.parametrize("chunk", range(4))
def test_cheapest_of_all_and_limits_agree(chunk: int) -> None:
    for seed in range(10_000 + chunk, 11_200, 4):
        case = draw_case(seed, margins=seed % 2 == 0)
        explainer = Explainer(case.predict, case.space, cost=case.cost)
        known = truth(case)
        for limit in (None, 1, 2):
            e = explainer.explain(case.row, objective="cost", max_changes=limit, reasons=False)
            if not known:
                assert e.status == "none"
                continue
            size = min(map(len, known))
            if limit is not None and size > limit:
                assert (e.status, e.lower, e.counterfactuals) == ("none", limit + 1, ()), seed
                continue
            most = size + 1 if limit is None else limit
            least = min(cost for changed, cost in known.items() if len(changed) <= most)
            (cheapest,) = e.counterfactuals
            row = tuple(cheapest.row.values())
            assert case.cost_of(row) == least, (seed, limit)
            assert len(case.changed(row)) <= most
            assert (case.score(row) >= 0.5) != case.decision
            check_constraints(case, row)
