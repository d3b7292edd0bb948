"""LightGBM's trees in the common form give the sums that LightGBM computes, to the last bit."""

from typing import Any

import lightgbm
import numpy as np
import pytest

from flipset.models import read_model
from flipset.models.monotone.lightgbm_models import NEAR_ZERO, read_booster
from flipset.models.monotone.show import show_monotone
from flipset.models.monotone.shown import NotRead
from flipset.models.monotone.trees import Forest
from tests.models.monotone.forests import added_up, draw_rows, in_batches, leaves_of, rows_at_cuts

ROWS, LABELS = draw_rows()


def fit(categories: Any = "auto", rows: Any = ROWS, **how: Any) -> Any:
    given = {"n_estimators": 15, "num_leaves": 12, "min_child_samples": 5, "n_jobs": 1, "verbose": -1} | how
    return lightgbm.LGBMClassifier(**given).fit(rows, LABELS, categorical_feature=categories)


def forest_of(model: Any) -> Forest:
    body = read_booster(model.booster_).body
    assert isinstance(body, Forest)
    return body


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"use_missing": False},
        {"boosting_type": "dart"},
        {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5},
        {"categories": [3], "min_data_per_group": 3, "cat_smooth": 1, "cat_l2": 0},
        {"categories": [3], "min_data_per_group": 3, "cat_smooth": 1, "cat_l2": 0, "use_missing": False},
        {"categories": [3], "max_cat_to_onehot": 99, "min_data_per_group": 3},
    ],
)
def test_sums_are_those_of_the_library(how: dict[str, Any]) -> None:
    model = fit(**how)
    forest = forest_of(model)
    assert bool(forest.categories) == ("categories" in how)
    rows = rows_at_cuts(forest, np.random.default_rng(0))
    seen = np.where(np.abs(rows) <= NEAR_ZERO, 0.0, rows)  # as LightGBM reads them
    expected = added_up(0.0, leaves_of(forest, seen))
    for scores in in_batches(lambda some: model.predict(some, raw_score=True), rows):
        assert scores.tobytes() == expected.tobytes()


def test_a_model_that_stopped_early_is_read_up_to_its_best_round() -> None:
    data = lightgbm.Dataset(ROWS[:200], LABELS[:200])
    booster = lightgbm.train(
        {"objective": "binary", "num_leaves": 20, "learning_rate": 1.0, "num_threads": 1, "verbose": -1},
        data,
        80,
        valid_sets=[lightgbm.Dataset(ROWS[200:], LABELS[200:], reference=data)],
        callbacks=[lightgbm.early_stopping(5, verbose=False)],
        keep_training_booster=True,
    )
    assert booster.best_iteration < booster.current_iteration()
    forest = read_booster(booster).body
    assert isinstance(forest, Forest)
    assert forest.trees == booster.best_iteration
    expected = added_up(0.0, leaves_of(forest, ROWS))
    assert np.asarray(booster.predict(ROWS, raw_score=True)).tobytes() == expected.tobytes()


def test_a_file_is_read_as_the_model_is(tmp_path: Any) -> None:
    model = fit()
    model.booster_.save_model(tmp_path / "model.txt")
    scorer = read_model(tmp_path / "model.txt")
    assert show_monotone(scorer, {"a": 1}, "abcd") == show_monotone(read_model(model), {"a": 1}, "abcd")


@pytest.mark.parametrize("objective", ["regression", "quantile", "huber", "poisson", "tweedie", "cross_entropy"])
def test_the_score_follows_the_sum(objective: str) -> None:
    data = lightgbm.Dataset(ROWS, LABELS + 0.0)
    booster = lightgbm.train({"objective": objective, "num_threads": 1, "verbose": -1}, data, 5)
    reading = read_booster(booster)
    assert bool(reading.notes) == (objective in ("poisson", "tweedie", "cross_entropy"))
    scores, sums = np.asarray(booster.predict(ROWS)), np.asarray(booster.predict(ROWS, raw_score=True))
    assert (np.diff(scores[np.argsort(sums)]) >= 0).all()


def test_what_is_not_read_says_why() -> None:
    with pytest.raises(NotRead, match="linear trees are not read"):
        forest_of(fit(linear_tree=True))
    with pytest.raises(NotRead, match="zero_as_missing"):
        forest_of(fit(zero_as_missing=True, rows=np.where(np.isnan(ROWS), 0.0, np.abs(ROWS) - 0.3)))
    with pytest.raises(NotRead, match="pred_early_stop"):
        read_booster(fit().booster_, settings={"pred_early_stop": True})
    several = lightgbm.LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1).fit(ROWS, np.arange(len(ROWS)) % 3)
    with pytest.raises(NotRead, match="softmax"):
        read_booster(several.booster_)


def test_a_sigmoid_that_falls_is_refused() -> None:
    from flipset.models.monotone.lightgbm_models import _notes

    assert _notes("binary sigmoid:2")
    with pytest.raises(NotRead, match="may change the order"):
        _notes("binary sigmoid:-1")
    with pytest.raises(NotRead, match="may change the order"):
        _notes("something new")
