"""What a model says to rows: one real number each, and how far it lies beyond the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.drivers.answers import blaming_the_model
from flipset.errors import OracleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

TINY = float(np.finfo(np.float64).tiny)


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


def margins(scores: Iterable[float], threshold: float, *, rise: bool) -> list[float]:
    """Return how far each score lies beyond the threshold in the wanted direction; at or above 0 exactly when it flips.

    The decision is `score >= threshold`, so a tie is on the upper side: it flips a row that is to rise, and must not
    pass for a flip of one that is to fall.
    """
    if rise:
        return [score - threshold for score in scores]
    return [threshold - score if score != threshold else -TINY for score in scores]
