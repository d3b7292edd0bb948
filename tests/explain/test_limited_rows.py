"""Rows with strange values and limits of their own, against the enumeration of every allowed row.

Flip sets, their cheapest values and "none" are compared; then every way to ask must give the same answer, and the
checker must agree.
"""

import json
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Explanation, Feature, InputError, Space, flipset_check
from tests.explain.test_same_answer import answer, compare_all
from tests.spaces import Case, draw_limited
from tests.test_explainer import truth

CASES = 400


def check_against_enumeration(case: Case, e: Explanation, seed: int) -> None:
    cheapest = truth(case)
    if not cheapest:
        assert e.status == "none", seed
        return
    size = min(map(len, cheapest))
    smallest = {names for names in cheapest if len(names) == size}
    assert (e.status, e.size) == ("optimal", size), seed
    assert {frozenset(names) for names in e.flipsets} == smallest, seed
    assert {frozenset(one.flipset): one.cost for one in e.counterfactuals} == {
        names: float(cheapest[names]) for names in smallest
    }, seed
    allowed = set(case.every_row())
    for one in e.counterfactuals:
        assert tuple(one.row.values()) in allowed, seed


@pytest.mark.parametrize(
    "seeds", [range(CASES), pytest.param(range(CASES, 12_000), marks=pytest.mark.campaign)], ids=str
)
def test_limits_agree_with_the_enumeration_of_allowed_rows(seeds: range) -> None:
    seen: dict[str, int] = {}
    for seed in seeds:
        case = draw_limited(seed, margins=seed % 2 == 0)
        explainer = Explainer(case.predict, case.space, cost=case.cost)
        e = explainer.explain(case.named_row, batch=(1, 8, 32)[seed % 3])
        check_against_enumeration(case, e, seed)
        seen[e.status] = seen.get(e.status, 0) + 1
        for why in e.held_because.values():
            seen[why] = seen.get(why, 0) + 1
        if seed % 4 == 0:
            verified = explainer.verify(Explanation.from_json(e.to_json()))
            assert verified, (seed, verified.problems)
    assert min(seen[one] for one in ("optimal", "none", "missing", "special code", "unknown value")) > 20, seen


def test_within_is_fixing_all_others() -> None:
    changed = 0
    for seed in range(120):
        rng = Random(seed)
        case = draw_limited(seed, margins=seed % 2 == 0)
        units = list(case.units())
        within = [name for name in units if rng.random() < 0.6]
        explainer = Explainer(case.predict, case.space, cost=case.cost)
        e = explainer.explain(case.named_row, within=within)
        others = [name for name in units if name not in within]
        held = explainer.explain(case.named_row, fixed=others)
        assert (e, e.held_fixed) == (held, held.held_fixed)
        check_against_enumeration(replace(case, space=case.space.with_changes(within=within)), e, seed)
        changed += bool(within) and bool(others)
    assert changed > 60


def test_limits_given_with_the_row_are_those_of_the_space() -> None:
    for seed in range(80):
        case = draw_limited(seed, margins=True)
        bare = [
            replace(one, max_rise=None, max_fall=None, lower_from=None, upper_from=None) for one in case.space.features
        ]
        given: dict[str, Any] = {"max_rise": {}, "max_fall": {}, "bounds": {}}
        for feature in case.space.features:
            for name in ("max_rise", "max_fall"):
                if getattr(feature, name) is not None:
                    given[name][feature.name] = getattr(feature, name)
            # A text in bounds names a column only where it cannot be a level.
            if feature.levels:
                bare = [
                    replace(one, lower_from=feature.lower_from, upper_from=feature.upper_from)
                    if one.name == feature.name
                    else one
                    for one in bare
                ]
            elif feature.lower_from or feature.upper_from:
                given["bounds"][feature.name] = feature.lower_from, feature.upper_from
        expected = Explainer(case.predict, case.space, cost=case.cost).explain(case.named_row)
        explainer = Explainer(case.predict, replace_features(case, bare), cost=case.cost)
        e = explainer.explain(case.named_row, **given)
        assert e == expected
        assert explainer.verify(e, **given)
        assert explainer.space.with_changes(**given) == case.space


def replace_features(case: Case, features: Any) -> Any:
    return type(case.space)(features, case.space.groups)


def test_the_table_search_takes_rows_with_limits_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    features = [Feature(name, direction=+1, lower=0, upper=9, step=1, special=(-9,)) for name in "abc"]
    features[0] = replace(features[0], upper_from="cap")
    features[1] = replace(features[1], max_rise="100 %")
    explainer = Explainer(lambda rows: np.nansum(rows, axis=1) >= 12, Space(features))
    rng = Random(7)
    frame = pd.DataFrame(
        {
            "a": [float(rng.randrange(5)) for _ in range(60)],
            "b": [rng.choice([1.0, 2.0, -9.0]) for _ in range(60)],
            "c": [rng.choice([1.0, 5.0, None]) for _ in range(60)],
            "cap": [rng.choice([4.0, 6.0, 9.0, None]) for _ in range(60)],
        }
    )
    expected = [explainer.explain(row, batch=1) for _, row in frame.iterrows()]
    small = [i for i, e in enumerate(expected) if e.status == "none" or len(e.flipsets[0]) <= 2]
    assert len({expected[i].flipsets for i in small}) > 4

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the guided search ran")

    monkeypatch.setattr("flipset.explain.row.guided_search", refuse)
    found = explainer.explain_table(frame.iloc[small])
    for i, e in zip(small, found, strict=True):
        # A row in which nothing can move asks nothing.
        assert answer(e) == answer(expected[i])


def test_every_way_to_ask_gives_the_same_answer() -> None:
    for seed in range(12):
        case = draw_limited(seed, margins=True)
        explainer = Explainer(case.predict, case.space)
        rng = Random(seed)
        rows = [case.named_row]
        for _ in range(4):
            rows.append({name: rng.choice([cell, cell, None]) for name, cell in case.named_row.items()})
        compare_all(explainer, [row for row in rows if _can_be_asked(explainer, row)], seed)


def _can_be_asked(explainer: Explainer, row: Any) -> bool:
    return isinstance(explainer.explain_table([row])[0], Explanation)


def test_what_an_explanation_says_about_values_that_stay_is_checked() -> None:
    features = [Feature("a", "integer", direction=+1, lower=0, upper=9, upper_from="cap"), Feature("b", fixed=True)]
    features.append(Feature("c", "integer", direction=+1, lower=0, upper=9, special=(-9,)))
    explainer = Explainer(lambda rows: rows[:, 0] >= 5, Space(features))
    e = explainer.explain({"a": 1, "b": 2, "c": -9, "cap": 7})
    assert (e.held_fixed, e.held_because) == (("b", "c"), {"c": "special code"})
    again = Explanation.from_json(e.to_json())
    assert (again, again.moves, again.own_bounds) == (e, e.moves, {"cap": 7})
    assert explainer.verify(again)
    assert explainer.recheck([again])[0].holds
    for forged, problem in (
        (replace(e, held_because={"c": "missing"}), "held_because: the explanation has {'c': 'missing'}"),
        (replace(e, held_because={}), "held_because: the explanation has {}"),
        (replace(e, own_bounds={"cap": 8}), "moves: 'a' could become a=7, and in this space a=8"),
        (replace(e, own_bounds={}), "row: the row has no 'cap'"),
        (replace(e, own_bounds={"cap": 7, "zzz": 1}), "own_bounds: this space takes no bounds from 'zzz'"),
    ):
        assert problem in explainer.verify(forged).problems[0]
    data = json.loads(e.to_json())
    for because in ({"c": "bad luck"}, {"a": "missing"}):
        with pytest.raises(InputError, match="held_because"):
            Explanation.from_json(json.dumps(data | {"held_because": because}))
        with pytest.raises(flipset_check.BadInput, match="held_because"):
            flipset_check.read_explanation(data | {"held_because": because})
    assert flipset_check.read_explanation(data)["own_bounds"] == {"cap": 7}
