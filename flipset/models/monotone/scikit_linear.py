"""scikit-learn: linear models, whose score follows a weighted sum of the inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipset.models.monotone.linear import Weights
from flipset.models.monotone.show import Reading
from flipset.models.monotone.shown import NotRead

SUMS = (
    "the proof is about the signs of the coefficients; as computed, the score of a row may differ in its last bits "
    "from one batch of rows to another"
)

CLASSIFIERS = frozenset(
    {
        *("LogisticRegression", "LogisticRegressionCV", "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier"),
        *("Perceptron", "PassiveAggressiveClassifier", "LinearSVC"),
    }
)
REGRESSORS = frozenset(
    {
        *("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV", "Lars", "LarsCV"),
        *("LassoLars", "LassoLarsCV", "LassoLarsIC", "OrthogonalMatchingPursuit", "OrthogonalMatchingPursuitCV"),
        *("BayesianRidge", "ARDRegression", "SGDRegressor", "PassiveAggressiveRegressor", "HuberRegressor"),
        *("TheilSenRegressor", "QuantileRegressor", "LinearSVR"),
    }
)
WITH_LINK = frozenset({"PoissonRegressor", "GammaRegressor", "TweedieRegressor"})

MODELS = CLASSIFIERS | REGRESSORS | WITH_LINK


def read_linear(model: Any, sign: int, *, is_margin: bool) -> Reading:
    """Read a linear model; `sign` is -1 for the first of two classes."""
    name = type(model).__name__
    coefficients = np.asarray(model.coef_, dtype=np.float64)
    if coefficients.ndim == 2 and coefficients.shape[0] == 1:
        coefficients = coefficients[0]
    if coefficients.ndim != 1:
        raise NotRead("the model has several outputs")
    link = ""
    if name in CLASSIFIERS and not is_margin:
        link = "sigmoid"
    elif name in WITH_LINK and not _is_identity(model):
        link = "exponential function"
    trusted = f"the {link} that makes the score of the sum is trusted to keep the order as scikit-learn computes it"
    return Reading(Weights(coefficients), sign, (SUMS, trusted) if link else (SUMS,))


def _is_identity(model: Any) -> bool:
    """Say whether the score is the sum itself: with the identity as link, or with power 0, where it is the default."""
    link = getattr(model, "link", "log")
    return link == "identity" or (link == "auto" and model.power <= 0)
