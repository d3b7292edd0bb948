"""A few options of all, and what can be wanted together."""

from itertools import product
from random import Random
from typing import Any

import pytest

from flipset import Explainer, Feature, InputError, Space
from tests.flipping import explain
from tests.spaces import draw_case


@pytest.mark.parametrize("diverse", [False, True])
def test_some_options_are_some_of_all(diverse: bool) -> None:
    limited = 0
    for seed in range(140):
        case = draw_case(seed, margins=seed % 2 == 0)
        full = explain(case)
        e = explain(case, options=2, diverse=diverse)
        assert (e.flipsets, e.reasons, e.proof, e.status) == (full.flipsets, full.reasons, full.proof, full.status)
        assert len(e.counterfactuals) == min(2, len(full.counterfactuals))
        assert e.counterfactuals[:1] == full.counterfactuals[:1]
        assert set(map(str, e.counterfactuals)) <= set(map(str, full.counterfactuals))
        if not diverse:
            assert e.counterfactuals == full.counterfactuals[:2]
        limited += len(e.counterfactuals) < len(full.counterfactuals)
    assert limited >= 5


def test_a_model_that_contradicts_the_directions_has_no_larger_options_and_no_curve() -> None:
    space = Space([Feature(name, "binary", direction=+1) for name in "abcd"])
    unproved = 0
    for seed in range(100):
        rng = Random(seed)
        said = {row: rng.random() < 0.5 for row in product((0, 1), repeat=4)} | {(0,) * 4: False, (1,) * 4: True}

        def model(rows: Any, said: dict[tuple[int, ...], bool] = said) -> list[bool]:
            return [said[tuple(map(int, row))] for row in rows]

        explainer = Explainer(model, space)
        e = explainer.explain([0] * 4, more=3, curve=True, strict=False)
        if e.status == "unproved":
            unproved += 1
            assert (e.larger, e.larger_end, e.curve, e.curve_end) == ((), None, (), None), seed
    assert unproved > 5


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"options": 0}, "options must be a whole number"),
        ({"more": 0}, "more must be a whole number"),
        ({"diverse": True}, "say how many"),
        ({"options": 2, "objective": "cost"}, "use one of the two"),
        ({"more": 2, "objective": "cost"}, "use one of the two"),
        ({"curve": True, "objective": "cost"}, "leave objective"),
        ({"curve": True, "values": False}, "leave values=False out"),
    ],
)
def test_what_does_not_go_together_is_refused(wanted: Any, words: str) -> None:
    space = Space([Feature("a", "binary", direction=+1)])
    with pytest.raises(InputError, match=words):
        Explainer(lambda rows: rows[:, 0], space).explain([0], **wanted)
