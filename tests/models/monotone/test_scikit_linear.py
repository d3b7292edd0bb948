"""Linear models of scikit-learn: the signs of their coefficients, and what is trusted beyond them."""

from typing import Any

import numpy as np
import pytest
from sklearn import linear_model, svm

from flipset.models import read_model
from flipset.models.monotone.scikit_linear import MODELS, read_linear
from flipset.models.monotone.show import suggest_directions
from flipset.models.monotone.shown import NotRead
from tests.models.monotone.forests import draw_rows

ROWS, LABELS = draw_rows()
WHOLE = np.nan_to_num(ROWS) - 1

FITTED: dict[str, tuple[Any, str]] = {
    "logistic": (linear_model.LogisticRegression(), "sigmoid"),
    "ridge classifier": (linear_model.RidgeClassifier(), ""),
    "support vectors": (svm.LinearSVC(), ""),
    "hinge": (linear_model.SGDClassifier(random_state=0), ""),
    "gradient descent": (linear_model.SGDClassifier(loss="log_loss", random_state=0), "sigmoid"),
    "least squares": (linear_model.LinearRegression(), ""),
    "lasso": (linear_model.Lasso(0.1), ""),
    "poisson": (linear_model.PoissonRegressor(), "exponential"),
    "tweedie": (linear_model.TweedieRegressor(power=0), ""),
    "tweedie with a logarithm": (linear_model.TweedieRegressor(power=1.5), "exponential"),
}


@pytest.mark.parametrize("name", FITTED)
def test_directions_are_those_in_which_the_score_moves(name: str) -> None:
    model, trusted = FITTED[name]
    scorer = read_model(model.fit(WHOLE, LABELS))
    suggested = suggest_directions(scorer, "abcd")
    assert suggested.directions.keys() | suggested.unused == set("abcd")
    for i, column in enumerate("abcd"):
        low, high = scorer.predict(np.array([WHOLE[0], WHOLE[0] + 0.5 * (np.arange(4) == i)]))
        assert np.sign(high - low) == suggested.directions.get(column, 0)
    assert (trusted in "".join(suggested.notes)) if trusted else (len(suggested.notes) == 1)


def test_every_name_on_the_list_is_a_linear_model() -> None:
    known = {**vars(linear_model), **vars(svm)}
    # scikit-learn drops classes at times; the list serves several versions.
    assert {name for name in MODELS if name not in known} <= {
        "PassiveAggressiveClassifier",
        "PassiveAggressiveRegressor",
    }


def test_several_outputs_are_not_read() -> None:
    model = linear_model.LinearRegression().fit(WHOLE, WHOLE[:, :2])
    with pytest.raises(NotRead, match="several outputs"):
        read_linear(model, 1, is_margin=False)
