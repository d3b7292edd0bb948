"""Weights show directions by their signs."""

import numpy as np
import pytest

from flipset.models.monotone.linear import Weights, judge_weights
from flipset.models.monotone.shown import NotRead


def test_signs_decide_and_zero_fits_both() -> None:
    weights = Weights(np.array([2.0, -1.5, 0.0, -0.0]))
    assert judge_weights(weights, {0: +1, 1: -1, 2: +1, 3: +1}) == {}
    assert judge_weights(weights, {0: -1, 1: +1, 2: -1, 3: -1}) == {
        0: "its coefficient is 2",
        1: "its coefficient is -1.5",
    }


def test_tiny_weights_have_a_sign() -> None:
    assert judge_weights(Weights(np.array([-5e-324])), {0: +1})


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_weights_must_be_finite(odd: float) -> None:
    with pytest.raises(NotRead, match="not a finite number"):
        Weights(np.array([1.0, odd]))
