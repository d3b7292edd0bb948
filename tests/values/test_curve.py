"""The cost of fewer changes: the cheapest with at most k changes, against enumeration of every row."""

from collections import Counter
from functools import partial
from itertools import product
from random import Random
from typing import Any

import pytest

from flipset import Explainer, Feature, InputError, Space
from tests.flipping import SEEDS, explain, flipping
from tests.spaces import draw_case


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_the_curve_has_the_cheapest_with_at_most_so_many_changes(seeds: range) -> None:
    ends = Counter[str | None]()
    for seed in seeds:
        case = draw_case(seed, margins=seed % 2 == 0)
        best = flipping(case)
        most = None if seed % 3 else 1 + seed % 5
        e = explain(case, curve=True, max_changes=most)
        if e.status != "optimal":
            assert (e.curve, e.curve_end) == ((), None)
            continue
        assert e.size is not None
        assert [point.changes for point in e.curve] == list(range(int(e.size), int(e.size) + len(e.curve))), seed
        for point in e.curve:
            cheapest = min(cost for moved, cost in best.items() if len(moved) <= point.changes)
            one = point.counterfactual
            assert one.cost == one.cost_at_least == float(cheapest), seed
            assert len(one.flipset) <= point.changes
            assert float(best[frozenset(one.flipset)]) == one.cost
        costs = [point.counterfactual.cost for point in e.curve]
        assert costs == sorted(costs, reverse=True)
        assert costs[0] == e.counterfactuals[0].cost
        if e.curve_end == "proved":
            assert costs[-1] == float(min(best.values())), seed
        else:
            assert e.curve[-1].changes == (e.size + 2 if most is None else most), seed
        ends[e.curve_end] += 1
    assert ends["proved"] > 0, ends


def matmul(table: Any, gains: list[int]) -> Any:
    return table @ gains


def test_more_and_more_changes_that_are_cheaper() -> None:
    ends = Counter[str | None]()
    falls = 0
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=3) for name in "abcde"])
    rows = list(product(range(4), repeat=5))
    for seed in range(40):
        rng = Random(seed)
        gains = [rng.choice((1, 1, 2, 3)) for _ in range(5)]
        steps = [[0, *sorted(rng.choice((1, 2, 4, 8, 9, 16)) for _ in range(3))] for _ in range(5)]
        needed = rng.randint(2, 3 * sum(gains))
        cost = {n: lambda before, after, of=of: of[int(after)] for n, of in zip("abcde", steps, strict=True)}
        explainer = Explainer(partial(matmul, gains=gains), space, threshold=needed, cost=cost)
        least = dict.fromkeys(range(6), float("inf"))
        for row in rows:
            if sum(a * b for a, b in zip(row, gains, strict=True)) >= needed:
                price, changes = sum(of[v] for v, of in zip(row, steps, strict=True)), sum(map(bool, row))
                least |= {k: min(least[k], price) for k in range(changes, 6)}
        most = (None, 3, 5)[seed % 3]
        e = explainer.explain([0] * 5, curve=True, max_changes=most)
        for point in e.curve:
            assert point.counterfactual.cost == point.counterfactual.cost_at_least == least[point.changes], seed
        if e.size is not None:
            last = e.curve[-1].counterfactual.cost
            falls += last < e.curve[0].counterfactual.cost
            assert e.curve_end == "max_changes" or last == least[5], seed
            assert e.curve_end == "proved" or e.curve[-1].changes == (most or e.size + 2), seed
            ends[e.curve_end] += 1
    assert falls > 10
    assert min(ends[end] for end in ("proved", "max_changes")) > 3, ends


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_a_curve_under_a_budget_is_real_and_bounded_from_below(seeds: range) -> None:
    stopped = 0
    for seed in seeds:
        case = draw_case(seed, margins=True)
        best = flipping(case)
        full = explain(case, curve=True)
        for spent in {max(2, full.queries * k // 4) for k in range(1, 4)}:
            e = explain(case, curve=True, max_queries=spent)
            stopped += e.curve_end == "stopped"
            for point in e.curve:
                cheapest = float(min(cost for moved, cost in best.items() if len(moved) <= point.changes))
                assert point.counterfactual.cost_at_least <= cheapest <= point.counterfactual.cost, seed
    assert stopped > 0


def test_a_curve_counts_changes_and_not_weights() -> None:
    space = Space([Feature("a", "binary", direction=+1, weight=2)])
    with pytest.raises(InputError, match="use one of the two"):
        Explainer(lambda rows: rows[:, 0], space).explain([0], curve=True)
