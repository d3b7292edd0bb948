"""At the border a score does not say which side it is on; the model does.

A classifier's `predict` need not decide by the probabilities it reports: logistic regression decides by the sign of a
sum whose probability may round to a half, and Gaussian naive Bayes compares logarithms. So where the threshold is the
model's own, rows near it are put on the side that `predict` says. Where somebody else sets the threshold, the decision
is `score >= threshold`, in the precision of the score.

Invariant: both the `Explainer` and `Explanation.verify` ask through `settle`, which depends on the model and the
threshold alone, so that they see the same decisions.
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
"""Scores this near to the model's own border are looked at. It is far more than rounding moves a score; a larger one
costs calls of `predict` and changes no decision."""


def settle(scorer: Scorer, threshold: float) -> Scorer:
    """Return the scorer with scores that are on the right side of a threshold, at or near it too."""
    if threshold != scorer.threshold:
        return scorer.then(lambda scores: at_own_precision(scores, threshold))
    decides = scorer.decides
    if decides is None:
        return scorer
    below = nextafter(threshold, -inf)

    def predict(rows: Any, **how: Any) -> Any:
        scores = as_array(scorer.predict(rows, **how))
        if scores.ndim != 1 or scores.dtype.kind != "f" or np.ma.is_masked(scores):
            return scores  # refused elsewhere, or labels
        scores = scores.astype(np.float64)
        (near,) = np.nonzero(np.abs(scores - threshold) <= NEAR)
        if near.size:
            positive = np.asarray(decides(take_rows(rows, near.tolist())), dtype=np.bool_)
            found = scores[near]
            scores[near] = np.where(positive, np.maximum(found, threshold), np.minimum(found, below))
        return scores

    return replace(scorer, predict=predict)
