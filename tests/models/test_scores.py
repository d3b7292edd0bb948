"""What a model says to rows: one real number each, and how far it lies beyond the threshold."""

import asyncio
from math import inf, log, nan, nextafter
from random import Random
from typing import Any

import numpy as np
import pytest

from flipset import OracleError
from flipset.models.scores import HUGE, at_own_precision, await_scores, margins, margins_of, read_scores

ROWS = np.zeros((2, 1))


@pytest.mark.parametrize(
    ("answers", "scores"),
    [
        ([0.25, 1], [0.25, 1.0]),
        ([True, False], [1.0, 0.0]),
        (np.float32([0.5, 0.25]), [0.5, 0.25]),  # type: ignore[arg-type]
        ((3, -2), [3.0, -2.0]),
        ([inf, -inf], [inf, -inf]),
    ],
)
def test_scores_that_can_be_read(answers: Any, scores: list[float]) -> None:
    assert read_scores(lambda rows: answers, ROWS).tolist() == scores

    async def model(rows: Any) -> Any:
        return answers

    assert asyncio.run(await_scores(model, ROWS)).tolist() == scores


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([0.5], r"one score per row: shape \(2,\), got \(1,\)"),
        ([[0.5, 0.5]] * 2, "one score per row"),
        ([0.5, nan], "NaN for row 1"),
        (["yes", "no"], "numbers or booleans"),
        ([1.0, None], "numbers or booleans, got dtype object"),
        ([2**53 + 1, 0], "too large for a score"),
        (np.array([2**62, 0]), "too large for a score"),
        (np.ma.masked_array([0.1, 0.2], mask=[False, True]), "masked score for row 1"),
    ],
)
def test_scores_that_cannot_be_read(answers: Any, message: str) -> None:
    with pytest.raises(OracleError, match=message):
        read_scores(lambda rows: answers, ROWS)


def test_a_model_that_raises_is_blamed_with_its_rows() -> None:
    def fails(rows: Any) -> Any:
        raise KeyError("income")

    with pytest.raises(OracleError, match="raised KeyError when asked 2 queries") as caught:
        read_scores(fails, ROWS)
    assert caught.value.batch is ROWS


def test_the_sign_of_a_margin_is_the_decision_at_every_threshold() -> None:
    rng = Random(2)
    for _ in range(400):
        threshold = rng.choice([0.5, rng.random(), rng.uniform(-9, 9), 0.0, 1.0])
        near = [
            threshold,
            nextafter(threshold, inf),
            nextafter(threshold, -inf),
            0.0,
            1.0,
            inf,
            -inf,
            rng.uniform(-9, 9),
        ]
        for rise in (True, False):
            for score, margin in zip(near, margins(near, threshold, rise=rise), strict=True):
                assert (margin >= 0) == ((score >= threshold) == rise)
                assert 0 < abs(margin) <= HUGE


def test_many_margins_at_once_are_the_same_to_the_last_bit() -> None:
    rng = Random(3)
    for threshold in (0.5, 0.037, 7.0, -2.0):
        scores = np.array([rng.choice([rng.random(), rng.uniform(-9, 9), 0.0, 1.0]) for _ in range(200)])
        rise = np.array([rng.random() < 0.5 for _ in scores])
        singly = [margins([score], threshold, rise=up)[0] for score, up in zip(scores.tolist(), rise, strict=True)]
        assert margins_of(scores, threshold, rise).tolist() == singly


def test_probabilities_are_compared_in_log_odds_and_labels_have_one_size() -> None:
    (margin,) = margins([0.8], 0.5, rise=True)
    assert margin == pytest.approx(log(4))
    assert margins([0.0, 1.0], 0.3, rise=True) == [-1.0, 1.0]
    assert margins([3.0], 0.5, rise=True) == [2.5]  # no probability


def test_a_short_float_reaches_the_threshold_that_it_is_nearest_to() -> None:
    scores = np.array([0.7, 0.69, 0.71], dtype=np.float32)
    assert [score >= 0.7 for score in at_own_precision(scores, 0.7).tolist()] == [True, False, True]
    assert float(scores[0]) < 0.7  # as it stands it does not
    above = nextafter(0.5, inf)
    assert at_own_precision(np.array([0.5], dtype=np.float32), above).tolist() == [0.5]  # more than a half is meant
    assert at_own_precision([1, 2], 0.7).tolist() == [1, 2]
