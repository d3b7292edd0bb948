"""Rules in an explanation are those of the space, and every counterfactual keeps them."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from flipset import Explainer, Explanation, Feature, FlipsetError, Space
from tests.results.verifying.mutations import mutate
from tests.rule_spaces import draw_rule_case

if TYPE_CHECKING:
    from collections.abc import Callable

SPACE = Space(
    [
        Feature("a", "integer", direction=1, lower=0, upper=20, special=(-7,)),
        Feature("b", "integer", direction=1, lower=0, upper=20),
        Feature("c", "integer", direction=-1, lower=0, upper=9),
        Feature("s"),
        Feature("age"),
    ],
    constraints=["a <= b", "c >= 7"],
    derived={"s": "a / (b + 1)"},
    follows={"age": "age + (b - b.before)"},
)
ROW = {"a": 2, "b": 3, "c": 5, "s": 0.5, "age": 30}


def model(rows: Any) -> list[float]:
    return [float(2 * a + b - c) for a, b, c, *_ in rows]


EXPLAINER = Explainer(model, SPACE, threshold=20.0)


@cache
def explained() -> Explanation:
    return EXPLAINER.explain(ROW)


def changed(change: Callable[[Any], object]) -> Explanation:
    data = json.loads(explained().to_json())
    change(data)
    return Explanation.from_json(json.dumps(data))


def test_a_true_explanation_is_confirmed() -> None:
    e = explained()
    assert e.rules is not None
    assert e.rules.broken == ("c >= 7",)
    assert [each.feature for each in e.counterfactuals[0].consequences] == ["s", "age"]
    for found in (
        EXPLAINER.verify(e),
        e.verify(model, space=SPACE),
        e.verify(model),
        changed(lambda data: None).verify(model),
    ):
        assert found, found.problems
    assert "rules" in e.verify(model, space=SPACE).checked
    assert "no space was given" in e.verify(model).not_checked["rules"]


FORGED: dict[str, Callable[[Any], object]] = {
    "no rules": lambda data: data.pop("rules"),
    "one less": lambda data: data["rules"]["constraints"].pop(0),
    "another text": lambda data: data["rules"]["constraints"][0].update(text="a <= b + 1"),
    "not broken": lambda data: data["rules"]["constraints"][1].update(broken=False),
    "broken": lambda data: data["rules"]["constraints"][0].update(broken=True),
    "another formula": lambda data: data["rules"]["derived"].update(s="a / (b + 2)"),
    "no formula": lambda data: data["rules"]["derived"].pop("s"),
    "another follower": lambda data: data["rules"]["follows"].update(age="age + 2 * (b - b.before)"),
    "no codes": lambda data: data["rules"]["codes"].clear(),
    "other codes": lambda data: data["rules"]["codes"].update(a=[-8]),
    "other stops": lambda data: data["rules"]["stops"]["a"].update(step=2),
    "nearer stops": lambda data: data["rules"]["stops"]["a"].update(last=19),
    "no stops": lambda data: data["rules"]["stops"].pop("a"),
    "the row": lambda data: data["row"].update(b=4),
    "a derived value": lambda data: data["row"].update(s=0.4),
    "a computed value": lambda data: data["counterfactuals"][0]["row"].update(s=0.4),
    "a follower": lambda data: data["counterfactuals"][0]["row"].update(age=30),
    "no consequence": lambda data: data["counterfactuals"][0]["consequences"].pop(),
    "no consequences": lambda data: data["counterfactuals"][0].pop("consequences"),
    "another consequence": lambda data: data["counterfactuals"][0]["consequences"][0].update(after=9.5),
    "another order": lambda data: data["counterfactuals"][0]["consequences"].reverse(),
}


@pytest.mark.parametrize("forged", FORGED)
def test_what_was_forged_is_refused(forged: str) -> None:
    assert not EXPLAINER.verify(changed(FORGED[forged]))


@pytest.mark.parametrize(
    "forged",
    ["not broken", "broken", "another formula", "another follower", "nearer stops", "a computed value", "a follower"],
)
def test_without_the_space_contradictions_are_noticed(forged: str) -> None:
    assert not changed(FORGED[forged]).verify(model)


def test_a_counterfactual_that_breaks_a_rule_is_named() -> None:
    def break_rule(data: Any) -> None:
        one = data["counterfactuals"][0]
        one["row"].update(a=20, b=3)

    found = EXPLAINER.verify(changed(break_rule))
    assert any("does not keep the constraint 'a <= b'" in problem for problem in found.problems)


@pytest.mark.parametrize("text", ["a <=", "wages <= a", "a == 'x' implies"])
def test_a_constraint_that_cannot_be_read_is_a_problem_or_refused(text: str) -> None:
    try:
        e = changed(lambda data: data["rules"]["constraints"][0].update(text=text))
        found = e.verify(model)
    except FlipsetError:
        return
    assert not found


@pytest.mark.parametrize(
    "seeds", [range(150), pytest.param(range(150, 6_000), marks=pytest.mark.campaign)], ids=["some", "many"]
)
def test_random_changes_are_refused_or_change_nothing(seeds: range) -> None:
    outcomes = Counter[str]()
    for seed in seeds:
        case = draw_rule_case(seed)
        explainer = Explainer(case.predict, case.space, threshold=0.5, cost=case.plain.cost)
        e = explainer.explain(case.named_row)
        if e.rules is None or not e.counterfactuals:
            continue
        data = json.loads(e.to_json())
        rng = Random(seed)
        for part in ("rules", "row", "consequences"):
            forged = forge(data, part, rng)
            if forged is None:
                continue
            try:
                other = Explanation.from_json(json.dumps(forged))
                accepted = bool(explainer.verify(other))
            except FlipsetError:
                outcomes["error"] += 1
                continue
            outcomes[f"{part} {accepted}"] += 1
            if accepted:
                assert (other.rules, other.row, other.counterfactuals) == (e.rules, e.row, e.counterfactuals), seed
    assert outcomes["rules False"] > 10
    assert outcomes["row False"] > 10


def forge(data: Any, part: str, rng: Random) -> Any:
    """Change one part of an explanation; None if it has no such part."""
    if part != "consequences":
        return mutate(data, rng, data, within=[part])
    forged = deepcopy(data)
    holder = next((one for one in forged["counterfactuals"] if one.get("consequences")), None)
    if holder is None:
        return None
    holder["consequences"] = mutate({"consequences": holder["consequences"]}, rng, data).get("consequences", [])
    return forged
