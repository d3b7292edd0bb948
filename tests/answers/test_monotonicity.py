"""Answers that contradict the directions become an error with two rows, or are noted by those who go on."""

from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, NotMonotone, Space

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])


def against(rows: Any) -> Any:
    """Flips for a at its best, but not with b beside it."""
    a, b, _ = np.asarray(rows, dtype=float).T
    return (a == 9) & (b < 9)


@pytest.mark.parametrize("batch", [16, 32, 64])
def test_the_rows_of_an_error_are_in_order_and_the_model_says_so(batch: int) -> None:
    with pytest.raises(NotMonotone) as caught:
        Explainer(against, SPACE).explain([1, 1, 1], batch=batch)
    error = caught.value
    assert error.rows is not None
    near, far = ([row[name] for name in "abc"] for row in error.rows)
    assert all(a <= b for a, b in zip(near, far, strict=True))
    assert against([near, far]).tolist() == [True, False]
    assert error.smaller <= error.larger


def test_those_who_go_on_have_each_pair_once_and_no_proof() -> None:
    e = Explainer(against, SPACE).explain([1, 1, 1], strict=False)
    assert (e.status, e.size, e.lower) == ("unproved", None, None)
    pairs = [tuple(map(tuple, (near.values(), far.values()))) for near, far in e.contradictions]
    assert pairs
    assert len(set(pairs)) == len(pairs)
    for near, far in pairs:
        assert all(a <= b for a, b in zip(near, far, strict=True))
        assert against([near, far]).tolist() == [True, False]


def test_scores_that_differ_by_rounding_are_said_to() -> None:
    def shaky(rows: Any) -> Any:
        a, b, _ = np.asarray(rows, dtype=float).T
        return 0.5 + np.where(a == 9, np.where(b < 9, 1e-9, -1e-9), -0.3)

    with pytest.raises(NotMonotone, match=r"differ by only 2e-09 around the threshold 0\.5"):
        Explainer(shaky, SPACE, threshold=0.5).explain([1, 1, 1])


def test_a_model_that_keeps_its_directions_is_never_blamed() -> None:
    e = Explainer(lambda rows: np.asarray(rows).sum(axis=1) >= 20, SPACE).explain([1, 1, 1], strict=False)
    assert (e.status, e.contradictions) == ("optimal", ())
