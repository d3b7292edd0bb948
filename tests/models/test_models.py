"""Every kind of model: what is read off it, and that flipset's decision is the model's own."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.feature_selection import RFE
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from flipset import Explainer, Feature, InputError, Space
from flipset.models import read_model

DOWN = ["radius", "texture", "smoothness", "concavity"]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Any:
    with threadpool_limits(limits=1):
        yield


def table() -> tuple[pd.DataFrame, pd.Series]:
    """Four columns of a real table; larger values of each make a tumour more likely to be malignant (class 0)."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X[["mean radius", "mean texture", "mean smoothness", "mean concavity"]]
    X.columns = DOWN
    return X, y


X, Y = table()
SIGNS = dict.fromkeys(DOWN, -1)


def fit_hgb() -> Any:
    return HistGradientBoostingClassifier(monotonic_cst=SIGNS, max_iter=30, early_stopping=False, random_state=0).fit(
        X, Y
    )


def fit_forest() -> Any:
    return RandomForestClassifier(10, max_depth=4, monotonic_cst=[-1] * 4, random_state=0).fit(X, Y)


def fit_xgb() -> Any:
    return xgboost.XGBClassifier(n_estimators=30, max_depth=3, monotone_constraints=SIGNS, n_jobs=1).fit(X, Y)


def fit_xgb_booster() -> Any:
    return fit_xgb().get_booster()


def fit_lgbm() -> Any:
    return lightgbm.LGBMClassifier(n_estimators=30, monotone_constraints=[-1] * 4, n_jobs=1, verbose=-1).fit(X, Y)


def fit_lgbm_booster() -> Any:
    return fit_lgbm().booster_


def fit_catboost() -> Any:
    return catboost.CatBoostClassifier(
        iterations=30, depth=3, monotone_constraints=[-1] * 4, thread_count=1, verbose=0, allow_writing_files=False
    ).fit(X, Y)


def fit_plain_catboost() -> Any:
    return catboost.CatBoost(
        {
            "loss_function": "Logloss",
            "iterations": 30,
            "depth": 3,
            "monotone_constraints": {"radius": -1, "texture": -1, "smoothness": -1, "concavity": -1},
            "thread_count": 1,
            "verbose": 0,
            "allow_writing_files": False,
        }
    ).fit(X, Y)


FITTED = [
    fit_hgb,
    fit_forest,
    fit_xgb,
    fit_xgb_booster,
    fit_lgbm,
    fit_lgbm_booster,
    fit_catboost,
    fit_plain_catboost,
]


def labels(model: Any, rows: pd.DataFrame) -> Any:
    """What the library itself decides."""
    if isinstance(model, xgboost.Booster):
        return (model.inplace_predict(rows) > 0.5).astype(int)
    if isinstance(model, lightgbm.Booster):
        return (np.asarray(model.predict(rows)) > 0.5).astype(int)
    if type(model) is catboost.CatBoost:
        return model.predict(rows, prediction_type="Class")
    return model.predict(rows)


@pytest.mark.parametrize("fit", FITTED)
def test_directions_names_and_decisions_are_the_models_own(fit: Callable[[], Any]) -> None:
    model = fit()
    scorer = read_model(model)
    assert scorer.names == tuple(DOWN)
    assert scorer.directions == SIGNS
    explainer = Explainer(model, X)
    assert [feature.direction for feature in explainer.space.features] == [-1] * 4
    scores = explainer.predict(X)
    assert ((scores >= explainer.threshold) == (labels(model, X) == 1)).all()


@pytest.mark.parametrize("fit", FITTED)
def test_results_equal_exhaustive_enumeration(fit: Callable[[], Any]) -> None:
    model = fit()
    assert_exhaustive(Explainer(model, X), lambda rows: labels(model, rows))


def assert_exhaustive(explainer: Explainer, decide: Callable[[pd.DataFrame], Any]) -> None:
    """Compare with all subsets of the four columns, each at its best value; `decide` is the model's own word."""
    rows = X.iloc[::60]
    for (_, row), label in zip(rows.iterrows(), decide(rows), strict=True):
        e = explainer.explain(row)
        assert e.decision == (label == 1)
        best = X.min() if label == 0 else X.max()
        sets = [set(names) for k in range(5) for names in combinations(DOWN, k)]
        moved = pd.DataFrame([{n: (best[n] if n in names else row[n]) for n in DOWN} for names in sets])
        working = [names for names, other in zip(sets, decide(moved), strict=True) if other != label]
        size = min(map(len, working), default=None)
        assert e.size == size
        assert {frozenset(f) for f in e.flipsets} == {frozenset(names) for names in working if len(names) == size}
        if e.counterfactuals:
            reported = pd.DataFrame([c.row for c in e.counterfactuals])
            assert (decide(reported) != label).all()
        assert explainer.verify(e)


def test_labels_that_are_strings_or_reversed() -> None:
    model = fit_hgb()
    named = HistGradientBoostingClassifier(monotonic_cst=SIGNS, max_iter=30, early_stopping=False, random_state=0)
    named.fit(X, Y.map({0: "malignant", 1: "benign"}))  # now "malignant" is the second class: directions turn round
    assert list(named.classes_) == ["benign", "malignant"]
    row = X.iloc[0]
    plain = Explainer(model, X).explain(row)
    first = Explainer(model, X, positive=0)
    assert first.space["radius"].direction == +1
    assert (first.explain(row).decision, first.explain(row).flipsets) == (not plain.decision, plain.flipsets)
    with pytest.raises(InputError, match=r"positive='x' is not one of the model's classes \['benign', 'malignant'\]"):
        Explainer(named, X, positive="x")


def test_ties_go_where_the_model_puts_them() -> None:
    class Coin:
        classes_ = np.array([0, 1])

        def predict_proba(self, rows: Any) -> Any:
            p = np.clip(np.asarray(rows)[:, 0] / 10, 0, 1)
            return np.column_stack([1 - p, p])

    space = Space.from_frame(pd.DataFrame({"x": [0.0, 5.0, 10.0]}), increasing=["x"], steps={"x": 1})
    second = Explainer(Coin(), space).explain([5.0])
    assert (second.decision, second.counterfactuals[0].changes[0].after) == (False, 6.0)
    assert Explainer(Coin(), space, threshold=0.5).explain([5.0]).decision is True
    falling = Space.from_frame(pd.DataFrame({"x": [0.0, 5.0, 10.0]}), decreasing=["x"], steps={"x": 1})
    assert Explainer(Coin(), falling, positive=0).explain([5.0]).decision is True


def test_a_pipeline_speaks_the_raw_columns() -> None:
    frame = X.assign(grade=np.where(X["radius"] > 15, "high", "low"))
    frame.loc[frame.index[::7], "texture"] = np.nan
    preparation = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), DOWN),
            ("grade", OrdinalEncoder(categories=[["low", "high"]]), ["grade"]),
        ]
    )
    model = make_pipeline(
        preparation, HistGradientBoostingClassifier(monotonic_cst=[-1] * 5, max_iter=20, random_state=0)
    )
    model.fit(frame, Y)
    space = Space.from_frame(frame, decreasing=[*DOWN, "grade"], ordinal={"grade": ["low", "high"]})
    explainer = Explainer(model, space)
    t: Any = explainer.explain_table(frame.iloc[::40])
    assert [e.decision for e in t] == [bool(label) for label in model.predict(frame.iloc[::40])]
    reported = pd.DataFrame([c.row for e in t for c in e.counterfactuals])[list(frame.columns)]
    assert len(reported) > 10
    decisions = [not e.decision for e in t for _ in e.counterfactuals]
    assert [bool(label) for label in model.predict(reported)] == decisions


def test_models_without_probabilities_and_models_of_values() -> None:
    scaled = (X - X.mean()) / X.std()
    svc = LinearSVC(random_state=0).fit(scaled, Y)
    space = Space.from_frame(scaled, decreasing=[n for n, c in zip(DOWN, svc.coef_[0], strict=True) if c < 0],
                             increasing=[n for n, c in zip(DOWN, svc.coef_[0], strict=True) if c > 0])  # fmt: skip
    explainer = Explainer(svc, space)
    assert ((explainer.predict(scaled) >= explainer.threshold) == (svc.predict(scaled) == 1)).all()
    value = HistGradientBoostingRegressor(monotonic_cst=SIGNS, max_iter=20, early_stopping=False, random_state=0).fit(
        X, Y
    )
    with pytest.raises(InputError, match="a model of values needs a threshold"):
        Explainer(value, X)
    assert Explainer(value, X, threshold=0.7).explain(X.iloc[0]).decision is bool(value.predict(X.iloc[:1])[0] >= 0.7)
    with pytest.raises(InputError, match="positive is for classifiers"):
        Explainer(value, X, threshold=0.7, positive=1)


def test_several_classes_need_a_word() -> None:
    three = LogisticRegression(max_iter=1000).fit(X, np.arange(len(X)) % 3)
    with pytest.raises(InputError, match="the model has 3 classes; say which count as positive"):
        read_model(three)
    scorer = read_model(three, positive=[1, 2])
    assert np.allclose(scorer.predict(X), three.predict_proba(X)[:, 1:].sum(axis=1))
    with pytest.raises(InputError, match="and not all of them"):
        read_model(three, positive=[0, 1, 2])


def test_columns_in_another_order_and_columns_the_model_does_not_know() -> None:
    model = fit_hgb()
    expected = Explainer(model, X).explain(X.iloc[0])
    shuffled = X[DOWN[::-1]].assign(id=range(len(X)))
    e = Explainer(model, shuffled).explain(shuffled.iloc[0])
    assert {frozenset(f) for f in e.flipsets} == {frozenset(f) for f in expected.flipsets}
    space = Space.from_frame(shuffled, decreasing=DOWN)
    assert Explainer(model, space).explain(shuffled.iloc[0]).held_fixed == ("id",)
    with pytest.raises(InputError, match="the model was fitted with a column 'radius' that the space does not have"):
        Explainer(model, Space.from_frame(X[DOWN[1:]], decreasing=DOWN[1:]))
    with pytest.raises(InputError, match="the frame has no column 'radius', which the model was fitted with"):
        Explainer(model, X[DOWN[1:]])


def test_a_space_without_a_frame_still_gives_the_model_its_names() -> None:
    model = fit_hgb()
    space = Space.from_toml(Space.from_frame(X, decreasing=DOWN).to_toml())
    assert (
        Explainer(model, space).explain(X.iloc[0].tolist()).flipsets == Explainer(model, X).explain(X.iloc[0]).flipsets
    )


def test_a_model_that_says_nothing_needs_directions() -> None:
    silent = HistGradientBoostingClassifier(max_iter=5).fit(X, Y)
    with pytest.raises(InputError, match="the model does not say in which direction each column moves its score"):
        Explainer(silent, X)
    with pytest.raises(InputError, match="is not fitted"):
        read_model(HistGradientBoostingClassifier())


@pytest.mark.filterwarnings("ignore::FutureWarning")  # scikit-learn is about to drop SVC's probabilities
def test_the_threshold_is_where_the_models_own_decision_turns() -> None:
    scaled = (X - X.mean()) / X.std()
    space = Space.from_frame(scaled, decreasing=DOWN)
    models = [
        FixedThresholdClassifier(LogisticRegression(), threshold=0.9).fit(scaled, Y),
        FixedThresholdClassifier(LogisticRegression()).fit(scaled, Y),
        TunedThresholdClassifierCV(LogisticRegression(), cv=2).fit(scaled, Y),
        SVC(probability=True, kernel="linear", random_state=0).fit(scaled, Y),
        make_pipeline(StandardScaler(), SVC(probability=True, kernel="linear", random_state=0)).fit(scaled, Y),
    ]
    for model in models:
        explainer = Explainer(model, space)
        assert ((explainer.predict(scaled) >= explainer.threshold) == (model.predict(scaled) == 1)).all()
    with pytest.raises(InputError, match="needs a threshold"):
        Explainer(models[0], space, positive=0)


def test_lightgbm_writes_names_in_its_own_way() -> None:
    spaced = X.rename(columns={"radius": "mean radius"})
    model = lightgbm.LGBMClassifier(n_estimators=10, monotone_constraints=[-1] * 4, n_jobs=1, verbose=-1)
    model.fit(spaced, Y)
    for one in (model, model.booster_):
        explainer = Explainer(one, spaced)
        assert explainer.space.names == ("mean radius", *DOWN[1:])
        assert [feature.direction for feature in explainer.space.features] == [-1] * 4
        assert explainer.verify(explainer.explain(spaced.iloc[0]))
    bare = lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1).fit(X.to_numpy(), Y)
    assert read_model(bare).names is None
    assert read_model(bare.booster_).names is None


def wrapped() -> list[Any]:
    def svc() -> Any:
        return SVC(probability=True, kernel="linear", random_state=0)

    def strict() -> Any:
        return FixedThresholdClassifier(LogisticRegression(), threshold=0.8)

    return [
        GridSearchCV(svc(), {"C": [0.1, 1.0]}, cv=2),
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), svc())),
        make_pipeline(StandardScaler(), GridSearchCV(svc(), {"C": [1.0]}, cv=2)),
        RFE(svc(), n_features_to_select=2),
        FrozenEstimator(svc()),
        OneVsRestClassifier(svc()),
        StackingClassifier([("a", LogisticRegression())], final_estimator=svc(), cv=2),
        make_pipeline(StandardScaler(), strict()),
        GridSearchCV(strict(), {"threshold": [0.8]}, cv=2),
    ]


@pytest.mark.filterwarnings("ignore")
def test_wrapped_models_decide_as_their_predict_does() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X.sum(axis=1) + rng.normal(size=120) > 0).astype(int)
    space = Space([Feature(name, direction=+1, lower=-5, upper=5) for name in "abc"])
    told = 0
    for model in wrapped():
        if isinstance(model, FrozenEstimator):
            model.estimator.fit(X, y)
        model.fit(X, y)
        for positive in (1, 0):
            try:
                explainer = Explainer(model, space, positive=positive)
            except InputError as error:  # the border that was set is that of one class
                assert "threshold" in str(error)
                continue
            table = rng.normal(size=(400, 3)) * 0.6
            decided = np.array(explainer.scores(table)) >= explainer.threshold
            assert (decided == (model.predict(table) == positive)).all(), type(model).__name__
            told += 1
    assert told >= 14


def test_a_catboost_model_keeps_its_border(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = (X.sum(axis=1) > 1).astype(int)
    fitted = catboost.CatBoostClassifier(iterations=8, verbose=0, allow_writing_files=False).fit(X, y)
    fitted.set_probability_threshold(0.3)
    fitted.save_model(str(tmp_path / "m.cbm"))
    plain = catboost.CatBoost()
    plain.load_model(str(tmp_path / "m.cbm"))
    explainer = Explainer(plain, Space([Feature(name, direction=+1, lower=0, upper=1) for name in "ab"]))
    decided = np.array(explainer.scores(X)) >= explainer.threshold
    labels = plain.predict(X, prediction_type="Class").ravel()
    assert decided.tolist() == [int(label) == 1 for label in labels]
    assert decided.tolist() != [score >= 0.5 for score in explainer.scores(X)]


def test_an_xgboost_file_that_stopped_early_predicts_as_its_estimator_does(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X, other = rng.random((300, 3)), rng.random((200, 3))
    y = (X.sum(axis=1) + rng.normal(size=300) * 0.4 > 1.5).astype(int)
    model = xgboost.XGBClassifier(n_estimators=40, early_stopping_rounds=3, n_jobs=1)
    model.fit(X, y, eval_set=[(other, rng.integers(0, 2, 200))], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    model.save_model(tmp_path / "m.ubj")
    space = Space([Feature(name, direction=+1, lower=0, upper=1) for name in "abc"])
    scores = Explainer(str(tmp_path / "m.ubj"), space).scores(other)
    assert np.allclose(scores, model.predict_proba(other)[:, 1])


def test_a_class_is_named_once_and_is_of_the_models_kind() -> None:
    X = np.arange(30.0).reshape(-1, 1)
    model = LogisticRegression().fit(X, np.repeat([0, 1, 2], 10))
    space = Space([Feature("a", direction=+1, lower=0, upper=30)])
    with pytest.raises(InputError, match="names a class twice"):
        Explainer(model, space, positive=[2, 2])
    with pytest.raises(InputError, match="names a column twice"):
        Explainer(model.predict_proba, space, positive=[1, 1]).explain([3.0])
    with pytest.raises(InputError, match="the model answers text such as"):
        Explainer(lambda rows: np.where(rows[:, 0] > 3, "yes", "no"), space, positive=0).explain([3.0])


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosters_of_two_classes_take_the_first_class(library: str) -> None:
    """Rows, directions, proofs and decisions are those of the second class, turned around."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 400), "b": rng.integers(0, 9, 400)})
    label = (frame["a"] - frame["b"] + rng.normal(0, 2, 400) > 0).astype(int)
    if library == "xgboost":
        settings = {"objective": "binary:logistic", "monotone_constraints": "(1,-1)", "nthread": 1}
        booster: Any = xgboost.train(settings, xgboost.DMatrix(frame, label=label), 20)
    else:
        given = {"objective": "binary", "monotone_constraints": [1, -1], "verbose": -1, "num_threads": 1}
        booster = lightgbm.train(given, lightgbm.Dataset(frame, label=label), 20)
    space = Space.from_frame(frame, decreasing=["a"], increasing=["b"])
    first = Explainer(booster, space, positive=0)
    assert dict(first.monotonicity) == {"a": "proved", "b": "proved"}
    second = Explainer(booster, Space.from_frame(frame, increasing=["a"], decreasing=["b"]))
    for row in frame.iloc[:40].itertuples(index=False):
        e, other = first.explain(list(row)), second.explain(list(row))
        assert (e.decision, e.flipsets) == (not other.decision, other.flipsets)
    with pytest.raises(InputError, match="the classes of a Booster are 0 and 1, got positive=2"):
        Explainer(booster, space, positive=2)
    with pytest.raises(InputError, match="constraints"):
        Explainer(booster, space)
