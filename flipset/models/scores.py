"""Scores of a model, one real number for each row, and margins: how far they lie beyond the threshold.

Invariant: what passes `read_scores` is a float64 for each row, not NaN, and on the same side of every threshold as the
number that the model returned. Numbers that a float64 cannot hold exactly enough for that are refused.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.drivers.answers import as_model_errors
from flipset.errors import OracleError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from numpy.typing import NDArray

TINY = float(np.finfo(np.float64).tiny)

EXACT = 1 << 53
"""Whole numbers up to this size are floats without loss."""

HUGE = 1e100
"""The largest margin. Searches add margins up, and sums of larger ones could overflow."""


def read_scores(model: Callable[[Any], Any], rows: Any) -> NDArray[np.float64]:
    """Score rows with the model; refuse answers that are not one real number per row."""
    with as_model_errors(rows):
        answers = as_array(model(rows))
    return checked_scores(answers, rows)


async def await_scores(model: Callable[[Any], Awaitable[Any]], rows: Any) -> NDArray[np.float64]:
    """Score rows with a model that is awaited."""
    with as_model_errors(rows):
        answers = as_array(await model(rows))
    return checked_scores(answers, rows)


def checked_scores(answers: NDArray[Any], rows: Any) -> NDArray[np.float64]:
    """Return the answers of a model as float64; refuse those that are not one real number per row."""
    if answers.shape != (len(rows),):
        raise OracleError(f"the model must return one score per row: shape ({len(rows)},), got {answers.shape}", rows)
    # `np.asarray` drops the mask, and what is below it would pass for a score.
    if np.ma.is_masked(answers):
        masked = int(np.ma.getmaskarray(answers).argmax())
        raise OracleError(f"the model returned a masked score for row {masked} of a batch", rows)
    answers = np.asarray(answers)
    if (large := _beyond_floats(answers)) is not None:
        raise OracleError(
            f"the model returned the whole number {large}, which is too large for a score: whole numbers beyond "
            "2^53 are rounded, and may change sides; return floats, or smaller numbers such as the difference from "
            "the threshold",
            rows,
        )
    if answers.dtype.kind not in "biuf":
        raise OracleError(f"the model must return numbers or booleans, got dtype {answers.dtype}", rows)
    with np.errstate(over="ignore"):
        scores = answers.astype(np.float64)
    if np.isnan(scores).any():
        raise OracleError(f"the model returned NaN for row {int(np.isnan(scores).argmax())} of a batch", rows)
    # A longer float may be on the other side of the threshold by bits that a float64 does not have.
    if answers.dtype.itemsize > scores.dtype.itemsize and not np.array_equal(scores, answers):
        odd = answers[scores != answers][0]
        raise OracleError(
            f"the model returned {odd!r} of dtype {answers.dtype}, which a float64 does not hold: return float64", rows
        )
    return scores


def as_array(answers: Any) -> NDArray[Any]:
    """Return the answers of a model as an array, with masks kept and whole numbers not rounded."""
    if isinstance(answers, np.ma.MaskedArray):
        return answers
    if isinstance(answers, (list, tuple)) and any(type(one) is int and abs(one) > EXACT for one in answers):
        return np.array(answers, dtype=object)  # NumPy may turn large whole numbers into floats
    return np.asarray(answers)


def _beyond_floats(answers: NDArray[Any]) -> int | None:
    """Return a whole number that a float would round, if there is one."""
    if answers.dtype.kind == "O":
        return next((one for one in answers if type(one) is int and abs(one) > EXACT), None)
    # Shorter integers are below 2^53 by their type.
    if answers.dtype.kind not in "iu" or answers.dtype.itemsize < 8:
        return None
    large = answers[(answers > EXACT) | (answers < -EXACT)] if answers.dtype.kind == "i" else answers[answers > EXACT]
    return int(large[0]) if large.size else None


def at_own_precision(scores: Any, threshold: float) -> Any:
    """Return scores of a narrow float type as float64, so that `score >= threshold` means what it means in that type.

    No float32 equals 0.7. The nearest one lies just below, and it should reach a threshold of 0.7. It is moved to the
    threshold; no other float32 lies between, so the order of scores is kept. There are two exceptions. A threshold that
    differs from a float32 by only a few bits of a float64 differs on purpose, as "more than one half" does. And a tiny
    threshold whose nearest float32 is 0 must not be reached by 0.
    """
    scores = as_array(scores)
    if scores.dtype.kind != "f" or scores.dtype.itemsize >= 8 or np.ma.is_masked(scores):
        return scores
    with np.errstate(over="ignore", under="ignore"):
        nearest = float(scores.dtype.type(threshold))
    longer = scores.astype(np.float64)
    is_meant = nearest != 0 and threshold - nearest > 4 * np.spacing(abs(threshold))
    return np.where(longer == nearest, threshold, longer) if is_meant else longer


def scores_from(numbers: Sequence[float]) -> NDArray[np.float64]:
    """Return numbers as an array of scores."""
    return np.array(numbers, dtype=np.float64)


def margins(scores: Iterable[float], threshold: float, *, rise: bool) -> list[float]:
    """Return how far each score lies beyond the threshold in the wanted direction: at least 0 exactly if it flips.

    The decision is `score >= threshold`, so a score at the threshold is on the upper side: it flips a row that should
    rise, and does not flip one that should fall. Searches conclude only from the sign. The size is a hint for which
    query to make next. Log-odds are the best hint, because many models are nearly additive in them, so scores between 0
    and 1 are read as probabilities.
    """
    scores = list(scores)
    sizes = _sizes(scores, threshold)
    return [size if (score >= threshold) == rise else -size for score, size in zip(scores, sizes, strict=True)]


def margins_of(scores: NDArray[np.float64], threshold: float, rise: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return `margins` of many scores at once, each in its own wanted direction.

    They must be the same numbers to the last bit, because the order of queries depends on them. So they are computed
    with the same logarithm, which is not NumPy's. The other operations round alike in both.
    """
    if 0.0 < threshold < 1.0 and bool(((scores > 0.0) & (scores < 1.0)).all()):
        odds = scores / (1.0 - scores)
        sizes = np.abs(np.fromiter(map(log, odds.tolist()), np.float64, len(odds)) - log(threshold / (1.0 - threshold)))
        sizes[sizes == 0.0] = TINY
    else:
        sizes = np.array(_sizes(scores.tolist(), threshold))
    return np.where((scores >= threshold) == rise, sizes, -sizes)


def _sizes(scores: Sequence[float], threshold: float) -> list[float]:
    """Return the distance of each score from the threshold; never 0, because a margin of at least 0 means a flip."""
    if not 0.0 < threshold < 1.0:
        return [_within_limits(score - threshold) for score in scores]
    at = log(threshold / (1.0 - threshold))
    # Most scores are probabilities. They are written out here, because every answer of the model comes this way. Their
    # log-odds are moderate numbers, so only a size of exactly 0 has to be avoided.
    return [
        (abs(log(score / (1.0 - score)) - at) or TINY) if 0.0 < score < 1.0 else _size_of_other(score, threshold)
        for score in scores
    ]


def _size_of_other(score: float, threshold: float) -> float:
    """Return the distance of a score that is not between 0 and 1, for a threshold that is."""
    # 0 and 1 are probably labels; as probabilities, their log-odds would be infinite.
    return 1.0 if score in (0.0, 1.0) else _within_limits(score - threshold)


def _within_limits(size: float) -> float:
    return min(max(abs(size), TINY), HUGE)
