"""The search for the cheapest values can be stopped at any time: what it says by then holds."""

from collections import Counter

import numpy as np

from flipset import Explainer, Feature, Space
from tests.spaces import draw_case


def test_whatever_number_of_rows_may_be_looked_at_the_bracket_holds() -> None:
    kinds = Counter[str]()
    for seed in range(240):
        case = draw_case(seed, margins=seed % 2 == 0)
        explainer = Explainer(case.predict, case.space, cost=case.cost)
        unlimited = explainer.explain(case.row)
        whole = {one.flipset: one for one in unlimited.counterfactuals}
        for most in (1, 3):
            e = explainer.explain(case.row, value_queries=most, batch=1)
            assert e.flipsets == unlimited.flipsets
            for one in e.counterfactuals:
                best = whole[one.flipset]
                assert one.cost_at_least <= best.cost <= one.cost, seed
                row = tuple(one.row.values())
                assert (case.score(row) >= 0.5) != case.decision  # it is a counterfactual all the same
                assert one.score == case.score(row)
                kinds["exact" if one.cost == one.cost_at_least else "open"] += 1
    assert min(kinds["exact"], kinds["open"]) > 10, kinds


def test_more_rows_never_make_it_dearer() -> None:
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=40) for name in "abc"])

    def model(rows: object) -> object:
        a, b, c = np.asarray(rows, dtype=float).T
        return (a + 2 * b >= 50) & (b + 2 * c >= 50) & (c + 2 * a >= 50)

    costs = []
    for most in (1, 5, 20, 80, 1_000):
        (one,) = Explainer(model, space).explain([0, 0, 0], value_queries=most, batch=1).counterfactuals
        costs.append((one.cost, one.cost_at_least))
    assert costs == sorted(costs, key=lambda pair: (-pair[0], pair[1]))
    assert costs[0][1] < costs[0][0]
    assert costs[-1][0] == costs[-1][1]


def test_options_are_looked_through_from_the_one_that_starts_cheapest() -> None:
    asked: list[tuple[object, ...]] = []

    def model(rows: object) -> list[bool]:
        found = [tuple(row) for row in rows]  # type: ignore[attr-defined]
        asked.extend(found)
        return [kind != "a" and income >= {"b": 7, "c": 3}[kind] for income, kind in found]

    space = Space(
        [
            Feature("income", "integer", direction=+1, lower=0, upper=9),
            Feature("kind", "categorical", options=("a", "b", "c")),
        ]
    )
    prices = {"b": 1.0, "c": 5.0}
    explainer = Explainer(model, space, cost={"kind": lambda before, after: prices[after]})
    (one,) = explainer.explain([0, "a"], batch=1).counterfactuals
    assert one.row == {"income": 7, "kind": "b"}  # 7/9 and 1 are less than 3/9 and 5
    assert one.cost == one.cost_at_least
    assert (1, "c") not in asked  # what starts dearer than the best found is not walked through
