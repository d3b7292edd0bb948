"""Frames that XGBoost is given as arrays: the scores are the same to the last bit."""

from typing import Any

import numpy as np
import pytest

from flipset.models.xgboost_arrays import as_array, in_arrays

pd = pytest.importorskip("pandas")
xgboost = pytest.importorskip("xgboost")


def frame_of(seed: int, rows: int = 400) -> Any:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=rows),
            "b": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows)),
            "c": rng.integers(-(1 << 25), 1 << 25, rows),
            "d": rng.random(rows) < 0.5,
            "e": rng.normal(size=rows).astype(np.float32),
        }
    )


@pytest.fixture(scope="module")
def model() -> Any:
    frame = frame_of(0)
    wanted = frame["a"] + frame["d"] + frame["c"] / (1 << 25) > 0.3
    return xgboost.XGBClassifier(n_estimators=30, n_jobs=1).fit(frame, wanted)


def test_scores_are_the_same_to_the_last_bit(model: Any) -> None:
    frame = frame_of(1)
    given: list[Any] = []

    def predict(rows: Any) -> Any:
        given.append(rows)
        return model.predict_proba(rows)

    scores = in_arrays(model, predict)(frame)
    assert isinstance(given[0], np.ndarray)
    assert scores.tobytes() == model.predict_proba(frame).tobytes()
    booster = model.get_booster()
    assert in_arrays(booster, booster.inplace_predict)(frame).tobytes() == booster.inplace_predict(frame).tobytes()


def test_anything_else_is_passed_on_as_it_is(model: Any) -> None:
    frame = frame_of(2, rows=5)
    names = list(frame.columns)
    assert isinstance(as_array(frame, names), np.ndarray)
    large = frame.assign(c=(1 << 53) + np.arange(5))
    others = [
        frame[names[::-1]],  # XGBoost says which columns it expects
        frame.rename(columns={"a": "x"}),
        frame.assign(c=frame["c"].astype("Int64")),
        frame.assign(d=frame["d"].astype("category")),
        large,
        frame.to_numpy(dtype=float),
    ]
    for rows in others:
        assert as_array(rows, names) is rows
    with pytest.raises(ValueError, match="feature_names"):
        in_arrays(model, model.predict_proba)(frame[names[::-1]])


def test_other_models_are_left_alone(model: Any) -> None:
    frame = frame_of(3)
    wanted = frame["a"] > 0
    with_code = xgboost.XGBClassifier(n_estimators=2, missing=-7.0).fit(frame.assign(b=0.0), wanted)
    by_category = xgboost.XGBClassifier(n_estimators=2, enable_categorical=True)
    by_category.fit(frame.assign(d=pd.Categorical(np.where(frame["d"], "x", "y"))), wanted)
    from_array = xgboost.XGBClassifier(n_estimators=2).fit(frame[["a", "e"]].to_numpy(), wanted)
    for other in (with_code, by_category, from_array, object()):
        assert in_arrays(other, len) is len
