"""At and near the border the decision is the one that the model makes."""

import inspect
import warnings
from collections.abc import Iterator
from functools import partial
from math import inf, nextafter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import all_estimators

from flipset import Explainer, Explanation, Feature, InputError, OracleError, Space, find_counterfactuals
from flipset.models.scores import at_own_precision
from flipset.models.ties import NEAR

# The two classes mirror each other about 3, where every honest classifier has a tie.
X = np.repeat(np.arange(7.0), 4).reshape(-1, 1)
Y = np.array([0, 0, 0, 0] * 2 + [0, 0, 0, 1] + [0, 0, 1, 1] + [0, 1, 1, 1] + [1, 1, 1, 1] * 2)
NEAR_TIES = [3.0 + sign * step for sign in (-1, 0, 1) for step in (4.4e-16, 8.9e-16, 1e-15, 1e-13, 1e-10, 1e-8, 1e-3)]
ROWS = np.array([*np.arange(0, 6.5, 0.5), *NEAR_TIES]).reshape(-1, 1)
SPACE = Space([Feature("x", direction=+1, lower=-1e3, upper=1e3)])

MADE_OF_OTHERS = {
    "CalibratedClassifierCV": lambda: CalibratedClassifierCV(LogisticRegression(), cv=2),
    "FixedThresholdClassifier": lambda: FixedThresholdClassifier(LogisticRegression(), threshold=0.4),
    "TunedThresholdClassifierCV": lambda: TunedThresholdClassifierCV(LogisticRegression(), cv=2),
    "OneVsRestClassifier": lambda: OneVsRestClassifier(LogisticRegression()),
    "OneVsOneClassifier": lambda: OneVsOneClassifier(LinearSVC()),
    "OutputCodeClassifier": lambda: OutputCodeClassifier(LogisticRegression(), random_state=0),
    "StackingClassifier": lambda: StackingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], cv=2),
    "VotingClassifier": lambda: VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], voting="soft"),
    "ClassifierChain": lambda: ClassifierChain(LogisticRegression()),
    "MultiOutputClassifier": lambda: MultiOutputClassifier(LogisticRegression()),
}
MORE = {
    "pipeline of logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "pipeline of SVC": lambda: make_pipeline(StandardScaler(), SVC()),
    "SVC with probabilities": lambda: SVC(kernel="linear"),
    "calibrated forest": lambda: CalibratedClassifierCV(RandomForestClassifier(8, random_state=0), cv=2),
    "grid of naive Bayes": lambda: GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2),
    "border by margin": lambda: FixedThresholdClassifier(
        LogisticRegression(), threshold=0.0, response_method="decision_function"
    ),
    "border of a model without probabilities": lambda: FixedThresholdClassifier(RidgeClassifier(), threshold=0.1),
    "pairs of neighbours": lambda: KNeighborsClassifier(2),
}
NOT_BINARY = {"ClassifierChain", "MultiOutputClassifier"}


def boosters() -> dict[str, Any]:
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier

    quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
    return {
        "XGBClassifier": lambda: XGBClassifier(n_estimators=3, max_depth=1, base_score=0.5, n_jobs=1),
        "LGBMClassifier": lambda: LGBMClassifier(n_estimators=3, min_child_samples=1, verbose=-1, n_jobs=1),
        "CatBoostClassifier": lambda: CatBoostClassifier(iterations=3, depth=1, **quiet),
    }


def classifiers() -> Iterator[tuple[str, Any]]:
    for name, kind in all_estimators(type_filter="classifier"):
        if name not in NOT_BINARY:
            seeded = {"random_state": 0} if "random_state" in inspect.signature(kind).parameters else {}
            yield name, MADE_OF_OTHERS.get(name) or partial(kind, **seeded)
    yield from MORE.items()
    yield from boosters().items()


ALL = dict(classifiers())


def fitted(make: Any, labels: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make().fit(X, np.asarray(labels)[Y])
        except (TypeError, ValueError) as error:  # such as takes no negative numbers, or no single column
            pytest.skip(f"does not fit this table: {error}")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True)], ids=str)
def test_a11_at_ties_predict_decides(name: str, labels: tuple[Any, Any]) -> None:
    make = ALL[name]
    if name == "XGBClassifier" and labels == ("no", "yes"):
        pytest.skip("XGBoost takes numbers for classes")
    model = fitted(make, labels)
    if not hasattr(model, "predict_proba") and not hasattr(model, "decision_function"):
        pytest.skip("it gives neither probabilities nor margins")
    checked = 0
    for positive in labels:
        try:
            explainer = Explainer(model, SPACE, positive=positive)
        except InputError as error:
            assert "needs a threshold" in str(error)  # the first class of a model that names its border
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labelled = np.asarray(model.predict(ROWS)).ravel().tolist()  # CatBoost writes True as text
            said = [label == positive or str(label) == str(positive) for label in labelled]
            decided = np.array(explainer.scores(ROWS)) >= explainer.threshold
        assert decided.tolist() == said
        checked += 1
    assert checked


def test_a11_probabilities_that_are_rounded_by_many_bits_do_not_decide() -> None:
    # A second column, far from all that was seen and the same for both classes, makes the logarithms large that naive
    # Bayes compares: its probabilities are then off by thousands of times the last bit.
    same = np.zeros(len(Y))
    same[Y == 0] = same[Y == 1] = np.arange(14)
    model = GaussianNB().fit(np.column_stack([X[:, 0], same]), Y)
    near, far = np.meshgrid(3 + np.linspace(-1e-10, 1e-10, 41), np.arange(1000.0, 5000.0, 100.0))
    rows = np.column_stack([near.ravel(), far.ravel()])
    space = Space([SPACE["x"], Feature("y", fixed=True)])
    explainer = Explainer(model, space)
    by_probability = model.predict_proba(rows)[:, 1] > 0.5
    said = model.predict(rows) == 1
    assert (by_probability != said).any()
    assert ((np.array(explainer.scores(rows)) >= explainer.threshold) == said).all()


@pytest.mark.parametrize("kind", ["array", "pandas", "polars"])
@pytest.mark.parametrize("make", [LogisticRegression, GaussianNB])
def test_a11_sets_values_and_proofs_follow_predict(make: Any, kind: str) -> None:
    model = make()
    named = {"pandas": pd.DataFrame({"x": X[:, 0]}), "polars": pl.DataFrame({"x": X[:, 0]}), "array": X}[kind]
    model.fit(named, Y)
    wide = pd.DataFrame({"x": np.linspace(0, 6, 4001)})
    space = Space.from_frame(named, increasing=["x"]) if kind != "array" else SPACE
    explainer = Explainer(model, space)
    frame: Any = wide if kind == "pandas" else pl.from_pandas(wide) if kind == "polars" else wide.to_numpy()
    said = model.predict(frame) == 1
    for place in (0, 1999, 2000, 2001, 4000):
        row = frame.iloc[[place]] if kind == "pandas" else frame[place : place + 1]
        e = explainer.explain(row)
        assert e.decision == bool(said[place])
        assert explainer.verify(e)
        if kind != "polars":
            assert Explanation.from_json(e.to_json()).verify(model)
        for one in e.counterfactuals:
            reached = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "array": lambda c: np.array([c["x"]])}[kind]
            assert (model.predict(reached({"x": [one.row["x"]]}))[0] == 1) != e.decision


class Wobbly:
    """A classifier whose probabilities round away what its decision knows, and that counts what it is asked."""

    classes_ = np.array([0, 1])

    def __init__(self, like: Any) -> None:
        self.like = like
        self.decided = 0

    def predict_proba(self, rows: Any) -> Any:
        x = np.asarray(rows, dtype=float)[:, 0]
        share = (0.5 + np.round((x - 3) / 1e6, 8)).astype(self.like)
        return np.column_stack([1 - share, share])

    def predict(self, rows: Any) -> Any:
        self.decided += len(rows)
        return (np.asarray(rows, dtype=float)[:, 0] >= 3).astype(int)


@pytest.mark.parametrize("like", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("positive", [0, 1])
def test_a11_a_decision_finer_than_the_probability_is_kept(like: Any, positive: int) -> None:
    model = Wobbly(like)
    explainer = Explainer(model, SPACE, positive=positive)
    x = np.array([2.0, 2.999999, 3.0, 3.000001, 4.0])
    scores = np.array(explainer.scores(x.reshape(-1, 1)))
    assert ((scores >= explainer.threshold) == ((x >= 3) == bool(positive))).all()
    assert (np.abs(scores - 0.5) <= 2 * NEAR).all()
    before = model.decided
    explainer.scores(np.array([[900.0], [-900.0]]))
    assert model.decided == before or like is np.float16  # rows that are not near are asked once


def test_a11_a_threshold_of_your_own_is_not_the_models_decision() -> None:
    model = Wobbly(np.float64)
    explainer = Explainer(model, SPACE, threshold=0.5)
    assert explainer.scores([[3.0 - 1e-3]]) == [0.5]
    assert explainer.explain([3.0 - 1e-3]).decision
    assert model.decided == 0


@pytest.mark.parametrize("kind", [np.float16, np.float32])
@pytest.mark.parametrize("threshold", [0.7, 0.1, 0.3, -0.7, 1e-5, 0.5, 1.0, 12.6])
def test_a11_a_short_float_reaches_the_threshold_it_is_nearest_to(kind: Any, threshold: float) -> None:
    nearest = kind(threshold)
    around = [np.nextafter(nearest, kind(-np.inf)), nearest, np.nextafter(nearest, kind(np.inf))]
    scores = at_own_precision(np.array(around), threshold)
    assert (scores >= threshold).tolist() == [False, True, True]
    assert sorted(set(scores.tolist())) == scores.tolist()  # the order stays, and nothing falls together
    space = Space([Feature("x", "integer", direction=+1, lower=0, upper=2)])

    def model(rows: Any) -> Any:
        return np.array(around)[rows[:, 0].astype(int)]

    assert Explainer(model, space, threshold=threshold).explain([0]).counterfactuals[0].row == {"x": 1}
    assert find_counterfactuals(model, [1], [0], [2], directions=[+1], threshold=threshold).decision


@pytest.mark.parametrize("threshold", [nextafter(0.5, inf), nextafter(0.0, inf), 1e-300, 1e300])
def test_a11_a_threshold_just_above_a_short_float_is_meant_to_be(threshold: float) -> None:
    scores = np.array([0.0, 0.5, 1.0], dtype=np.float32)
    assert (at_own_precision(scores, threshold) >= threshold).tolist() == (scores.astype(float) >= threshold).tolist()


def test_a11_the_default_threshold_is_never_lifted() -> None:
    import xgboost

    data = xgboost.DMatrix(X, label=Y)
    quiet = {"objective": "binary:logistic", "base_score": 0.5, "nthread": 1}
    booster = xgboost.train(quiet, data, num_boost_round=0)
    assert not Explainer(booster, SPACE).explain([3.0]).decision  # 0.5, and more than a half is needed
    assert Explainer(booster, SPACE, threshold=0.5).explain([3.0]).decision


def one(score: Any) -> Explainer:
    return Explainer(lambda rows: score, Space([Feature("x", "binary", direction=+1)]), threshold=0.5)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.array([2**53 + 1]), "whole number 9007199254740993,.* return floats, or smaller numbers"),
        (np.array([-(2**53) - 1]), "whole number -9007199254740993,"),
        (np.array([2**64 - 1], dtype=np.uint64), "whole number 18446744073709551615,"),
        ([2**53 + 1], "whole number 9007199254740993,"),
        ([2**70], "whole number 1180591620717411303424,"),
        (pd.Series([2**62]), "whole number 4611686018427387904,"),
        (pa.array([2**62]), "whole number 4611686018427387904,"),
        (np.array([0.5], dtype=object), "numbers or booleans, got dtype object"),
        (np.ma.masked_array([0.7], mask=[True]), "a masked score for row 0"),
        (np.ma.masked_array([0.7], mask=[True], dtype=np.float32), "a masked score for row 0"),
        (np.ma.masked_array([[0.2, 0.7]], mask=[[False, True]]), "a masked score for row 0"),
        (np.ma.masked_array([7], mask=[True]), "a masked score for row 0"),
        (np.array([np.nan], dtype=np.float16), "NaN"),
        (np.array([1j]), "numbers or booleans, got dtype complex128"),
    ],
)
def test_a5_scores_that_cannot_be_compared_exactly_are_refused(scores: Any, message: str) -> None:
    with pytest.raises(OracleError, match=message):
        one(scores).scores([[0]])


def test_a5_some_scores_among_others_are_seen() -> None:
    explainer = Explainer(lambda rows: [1, 2.5, 2**53 + 1][: len(rows)], SPACE, threshold=2)
    assert explainer.scores([[0.0], [1.0]]) == [1.0, 2.5]
    with pytest.raises(OracleError, match="whole number 9007199254740993"):
        explainer.scores([[0.0], [1.0], [2.0]])


@pytest.mark.parametrize(
    ("scores", "read"),
    [
        (np.array([2**53]), 2.0**53),
        (np.array([-(2**53)]), -(2.0**53)),
        (np.array([np.inf]), inf),
        (np.array([-np.inf], dtype=np.float32), -inf),
        (np.array([0.25], dtype=np.float16), 0.25),
        (np.array([True]), 1.0),
        (np.array([0.25], dtype=np.longdouble), 0.25),
        (np.array([np.inf], dtype=np.longdouble), inf),
        (np.ma.masked_array([0.25], mask=[False]), 0.25),
        (np.array([255], dtype=np.uint8), 255.0),
    ],
)
def test_a5_scores_that_a_float_holds_are_read(scores: Any, read: float) -> None:
    assert one(scores).scores([[0]]) == [read]


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long double is a double here")
def test_a5_scores_finer_than_a_float_are_refused() -> None:
    below = np.nextafter(np.longdouble(0.5), np.longdouble(0))
    with pytest.raises(OracleError, match="which a float64 does not hold"):
        one(np.array([below])).scores([[0]])
    with pytest.raises(OracleError, match="which a float64 does not hold"):
        one(np.array([np.finfo(np.longdouble).max])).scores([[0]])
