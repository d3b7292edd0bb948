"""Options beyond the smallest: the next minimal sets, in order, against enumeration of every row."""

from collections import Counter
from fractions import Fraction

import pytest

from flipset import Explainer, Feature, Space
from tests.flipping import SEEDS, explain, flipping
from tests.spaces import draw_case


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_larger_options_are_the_next_minimal_sets_with_their_cheapest_values(seeds: range) -> None:
    ends = Counter[str | None]()
    for seed in seeds:
        case = draw_case(seed, margins=seed % 2 == 0)
        best = flipping(case)
        minimal = [one for one in best if not any(other < one for other in best)]
        size = min(map(len, minimal), default=0)
        wanted = 1 + seed % 4
        plain, e = explain(case), explain(case, more=wanted, batch=(1, 8, 32)[seed % 3])
        places = {name: i for i, name in enumerate(e.features)}
        order = sorted(
            (len(one), best[one], sorted(places[name] for name in one)) for one in minimal if len(one) > size
        )
        found = [(len(one.flipset), Fraction(one.cost), [places[n] for n in one.flipset]) for one in e.larger]
        assert found == [(n, Fraction(float(cost)), at) for n, cost, at in order[:wanted]], seed
        assert all(one.cost == one.cost_at_least for one in e.larger)
        if plain.status == "optimal":
            assert e.larger_end == ("enough" if len(order) >= wanted else "all"), seed
        # Nothing else is different.
        assert (e.flipsets, e.reasons, e.counterfactuals, e.proof) == (
            plain.flipsets, plain.reasons, plain.counterfactuals, plain.proof
        )  # fmt: skip
        ends[e.larger_end] += 1
    assert min(ends[end] for end in ("enough", "all", None)) > 0, ends


def test_larger_options_under_a_budget_are_minimal_and_in_order() -> None:
    stopped = 0
    for seed in range(30):
        case = draw_case(seed, margins=True)
        best = flipping(case)
        minimal = [one for one in best if not any(other < one for other in best)]
        full = explain(case, more=9)
        for spent in {max(2, full.queries * k // 6) for k in range(1, 6)}:
            e = explain(case, more=9, max_queries=spent)
            assert all(frozenset(one.flipset) in minimal for one in e.larger), seed
            assert all(float(best[frozenset(one.flipset)]) >= one.cost_at_least for one in e.larger), seed
            stopped += e.larger_end == "stopped"
    assert stopped > 0


def test_weights_count_in_the_order_of_larger_options() -> None:
    space = Space(
        [Feature(name, "binary", direction=+1, weight=w) for name, w in zip("abcd", (1, 5, 2, 2), strict=True)]
    )
    explainer = Explainer(lambda rows: (rows[:, 0] == 1) | (rows[:, 1] == 1) | (rows[:, 2:].sum(axis=1) == 2), space)
    e = explainer.explain([0, 0, 0, 0], more=5)
    assert (e.size, e.flipsets) == (1, (("a",),))
    assert ([one.flipset for one in e.larger], e.larger_end) == ([("c", "d"), ("b",)], "all")


def test_larger_sets_stay_within_max_changes() -> None:
    space = Space([Feature(name, "binary", direction=+1) for name in "abcdef"])
    explainer = Explainer(
        lambda rows: (rows[:, 0] == 1) | (rows[:, 1:3].sum(axis=1) == 2) | (rows[:, 3:].sum(axis=1) == 3), space
    )
    e = explainer.explain([0] * 6, more=5, max_changes=2)
    assert ([one.flipset for one in e.larger], e.larger_end) == ([("b", "c")], "all")
    e = explainer.explain([0] * 6, more=5)
    assert [one.flipset for one in e.larger] == [("b", "c"), ("d", "e", "f")]


def test_a_recheck_includes_larger_options_and_the_curve() -> None:
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])
    before = Explainer(lambda rows: rows @ [3, 2, 2], space, threshold=27)
    e = before.explain([0, 0, 0], more=3, curve=True)
    assert e.larger
    now = Explainer(lambda rows: rows @ [3, 2, 2], space, threshold=28)
    (checked,) = now.recheck([e])
    assert len(checked.counterfactuals) == len(e.promised) > len(e.counterfactuals)
    assert {one.flipset for one in checked.counterfactuals} >= {one.flipset for one in e.larger}
