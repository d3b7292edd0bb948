"""scikit-learn's trees in the common form give the sums that scikit-learn computes, to the last bit."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from flipset.models.monotone.scikit_trees import read_boosting, read_forest, read_histogram_boosting, read_tree
from flipset.models.monotone.shown import NotRead
from flipset.models.monotone.trees import Forest
from tests.models.monotone.forests import added_up, draw_rows, in_batches, leaves_of, rows_at_cuts

ROWS, LABELS = draw_rows()
WHOLE = np.nan_to_num(ROWS)


def check(body: Any, predict: Any, start: float = 0.0, divisor: float = 1.0) -> None:
    assert isinstance(body, Forest)
    rows = rows_at_cuts(body, np.random.default_rng(0))
    expected = added_up(start, leaves_of(body, rows)) / divisor
    for scores in in_batches(predict, rows):
        assert scores.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_forests_give_the_share_of_a_class(kind: Any, column: int) -> None:
    labels = LABELS + (ROWS[:, 2] > 1)  # three classes: the share of each is a sum of its own
    model = kind(12, random_state=0).fit(ROWS, labels)
    check(read_forest(model, column).body, lambda rows: model.predict_proba(rows)[:, column], divisor=12)


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_forests_give_values(kind: Any) -> None:
    model = kind(12, random_state=0).fit(ROWS, ROWS[:, 0] > 0)
    check(read_forest(model, None).body, model.predict, divisor=12)


def test_trees() -> None:
    classifier = DecisionTreeClassifier(random_state=0).fit(ROWS, LABELS)
    check(read_tree(classifier, 0).body, lambda rows: classifier.predict_proba(rows)[:, 0])
    regressor = DecisionTreeRegressor(random_state=0).fit(ROWS, LABELS)
    check(read_tree(regressor, None).body, regressor.predict)


@pytest.mark.parametrize("init", [None, "zero"])
def test_gradient_boosting(init: Any) -> None:
    model = GradientBoostingClassifier(n_estimators=12, init=init, random_state=0).fit(WHOLE, LABELS)
    start = float(model._raw_predict_init(WHOLE[:1])[0, 0])
    check(read_boosting(model, 1).body, model.decision_function, start)
    values = GradientBoostingRegressor(n_estimators=12, init=init, random_state=0).fit(WHOLE, LABELS)
    check(read_boosting(values, 1).body, values.predict, float(values._raw_predict_init(WHOLE[:1])[0, 0]))


@pytest.mark.parametrize("categories", [None, [3]])
def test_boosting_on_histograms(categories: Any) -> None:
    model = HistGradientBoostingClassifier(max_iter=12, categorical_features=categories).fit(ROWS, LABELS)
    body = read_histogram_boosting(model, 1).body
    assert isinstance(body, Forest)
    assert body.category_inputs == frozenset(categories or ())
    check(body, model.decision_function, float(model._baseline_prediction[0, 0]))


def test_a_split_off_missing_value_has_no_numbers_on_its_side() -> None:
    rows = np.concatenate([np.zeros((50, 1)), np.full((50, 1), np.nan)])
    model = HistGradientBoostingRegressor(max_iter=1, min_samples_leaf=2).fit(rows, np.isnan(rows[:, 0]))
    body = read_histogram_boosting(model, 1).body
    assert isinstance(body, Forest)
    from flipset.models.monotone.order import judge

    assert np.isinf(body.cut).any()
    assert not judge(body, {0: -1}).failed
    assert not judge(body, {0: +1}).failed


def test_what_is_not_read_says_why() -> None:
    threads = read_forest(RandomForestClassifier(2, n_jobs=-1).fit(ROWS, LABELS), 1)
    assert "n_jobs=-1" in threads.why_not
    assert threads.why_not.endswith("set n_jobs=1")
    three = np.arange(len(ROWS)) % 3
    with pytest.raises(NotRead, match="softmax"):
        read_boosting(GradientBoostingClassifier(n_estimators=2).fit(WHOLE, three), 1)
    with pytest.raises(NotRead, match="softmax"):
        read_histogram_boosting(HistGradientBoostingClassifier(max_iter=2).fit(ROWS, three), 1)
    with pytest.raises(NotRead, match="starts from another model, LinearRegression"):
        read_boosting(GradientBoostingRegressor(n_estimators=2, init=LinearRegression()).fit(WHOLE, LABELS), 1)
    with pytest.raises(NotRead, match="several outputs"):
        read_forest(RandomForestRegressor(2).fit(WHOLE, WHOLE[:, :2]), None)


@pytest.mark.parametrize(("loss", "note"), [("squared_error", False), ("poisson", True), ("gamma", True)])
def test_notes_name_what_is_trusted(loss: str, note: bool) -> None:
    model = HistGradientBoostingRegressor(max_iter=2, loss=loss).fit(ROWS, LABELS + 1)
    assert bool(read_histogram_boosting(model, 1).notes) == note
