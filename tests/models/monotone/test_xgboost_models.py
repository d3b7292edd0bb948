"""XGBoost's trees in the common form give the sums that XGBoost computes, to the last bit."""

from typing import Any

import numpy as np
import pytest
import xgboost

from flipset.models import read_model
from flipset.models.monotone.linear import Weights
from flipset.models.monotone.show import show_monotone
from flipset.models.monotone.shown import NotRead
from flipset.models.monotone.trees import Forest
from flipset.models.monotone.xgboost_models import read_booster
from tests.models.monotone.forests import added_up, draw_rows, in_batches, leaves_of, rows_at_cuts

ROWS, LABELS = draw_rows()


def fit(**how: Any) -> Any:
    given = {"n_estimators": 15, "max_depth": 4, "base_score": 0.5, "n_jobs": 1} | how
    return xgboost.XGBClassifier(**given).fit(ROWS, LABELS)


def forest_of(model: Any, **how: Any) -> Forest:
    body = read_booster(model.get_booster(), **how).body
    assert isinstance(body, Forest)
    return body


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"booster": "dart", "rate_drop": 0.5},
        {"num_parallel_tree": 3, "subsample": 0.5},
        {"enable_categorical": True, "feature_types": ["q", "q", "q", "c"], "max_cat_to_onehot": 2},
        {"enable_categorical": True, "feature_types": ["q", "q", "q", "c"], "max_cat_to_onehot": 99},
    ],
)
def test_sums_are_those_of_the_library(how: dict[str, Any]) -> None:
    model = fit(**how)
    forest = forest_of(model)
    assert bool(forest.categories) == ("feature_types" in how)
    rows = rows_at_cuts(forest, np.random.default_rng(0))
    expected = added_up(0.0, leaves_of(forest, rows), np.float32)
    for scores in in_batches(lambda some: model.predict(some, output_margin=True), rows):
        assert scores.tobytes() == expected.tobytes()


def test_a_model_that_stopped_early_is_read_up_to_its_best_round() -> None:
    model = xgboost.XGBClassifier(n_estimators=60, max_depth=6, learning_rate=1.0, early_stopping_rounds=5, n_jobs=1)
    model.fit(ROWS[:200], LABELS[:200], eval_set=[(ROWS[200:], LABELS[200:])], verbose=False)
    rounds = model.best_iteration + 1
    assert rounds < model.get_booster().num_boosted_rounds()
    assert forest_of(model, rounds=rounds).trees == rounds
    # A tree beyond the best round says nothing about the model, and the adapter knows that.
    shown = show_monotone(read_model(model), dict.fromkeys("abcd", +1), "abcd")
    assert all(f" of {rounds} is" in reason for reason in shown.why_not.values())


def test_files_of_every_format_are_read(tmp_path: Any) -> None:
    model = fit()
    for ending in ("json", "ubj"):
        model.save_model(tmp_path / f"model.{ending}")
        scorer = read_model(tmp_path / f"model.{ending}")
        assert show_monotone(scorer, {"a": 1}, "abcd") == show_monotone(read_model(model), {"a": 1}, "abcd")


def test_linear_boosters_are_read_as_weights() -> None:
    model = fit(booster="gblinear", max_depth=None, n_jobs=1, updater="coord_descent")
    body = read_booster(model.get_booster()).body
    assert isinstance(body, Weights)
    assert body.weights.tolist() == pytest.approx(model.coef_.tolist(), rel=1e-4)


@pytest.mark.parametrize(
    ("objective", "note"),
    [
        ("reg:squarederror", ""),
        ("binary:logitraw", ""),
        ("binary:hinge", ""),
        ("rank:pairwise", ""),
        ("binary:logistic", "sigmoid"),
        ("count:poisson", "exponential"),
        ("reg:tweedie", "exponential"),
    ],
)
def test_the_score_follows_the_sum(objective: str, note: str) -> None:
    data = xgboost.DMatrix(ROWS, LABELS)
    booster = xgboost.train({"objective": objective, "max_depth": 2, "nthread": 1}, data, 5)
    reading = read_booster(booster)
    assert note in "".join(reading.notes)
    assert bool(reading.notes) == bool(note)
    scores, sums = booster.predict(data), booster.predict(data, output_margin=True)
    assert (np.diff(scores[np.argsort(sums)]) >= 0).all()


def test_what_is_not_read_says_why() -> None:
    assert "reads -999 as a missing value" in read_booster(fit().get_booster(), missing=-999.0).why_not
    several = xgboost.XGBClassifier(n_estimators=2, n_jobs=1).fit(ROWS, np.arange(len(ROWS)) % 3)
    with pytest.raises(NotRead, match="several outputs"):
        read_booster(several.get_booster())
    shown = show_monotone(read_model(fit(missing=-999.0)), {"a": 1}, "abcd")
    assert "-999" in shown.why_not["a"]
    assert not shown.notes


def test_weights_of_dart_below_zero_turn_a_tree_round() -> None:
    import json

    model = fit(booster="dart", n_estimators=1, max_depth=1, monotone_constraints=(1, 0, 0, 0), colsample_bytree=1)
    saved = json.loads(bytes(model.get_booster().save_raw("json")))
    saved["learner"]["gradient_booster"]["weight_drop"] = [-0.5]
    booster = xgboost.Booster()
    booster.load_model(bytearray(json.dumps(saved).encode()))
    rows = np.array([[-2.0, 0, 0, 0], [2.0, 0, 0, 0]])
    low, high = booster.inplace_predict(rows)
    assert low > high
    assert show_monotone(read_model(booster), {"a": -1}, "abcd").proved == {"a"}
    assert "a" in show_monotone(read_model(booster), {"a": 1}, "abcd").why_not
