"""Scores near the model's own threshold, put on the side on which the model decides.

A classifier's `predict` need not follow the probabilities that the classifier reports: logistic regression decides by
the sign of a sum whose probability may be rounded to one half, and Gaussian naive Bayes compares logarithms. So where
the threshold is the model's own, rows near it are moved to the side that `predict` says. Where the user sets the
threshold, the decision is `score >= threshold`, in the precision of the score.

Invariant: `Explainer` and `Explanation.verify` both score rows through `settle`, which depends on the model and the
threshold alone. So they see the same decisions.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.models.scores import as_array, at_own_precision
from flipset.space.identity import take_rows

if TYPE_CHECKING:
    from flipset.models.scorer import Scorer

NEAR = 1e-6
"""Scores at most this far from the model's own threshold are checked with `predict`. Rounding moves a score by far
less; a larger value would only cost more calls of `predict`."""


def settle(scorer: Scorer, threshold: float) -> Scorer:
    """Return a scorer whose scores are on the right side of a threshold, also at it and near it."""
    # `predict` decides at the model's own threshold only, so it says nothing about another one.
    if threshold != scorer.threshold:
        return scorer.then(lambda scores: at_own_precision(scores, threshold))
    decides = scorer.decides
    if decides is None:
        return scorer
    below = nextafter(threshold, -inf)  # the largest score that does not reach the threshold

    def predict(rows: Any, **how: Any) -> Any:
        scores = as_array(scorer.predict(rows, **how))
        if scores.ndim != 1 or scores.dtype.kind != "f" or np.ma.is_masked(scores):
            return scores  # these are labels, or they are refused when the scores are read
        scores = scores.astype(np.float64)
        (near,) = np.nonzero(np.abs(scores - threshold) <= NEAR)
        if near.size:
            positive = np.asarray(decides(take_rows(rows, near.tolist())), dtype=np.bool_)
            before = scores[near]
            # Moved no further than to the threshold, or just below it, so that the order of all other scores is kept.
            scores[near] = np.where(positive, np.maximum(before, threshold), np.minimum(before, below))
        return scores

    return replace(scorer, predict=predict)
