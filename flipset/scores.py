"""What a model says to rows: one real number each, and how far it lies beyond the threshold."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.drivers.answers import blaming_the_model
from flipset.errors import OracleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

TINY = float(np.finfo(np.float64).tiny)

HUGE = 1e100
"""Margins that are added up are no larger, whatever the score."""


def read_scores(model: Callable[[Any], Any], rows: Any) -> NDArray[np.float64]:
    """Ask the model, and refuse what is not one real number per row."""
    with blaming_the_model(rows):
        answers = np.asarray(model(rows))
    if answers.shape != (len(rows),):
        raise OracleError(f"the model must return one score per row: shape ({len(rows)},), got {answers.shape}", rows)
    if answers.dtype.kind not in "biuf":
        raise OracleError(f"the model must return numbers or booleans, got dtype {answers.dtype}", rows)
    scores = answers.astype(np.float64)
    if np.isnan(scores).any():
        raise OracleError(f"the model returned NaN for row {int(np.isnan(scores).argmax())} of a batch", rows)
    return scores


def scores_from(numbers: Sequence[float]) -> NDArray[np.float64]:
    """Return numbers as a model would."""
    return np.array(numbers, dtype=np.float64)


def margins(scores: Iterable[float], threshold: float, *, rise: bool) -> list[float]:
    """Return how far each score lies beyond the threshold in the wanted direction; at or above 0 exactly when it flips.

    The decision is `score >= threshold`, so a tie is on the upper side: it flips a row that is to rise, and must not
    pass for a flip of one that is to fall. Only the sign is ever concluded from. The size is a hint, and as hints
    log-odds serve best, in which many models are nearly additive: scores between 0 and 1 are read as probabilities.
    """
    sign = 1.0 if rise else -1.0
    far = _log_odds(threshold) if 0.0 < threshold < 1.0 else None
    found = []
    for score in scores:
        flips = (score >= threshold) == rise
        if far is None or not 0.0 <= score <= 1.0:
            size = sign * (score - threshold)
        elif score in (0.0, 1.0):  # as labels have it, which say nothing of size
            size = 1.0
        else:
            size = sign * (_log_odds(score) - far)
        found.append(max(abs(size), TINY) if flips else -max(abs(size), TINY))
    return found


def margins_of(scores: NDArray[np.float64], threshold: float, rise: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return `margins` of many scores at once, each in its own wanted direction."""
    sizes = np.abs(scores - threshold)
    if 0.0 < threshold < 1.0:
        sizes = np.where((scores == 0.0) | (scores == 1.0), 1.0, sizes)
        inside = (scores > 0.0) & (scores < 1.0)
        odds = np.where(inside, scores, 0.5)
        sizes = np.where(inside, np.abs(np.log(odds / (1.0 - odds)) - _log_odds(threshold)), sizes)
    sizes = np.clip(sizes, TINY, HUGE)
    return np.where((scores >= threshold) == rise, sizes, -sizes)


def _log_odds(probability: float) -> float:
    return log(probability / (1.0 - probability))
