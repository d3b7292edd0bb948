"""Whether two scores are in order, apart from rounding."""

from math import inf

import pytest

from flipset.answers.order import is_clearly_out_of_order, is_in_order


@pytest.mark.parametrize(
    ("score", "better", "in_order"),
    [(0.5, 0.5, True), (0.5, 0.6, True), (0.6, 0.5, False), (1.0, 1.0 - 1e-13, True), (1.0, 1.0 - 1e-11, False),
     (inf, inf, True), (-inf, -inf, True), (inf, 0.0, False), (0.0, -inf, False), (-inf, inf, True)],
)  # fmt: skip
def test_in_order(score: float, better: float, in_order: bool) -> None:
    assert is_in_order(score, better) is in_order


@pytest.mark.parametrize(
    ("score", "better", "threshold", "clearly"),
    [
        (0.5, 0.4, 0.5, True),
        (0.5, 0.5 - 1e-6, 0.5, False),  # single precision
        (7.0, 7.0 - 1e-5, 0.0, False),
        (1e-5, 5e-6, 0.5, True),  # small probabilities, and one is half of the other
        (1e-9, -1e-9, 100.0, False),  # a difference of large numbers
        (inf, 0.0, 0.5, True),
        (0.4, 0.5, 0.5, False),
        (inf, inf, 0.5, False),
    ],
)
def test_clearly_out_of_order(score: float, better: float, threshold: float, clearly: bool) -> None:
    assert is_clearly_out_of_order(score, better, threshold) is clearly
