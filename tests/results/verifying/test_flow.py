"""All stages of a verification share one budget of steps; where it ends, the result is undecided."""

import json
from dataclasses import replace
from typing import Any

import pytest

from flipset import Explanation, Feature, InputError, NotDecided, Space
from flipset.boundary.step_budget import StepBudget
from flipset.proof import proof as proofs
from flipset.results.verifying.findings import Terms
from flipset.results.verifying.flow import check_file, verifying
from tests.hostile import hostile_explanation
from tests.results.verifying.test_verifying import EXPLAINER, SPACE, explained, never, read


@pytest.mark.parametrize("steps", [0, 5, 20, 40, 80, 200])
def test_c2_every_stage_counts_its_steps(steps: int) -> None:
    found = EXPLAINER.verify(explained(), steps=steps)
    assert not found.problems
    assert bool(found) == found.decided
    if not found.decided:
        assert found.not_checked["proof"] == f"not decided in {steps} steps"
        assert "not reached, because an earlier stage was not decided" in found.not_checked.values()


def test_c2_few_steps_are_not_enough_and_many_are() -> None:
    decided = [EXPLAINER.verify(explained(), steps=steps).decided for steps in (0, 10, 50, 10_000)]
    assert decided == [False, False, False, True]


def test_c2_a_stopped_flow_asks_nothing() -> None:
    flow = verifying(explained(), Terms(space=SPACE, stop=lambda: True))
    with pytest.raises(StopIteration) as ended:
        next(flow)
    assert not ended.value.value.decided


def test_c2_weights_are_read_once_however_many_sets_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    data = hostile_explanation(40) | {"lower": None, "upper": 0.5}
    for unit in data["moves"]:
        unit["weight"] = 0.5
    data["proof"] |= {"weights": [0.5] * 40, "ones": [[i] for i in range(40)]}
    data["flipsets"] = [[f"x{i}"] for i in range(40)]
    e = read(data)

    def again(weights: Any) -> Any:
        raise AssertionError("the weights of a proof are read when it is made")

    monkeypatch.setattr(proofs, "_whole_weights", again)
    assert e.verify(never).problems == ("counterfactuals: there must be one for every flip set",)


def test_c2_many_options_and_counterfactuals_end_as_not_decided() -> None:
    # Each counterfactual is compared with all options of its unit: 300 times 3,000 comparisons.
    data = hostile_explanation(1, options=3_000) | {"lower": None, "threshold": 1, "upper": 1, "flipsets": [["x0"]]}
    data["proof"]["ones"] = [[0]]
    one = {
        "flipset": ["x0"], "changes": [{"feature": "x0", "before": 0, "after": 3_000, "how": "becomes"}], "cost": 1,
        "cost_at_least": 1, "score": 1, "row": {"x0": 3_000},
    }  # fmt: skip
    data["counterfactuals"] = [one] * 300
    space = Space([Feature("x0", "categorical", options=tuple(range(3_001)))])
    found = read(data).verify(never, space=space, steps=100_000)
    assert found.not_checked["proof"] == "not decided in 100,000 steps"


def test_c2_reading_can_be_stopped() -> None:
    text = json.dumps(hostile_explanation(5_000))
    looks = 0

    def gone() -> bool:
        nonlocal looks
        looks += 1
        return looks == 2

    with pytest.raises(NotDecided, match="stopped"):
        Explanation.from_json(text, stop=gone)
    assert Explanation.from_json(text, stop=lambda: False) == Explanation.from_json(text)


def test_a_file_is_checked_without_the_model_and_the_space() -> None:
    e = explained()
    assert check_file(e, 4_096, StepBudget()).problems == []
    forged = replace(e, flipsets=e.flipsets[1:])
    assert check_file(forged, 4_096, StepBudget()).problems[0].startswith("flipsets:")
    with pytest.raises(NotDecided):
        check_file(e, 4_096, StepBudget(5))
    with pytest.raises(InputError, match="max_block=1"):
        check_file(e, 1, StepBudget())
