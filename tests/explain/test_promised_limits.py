"""What `Explainer` promises about limits, interrupts, proofs and files."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import flipset.search.guided.search
from flipset import Explainer, Explanation, Feature, InputError, Space, ask, run
from flipset.search.guided import guided_search
from flipset.search.solve import Limits, solving
from flipset.testing import DRAWS, asking, smallest
from tests.explain.test_promises import AGE, DEBT, INCOME, explain
from tests.spaces import Case, draw_case
from tests.strategies import draw


def opposite(case: Case) -> Callable[[Any], Any]:
    return lambda rows: ~(case.predict(rows) >= 0.5)


def test_budgets_end_in_what_is_proved() -> None:
    for seed in range(120):
        case = draw_case(seed, margins=True)
        full = Explainer(case.predict, case.space, cost=case.cost).explain(case.row, batch=4)
        for most in (1, 2, 3, 5, 8, 13, 21, 34):
            e = Explainer(case.predict, case.space, cost=case.cost).explain(case.row, batch=4, max_queries=most)
            assert e.queries <= most
            if e.status == "stopped":
                assert e.lower is not None or e.upper is None
                assert full.size is None or e.lower is None or e.lower <= full.size
                assert full.size is None or e.upper is None or e.upper >= full.size
            else:
                assert (e.status, e.flipsets) == (full.status, full.flipsets)
                for mine in e.counterfactuals:  # each in its own order: cheapest first
                    (best,) = [c for c in full.counterfactuals if c.flipset == mine.flipset]
                    assert mine.cost_at_least <= best.cost <= mine.cost
            for c in e.counterfactuals:
                assert (case.score(tuple(c.row.values())) >= 0.5) != case.decision
    with pytest.raises(InputError, match="max_queries must be at least 1"):
        explain([40, 30, 50], max_queries=0)
    assert explain([40, 30, 50], max_seconds=0).status == "stopped"


def test_explanations_can_be_verified_against_the_model_and_no_other() -> None:
    for seed in range(200):
        case = draw_case(seed, margins=seed % 2 == 0)
        explainer = Explainer(case.predict, case.space, cost=case.cost)
        for how in ({}, {"max_changes": 1}, {"max_queries": 5}):
            e = explainer.explain(case.row, **how)
            assert explainer.verify(e), (seed, how)
        if e.features:
            assert not Explainer(opposite(case), case.space).verify(e)
    other = Explainer(lambda rows: rows[:, 0] - rows[:, 1] >= 61, Space([INCOME, DEBT, AGE]))
    assert not other.verify(explain([40, 30, 50]))


def test_none_within_a_limit_is_proved_by_every_search() -> None:
    for narrow in (0, 40):
        for seed in range(200):
            g, d, _ = draw(seed % len(DRAWS), seed, d=1 + Random(seed).randrange(8))
            truth = smallest(g, d)
            for most, batch in ((1, 1), (2, 8), (3, 1)):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(flipset.search.guided.search, "NARROW", narrow)
                    search = partial(guided_search, at_most=most)
                    flow = solving(d, search, Limits(batch=batch), answer=ask, at_most=most)
                    found = run(flow, asking(g))
                if truth and truth[0].bit_count() > most:
                    assert (found.status, found.lower, found.upper) == ("none", most + 1, None), seed
                    assert (found.proof.lower() or 0) >= most + 1
                else:
                    assert found.status == ("optimal" if truth else "none"), seed
                    assert len(found.flipsets) == len(truth)


def test_an_interrupt_ends_in_what_is_proved() -> None:
    for stop in range(2, 30):
        asked = 0

        def predict(rows: Any, stop: int = stop) -> Any:
            nonlocal asked
            assert asked < stop  # nothing is asked after it
            asked += len(rows)
            if asked >= stop:
                raise KeyboardInterrupt
            return rows.sum(axis=1) >= 12

        space = Space([Feature(f"x{i}", "integer", direction=+1, lower=0, upper=6) for i in range(4)])
        e = explain([0] * 4, predict, space, batch=1)
        assert e.lower is None or e.lower <= 2
        for c in e.counterfactuals:
            assert sum(c.row.values()) >= 12
            assert c.cost_at_least <= 2.0
    with pytest.raises(KeyboardInterrupt):
        explain([0] * 4, lambda rows: (_ for _ in ()).throw(KeyboardInterrupt), space)


def test_the_cheapest_of_all_under_a_budget_is_bounded_from_below() -> None:
    proved = 0
    for seed in range(150):
        case = draw_case(seed, margins=True)
        explainer = Explainer(case.predict, case.space, cost=case.cost)
        full = explainer.explain(case.row, objective="cost", reasons=False)
        for most in (8, 20, 40, 60):
            e = explainer.explain(case.row, objective="cost", reasons=False, max_queries=most)
            if e.status == "optimal":
                (c,), (best,) = e.counterfactuals, full.counterfactuals
                assert c.cost_at_least <= best.cost <= c.cost
                proved += 0 < c.cost_at_least < c.cost
    assert proved > 0  # sometimes stopped half-way, and then more is known than nothing


def test_all_minimal_sets_by_name_in_order() -> None:
    for seed in range(60):
        case = draw_case(seed, margins=seed % 2 == 0)
        explainer = Explainer(case.predict, case.space)
        changed = set()
        for row in case.every_row():
            if (case.score(row) >= 0.5) != case.decision:
                changed.add(case.changed(row))
        minimal = {one for one in changed if not any(other < one for other in changed)}
        found = list(explainer.iter_flipsets(case.row))
        assert {frozenset(names) for names in found} == minimal, seed
        assert [len(names) for names in found] == sorted(map(len, found))


def test_explanations_as_data_and_back() -> None:
    documented = (Path(__file__).parents[2] / "docs" / "explanation-json.md").read_text(encoding="utf-8")
    for seed in range(80):
        case = draw_case(seed, margins=True)
        explainer = Explainer(case.predict, case.space, cost=case.cost)
        for how in ({}, {"max_queries": 6}):
            e = explainer.explain(case.row, **how)
            again = Explanation.from_json(e.to_json())
            assert again == e
            assert again.to_dict() == e.to_dict()
            assert explainer.verify(again)
    assert all(f"`{field}`" in documented for field in e.to_dict())
    assert list(explain([40, 30, 50]).to_frame()["income"]) == [90]
    for text in ("{", "[]", '{"format": "flipset-explanation/1"}', None):
        with pytest.raises(InputError, match="explanation"):
            Explanation.from_json(text)  # type: ignore[arg-type]


def test_values_of_many_features_end_with_a_bound() -> None:
    """A cap on the rows looked at keeps what is right: a row that flips, and a bound below which nothing does."""
    names = "abcde"
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=30) for name in names])
    rng = Random(5)
    pulls = [rng.uniform(0.5, 2.0) for _ in names]

    def model(rows: Any) -> Any:
        return (np.asarray(rows, dtype=float) ** 0.7) @ pulls

    top = float(model([[30] * 5])[0])
    explainer = Explainer(model, space, threshold=top * 0.8)
    free = explainer.explain([0] * 5, value_queries=None)
    capped = explainer.explain([0] * 5, value_queries=40)
    assert free.size == capped.size is not None
    assert capped.queries < free.queries
    for one, exact in zip(capped.counterfactuals, free.counterfactuals, strict=True):
        assert one.flipset == exact.flipset
        assert one.score >= explainer.threshold
        assert one.cost_at_least <= exact.cost == exact.cost_at_least <= one.cost
    assert any(one.cost_at_least < one.cost for one in capped.counterfactuals)
    with pytest.raises(InputError, match="value_queries must be a whole number"):
        explainer.explain([0] * 5, value_queries=0)
