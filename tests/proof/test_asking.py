"""What a model says about the sets of a proof: asked in parts, and refused where it is not clear."""

from math import nan
from typing import Any

import numpy as np
import pytest

from flipset import OracleError
from flipset.proof import Proof, asking
from flipset.proof.asking import ask_sets


def test_c2_a_proof_of_very_many_features_is_asked_in_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = Proof(10, (0b0111111111, 0b0011111111, 0b11), (1 << 9, 0b1111111111))
    batches: list[int] = []

    def flips(sets: Any) -> list[bool]:
        batches.append(sum(map(len, sets)))
        return [9 in features for features in sets]

    assert proof.confirm(flips)
    assert batches == [30]
    monkeypatch.setattr(asking, "FEATURES_AT_ONCE", 12)
    batches.clear()
    assert proof.confirm(flips)
    assert batches == [9, 11, 10]
    assert proof.disagreements(lambda sets: [True] * len(sets)) == proof.zeros


@pytest.mark.parametrize(
    ("answer", "flips"),
    [(True, True), (np.False_, False), (1, True), (-1, False), (0.0, True), (-0.5, False), (np.float32(2), True)],
)
def test_an_answer_is_a_bool_or_a_margin(answer: Any, flips: bool) -> None:
    assert ask_sets([0b11], lambda sets: [answer]) == [flips]


@pytest.mark.parametrize("answer", [0, nan, None, "yes"])
def test_an_answer_that_is_not_clear_is_refused(answer: Any) -> None:
    with pytest.raises(OracleError, match="expected a bool or a float margin"):
        ask_sets([0b11], lambda sets: [answer])


def test_every_set_needs_an_answer() -> None:
    with pytest.raises(OracleError, match="the model returned 1 answer to 2 queries"):
        ask_sets([0b01, 0b10], lambda sets: [True])
