"""The reader that fits a model is found inside pipelines, searches and other wrappers."""

from typing import Any

import numpy as np
import pytest
import xgboost
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, StackingClassifier
from sklearn.feature_selection import RFE
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC

from flipset.models import read_model
from flipset.models.monotone.estimators import Output
from flipset.models.monotone.show import show_monotone, suggest_directions
from flipset.models.monotone.shown import NotRead
from tests.models.monotone.forests import draw_rows

ROWS, LABELS = draw_rows()
WHOLE = np.nan_to_num(ROWS)


def constrained() -> Any:
    return HistGradientBoostingClassifier(max_iter=5, monotonic_cst=[1, 1, 0, 0], early_stopping=False)


WRAPPED = {
    "pipeline": lambda: make_pipeline(StandardScaler(), constrained()),
    "scalers inside scalers": lambda: make_pipeline(make_pipeline(StandardScaler()), make_pipeline(constrained())),
    "search": lambda: GridSearchCV(make_pipeline(StandardScaler(), constrained()), {}, cv=2),
    "threshold": lambda: FixedThresholdClassifier(constrained(), threshold=0.4),
    "frozen": lambda: FrozenEstimator(constrained().fit(WHOLE, LABELS)),
    "self-training": lambda: SelfTrainingClassifier(constrained()),
}


@pytest.mark.filterwarnings("ignore:y contains no unlabeled samples")
@pytest.mark.parametrize("name", WRAPPED)
def test_models_are_read_inside_wrappers(name: str) -> None:
    scorer = read_model(WRAPPED[name]().fit(WHOLE, LABELS))
    shown = show_monotone(scorer, {"a": 1, "b": 1}, "abcd")
    assert shown.proved == {"a", "b"}
    assert show_monotone(scorer, {"a": -1}, "abcd").why_not


def test_selected_columns_are_followed() -> None:
    model = RFE(LogisticRegression(), n_features_to_select=2).fit(WHOLE, LABELS)
    suggested = suggest_directions(read_model(model), "abcd")
    chosen = {name for name, is_one in zip("abcd", model.support_, strict=True) if is_one}
    assert suggested.directions.keys() == chosen
    assert suggested.unused == set("abcd") - chosen


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (MLPClassifier(max_iter=2), "the structure of MLPClassifier is not read"),
        (SVC(), "the structure of SVC is not read"),
        (CalibratedClassifierCV(LogisticRegression(), cv=2), "CalibratedClassifierCV is not read"),
        (StackingClassifier([("one", LogisticRegression())], cv=2), "StackingClassifier is not read"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_other_models_say_that_they_are_not_read(model: Any, words: str) -> None:
    shown = show_monotone(read_model(model.fit(WHOLE, LABELS)), {"a": 1}, "abcd")
    assert words in shown.why_not["a"]
    assert shown.proved == frozenset()


def test_a_subclass_may_predict_in_its_own_way() -> None:
    class Mine(LogisticRegression):  # type: ignore[misc]
        pass

    shown = show_monotone(read_model(Mine().fit(WHOLE, LABELS)), {"a": 1}, "abcd")
    assert shown.why_not == {"a": "the structure of Mine is not read"}


def test_several_classes() -> None:
    three = LABELS + (ROWS[:, 0] > 1)
    booster = xgboost.XGBClassifier(n_estimators=2, n_jobs=1).fit(ROWS, three)
    assert "several classes" in show_monotone(read_model(booster, 2), {"a": 1}, "abcd").why_not["a"]
    forest = RandomForestClassifier(5, max_depth=1, max_features=None, random_state=0).fit(ROWS, three)
    # The share of one class is a sum of trees; that of two classes is a sum of two rounded sums.
    assert suggest_directions(read_model(forest, 2), "abcd").directions == {"a": 1}
    assert "several classes are added up" in show_monotone(read_model(forest, [1, 2]), {"a": 1}, "abcd").why_not["a"]


def test_outputs() -> None:
    assert (Output().sign, Output().column) == (1, None)
    assert (Output((1,), 2).sign, Output((0,), 2).sign, Output((0,), 2).column) == (1, -1, 0)
    with pytest.raises(NotRead):
        _ = Output((2,), 3).sign
    with pytest.raises(NotRead):
        _ = Output((1, 2), 3).column
