"""Counterfactuals are cheapest first, and those of the same cost in the order of their flip sets: always."""

from random import Random
from typing import Any

import pytest

from flipset import Explainer, Explanation
from tests.spaces import draw_case


def key(e: Explanation) -> list[tuple[float, int]]:
    places = {names: i for i, names in enumerate(e.flipsets)}
    return [(one.cost, places.get(one.flipset, -1)) for one in e.counterfactuals]


@pytest.mark.parametrize("seed", range(120))
def test_on_random_spaces_however_they_are_explained(seed: int) -> None:
    rng = Random(seed)
    case = draw_case(seed, margins=bool(seed % 3))
    cost: Any = case.cost if seed % 2 else None
    explainer = Explainer(case.predict, case.space, cost=cost)
    rows = [list(case.row)]
    found = [explainer.explain(case.row), *explainer.explain_table(rows * 2)]
    for limits in ({"batch": 1}, {"max_queries": rng.randint(2, 40)}, {"values": False}, {"value_queries": 3}):
        found.append(explainer.explain(case.row, **limits))
    for e in found:
        assert key(e) == sorted(key(e))
        assert list(e.flipsets) == sorted(
            e.flipsets, key=lambda names: (len(names), [e.features.index(n) for n in names])
        )
        assert Explanation.from_json(e.to_json()).counterfactuals == e.counterfactuals
        for one in e.counterfactuals:
            assert one.cost == pytest.approx(sum(change.cost for change in one.changes))
