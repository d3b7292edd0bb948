"""CatBoost's trees in the common form give the sums that CatBoost computes, to the last bit."""

from typing import Any

import catboost
import numpy as np
import pandas as pd
import pytest

from flipset.models import read_model as scorer_of
from flipset.models.monotone.catboost_models import _notes, read_model
from flipset.models.monotone.show import show_monotone
from flipset.models.monotone.shown import NotRead
from flipset.models.monotone.trees import Forest
from tests.models.monotone.forests import added_up, draw_rows, in_batches, leaves_of, rows_at_cuts

ROWS, LABELS = draw_rows()
FRAME = pd.DataFrame(ROWS, columns=list("abcd")).assign(d=lambda frame: frame.d.fillna(9).astype(int).astype(str))


def fit(rows: Any = ROWS, kind: Any = catboost.CatBoostClassifier, labels: Any = LABELS, **how: Any) -> Any:
    given = {"iterations": 41, "depth": 4, "thread_count": 1, "verbose": 0, "allow_writing_files": False} | how
    return kind(**given).fit(rows, labels)


def forest_of(model: Any) -> Forest:
    body = read_model(model).body
    assert isinstance(body, Forest)
    return body


@pytest.mark.parametrize(
    "how", [{}, {"nan_mode": "Max"}, {"grow_policy": "Lossguide"}, {"grow_policy": "Depthwise"}, {"iterations": 400}]
)
def test_sums_are_those_of_the_library(how: dict[str, Any]) -> None:
    model = fit(**how)
    forest = forest_of(model)
    rows = rows_at_cuts(forest, np.random.default_rng(0))
    scale, bias = model.get_scale_and_bias()
    expected = added_up(0.0, leaves_of(forest, rows)) * scale + bias
    for scores in in_batches(lambda some: model.predict(some, prediction_type="RawFormulaVal"), rows):
        assert scores.tobytes() == expected.tobytes()


def test_a_file_is_read_as_the_model_is(tmp_path: Any) -> None:
    model = fit()
    for ending in ("cbm", "json"):
        model.save_model(str(tmp_path / f"model.{ending}"), format=ending)
        scorer = scorer_of(tmp_path / f"model.{ending}")
        assert show_monotone(scorer, {"a": 1}, "abcd") == show_monotone(scorer_of(model), {"a": 1}, "abcd")


@pytest.mark.parametrize("grow", ["SymmetricTree", "Depthwise"])
@pytest.mark.parametrize("largest", [2, 20], ids=["statistics", "one by one"])
def test_categories_do_not_keep_numbers_from_being_proved(largest: int, grow: str) -> None:
    how: dict[str, Any] = {"monotone_constraints": {"a": 1, "b": 1}} if grow == "SymmetricTree" else {"iterations": 1}
    model = fit(FRAME, cat_features=["d"], one_hot_max_size=largest, grow_policy=grow, max_ctr_complexity=1, **how)
    scorer = scorer_of(model)
    shown = show_monotone(scorer, {"a": 1, "b": 1, "d": 1}, "abcd")
    assert shown.why_not["d"]
    # Every pair of rows that differ in one column only is asked of the model itself.
    table = pd.concat([FRAME.assign(a=value) for value in np.linspace(-3, 3, 25)])
    scores = np.asarray(scorer.predict(table)).reshape(25, -1)
    assert (np.diff(scores, axis=0) >= 0).all() or "a" in shown.why_not
    if grow == "SymmetricTree":
        assert shown.proved == {"a", "b"}


def test_statistics_that_depend_on_numbers_prove_nothing_about_these() -> None:
    # Statistics of combinations may be about splits of numbers, too.
    model = fit(FRAME.assign(e=FRAME.d.str.cat(FRAME.d)), cat_features=["d", "e"], one_hot_max_size=2, iterations=60)
    reading = read_model(model)
    assert reading.derived
    assert all(own <= {0, 1, 2, 3, 4} and own & {3, 4} for own in reading.derived)


@pytest.mark.parametrize("loss", ["RMSE", "MAE", "Quantile:alpha=0.3", "Poisson", "Tweedie:variance_power=1.5"])
def test_the_score_follows_the_sum(loss: str) -> None:
    model = fit(kind=catboost.CatBoostRegressor, loss_function=loss)
    reading = read_model(model)
    assert bool(reading.notes) == loss.startswith(("Poisson", "Tweedie"))
    scores, sums = model.predict(ROWS), model.predict(ROWS, prediction_type="RawFormulaVal")
    assert (np.diff(scores[np.argsort(sums)]) >= 0).all()


def test_columns_that_are_left_out_of_the_training_count() -> None:
    model = fit(ignored_features=[1, 3], monotone_constraints=[1, 0, 0, 0], iterations=5)
    shown = show_monotone(scorer_of(model), {"a": 1, "b": 1, "d": -1}, "abcd")
    assert shown.proved == {"a", "b", "d"}


def test_what_is_not_read_says_why() -> None:
    several = fit(labels=np.arange(len(ROWS)) % 3)
    with pytest.raises(NotRead, match="softmax"):
        read_model(several)
    with pytest.raises(NotRead, match="'Something' may change the order"):
        _notes({"params": {"loss_function": {"type": "Something"}}})
    turned = fit()
    turned.set_scale_and_bias(-1.0, 0.0)
    with pytest.raises(NotRead, match="multiplied by -1"):
        read_model(turned)
