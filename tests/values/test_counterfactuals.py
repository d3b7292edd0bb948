"""From flip sets to values: the cheapest exists and is reported, frontiers are whole, and the ends are enough."""

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, InputError, NotMonotone, Space
from tests.ordered import draw_ordered
from tests.spaces import draw_case


def test_a_cheapest_value_exists_and_one_step_less_is_not_enough() -> None:
    checked = 0
    for seed in range(60):
        case = draw_ordered(seed, rows=2)
        explainer = Explainer(case.model, case.space, threshold=case.threshold)
        for row in case.rows:
            e = explainer.explain(row)
            assert len(e.counterfactuals) == len(e.flipsets)
            for one in e.counterfactuals:
                assert one.cost == one.cost_at_least
                assert (explainer.scores([list(one.row.values())])[0] >= case.threshold) != e.decision
                for change in one.changes:
                    feature = next(f for f in case.space.features if f.name == change.feature)
                    step = feature.step or 1
                    nearer = change.after - step if change.how == "at least" else change.after + step
                    lower, upper = (0, 1) if feature.kind == "binary" else (feature.lower, feature.upper)
                    if change.before in (nearer, change.after) or not lower <= nearer <= upper:
                        continue
                    less = {**one.row, change.feature: nearer}
                    assert (explainer.scores([list(less.values())])[0] >= case.threshold) == e.decision, seed
                    checked += 1
    assert checked > 100


def test_without_values_the_best_ones_are_reported_and_nothing_is_asked_for_them() -> None:
    for seed in range(80):
        case = draw_case(seed, margins=seed % 2 == 0)
        explainer = Explainer(case.predict, case.space, cost=case.cost)
        bare, whole = explainer.explain(case.row, values=False), explainer.explain(case.row)
        assert bare.queries <= whole.queries
        assert bare.flipsets == whole.flipsets
        costs = {one.flipset: one.cost for one in whole.counterfactuals}
        for one in bare.counterfactuals:
            assert one.cost_at_least <= costs[one.flipset] <= one.cost
            assert (case.score(tuple(one.row.values())) >= 0.5) != case.decision


def test_counterfactuals_come_cheapest_first() -> None:
    for seed in range(60):
        case = draw_ordered(seed, rows=1)
        e = Explainer(case.model, case.space, threshold=case.threshold).explain(case.rows[0])
        costs = [one.cost for one in e.counterfactuals]
        assert costs == sorted(costs)


# --- frontiers --------------------------------------------------------------------------------------------------------


def curve(rows: Any) -> Any:
    a, b = np.asarray(rows, dtype=float).T
    return (a + 1) * (11 - b) >= 40


SPACE = Space(
    [
        Feature("a", "integer", direction=+1, lower=0, upper=10),
        Feature("b", "integer", direction=-1, lower=0, upper=10),
    ]
)


def test_a_frontier_has_all_least_pairs_and_no_other() -> None:
    frontier = Explainer(curve, SPACE).frontier([1, 8], ("a", "b"))
    allowed = list(product(range(1, 11), range(8, -1, -1)))
    turned = [(a, b) for a, b in allowed if curve([(a, b)])[0]]
    least = {(a, b) for a, b in turned if not any((c, d) != (a, b) and c <= a and d >= b for c, d in turned)}
    assert set(frontier.points) == least
    assert list(frontier.points) == sorted(frontier.points)
    assert (frontier.features, frontier.before) == (("a", "b"), (1, 8))


@pytest.mark.parametrize(
    ("features", "row", "message"), [(("a",), [1, 8], "two"), (("a", "b"), [10, 0], "move|change|turned|flip")]
)
def test_what_has_no_frontier_is_refused(features: tuple[str, ...], row: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Explainer(lambda rows: np.asarray(rows)[:, 0] > 99, SPACE).frontier(row, features)


def test_a_model_that_goes_back_on_a_grid_is_blamed_with_two_rows() -> None:
    def bumpy(rows: Any) -> Any:
        scores = []
        for a, b, c in np.asarray(rows, dtype=int):
            bump = 13 * Random(f"34,{a},{b},{c}").randint(-2, 2)
            scores.append(min(a, b, c) == 20 or (min(a, b, c) > 0 and 12 * a + 11 * b + 13 * c + bump >= 520))
        return np.array(scores)

    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=20) for name in "abc"])
    with pytest.raises(NotMonotone) as caught:
        Explainer(bumpy, space).explain([0, 0, 0], batch=32)  # several points at a time: the bump is seen
    assert caught.value.rows is not None
    lower, upper = caught.value.rows
    assert all(lower[name] <= upper[name] for name in "abc")
    assert bumpy([[*lower.values()]])[0]
    assert not bumpy([[*upper.values()]])[0]
