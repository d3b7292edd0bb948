"""Fitted objects of scikit-learn and of runtimes: what counts, what does not, and what has no fingerprint."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from flipset.models import load_model
from flipset.models.canonical import NotCanonical
from flipset.models.fingerprints import model_fingerprints
from flipset.models.object_content import _name, onnx_bytes, torch_content, unfold

RANDOM = np.random.default_rng(3)
X = pd.DataFrame(RANDOM.normal(size=(90, 3)), columns=["income", "debt", "age"])
X["age"] = X["age"].where(X["age"] < 1)
Y = (X.income > X.debt).astype(int)
FULL = X.fillna(0.0)
CITY = X.assign(city=np.array(["a", "b", "c"])[np.arange(90) % 3])


def columns() -> Any:
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["income", "debt", "age"]),
            ("words", OneHotEncoder(handle_unknown="ignore"), ["city"]),
        ]
    )


MODELS: dict[str, tuple[Any, Any]] = {
    "tree": (DecisionTreeClassifier(max_depth=4, random_state=0), X),
    "forest": (RandomForestClassifier(5, max_depth=4, random_state=0), X),
    "extra trees": (ExtraTreesClassifier(5, max_depth=4, random_state=0), FULL),
    "histogram boosting": (HistGradientBoostingClassifier(max_iter=5, random_state=0), X),
    "with categories": (HistGradientBoostingRegressor(max_iter=5, categorical_features=["age"]), X.round()),
    "boosting": (GradientBoostingClassifier(n_estimators=5, random_state=0), FULL),
    "adaboost": (AdaBoostClassifier(n_estimators=3, random_state=0), FULL),
    "logistic": (LogisticRegression(), FULL),
    "ridge": (Ridge(), FULL),
    "gradient descent": (SGDClassifier(random_state=0), FULL),
    "bayes": (GaussianNB(), FULL),
    "network": (MLPClassifier(3, max_iter=400, tol=0.1), FULL),
    "vectors": (SVC(), FULL),
    "isotonic": (IsotonicRegression(), FULL[["income"]]),
    "pipeline": (make_pipeline(columns(), LogisticRegression()), CITY),
    "ordinal": (make_pipeline(OrdinalEncoder(), HistGradientBoostingClassifier(max_iter=2)), CITY),
    "calibrated": (CalibratedClassifierCV(GaussianNB(), cv=2, method="isotonic"), FULL),
    "stacked": (StackingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], cv=2), FULL),
    "voting": (VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())]), FULL),
    "search": (GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2), FULL),
    "threshold": (TunedThresholdClassifierCV(LogisticRegression(), cv=2), FULL),
    "logarithm": (make_pipeline(FunctionTransformer(np.arctan), LogisticRegression()), FULL),
}
# The network has no seed: it is not fitted twice alike, and keeps a random generator that all of the process shares.
AT_RANDOM = {"network"}


def only(model: Any) -> str:
    (fingerprint,) = model_fingerprints(model)
    return fingerprint


@pytest.mark.parametrize("name", MODELS)
def test_the_same_model_has_the_same_fingerprint_and_any_other_has_another(name: str) -> None:
    template, rows = MODELS[name]
    model = clone(template).fit(rows, Y)
    mine = only(model)
    assert mine == only(pickle.loads(pickle.dumps(model)))
    model.predict(rows)
    np.random.random()  # the generator that all of the process shares
    assert mine == only(model)
    if name not in AT_RANDOM:
        assert mine == only(clone(template).fit(rows, Y))
    turned = Y.copy()
    turned[:20] = 1 - turned[:20]
    assert mine != only(clone(template).fit(rows, turned))


@pytest.mark.parametrize("name", ["forest", "histogram boosting", "pipeline", "stacked", "boosting"])
def test_a_model_is_recognised_in_its_file(tmp_path: Path, name: str) -> None:
    template, rows = MODELS[name]
    model = clone(template).fit(rows, Y)
    file = tmp_path / "model.skops"
    skops.io.dump(model, file)
    of_file, *contents = model_fingerprints(file)
    assert of_file.startswith("sha256:")
    if not contents:  # it holds types that flipset does not trust by itself
        trusted = skops.io.get_untrusted_types(file=file)
        contents = [only(load_model(file, trusted=trusted))]
    assert contents == [only(model)]


def test_threads_verbosity_and_caches_do_not_count() -> None:
    forest, rows = MODELS["forest"]
    assert only(clone(forest).fit(rows, Y)) == only(clone(forest).set_params(n_jobs=2).fit(rows, Y))
    plain, talking = (make_pipeline(StandardScaler(), SVC(cache_size=size)).fit(FULL, Y) for size in (200, 100))
    talking.verbose = True
    assert only(plain) == only(talking)


def test_a_search_is_the_model_that_it_found() -> None:
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2).fit(FULL, Y)
    drawn = RandomizedSearchCV(LogisticRegression(), {"C": [search.best_params_["C"]]}, n_iter=1, cv=3).fit(FULL, Y)
    assert only(search) == only(search.best_estimator_) == only(drawn)
    assert model_fingerprints(GridSearchCV(LogisticRegression(), {"C": [0.1]}, cv=2, refit=False).fit(FULL, Y)) == ()


def test_one_changed_number_is_another_model() -> None:
    linear = LogisticRegression().fit(FULL, Y)
    before = only(linear)
    linear.coef_[0, 0] = np.nextafter(linear.coef_[0, 0], 1e9)
    assert only(linear) != before

    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(FULL, Y)
    before = only(tree)
    tree.tree_.value[tree.tree_.children_left == -1] = 0.5
    assert only(tree) != before

    boosting = HistGradientBoostingClassifier(max_iter=2).fit(FULL, Y)
    before = only(boosting)
    boosting._predictors[0][0].nodes["value"][-1] += 1e-12
    assert only(boosting) != before


def test_statistics_of_nodes_do_not_count() -> None:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(FULL, Y)
    before = only(tree)
    tree.tree_.impurity[:] = 0.25
    assert only(tree) == before


def named(rows: Any) -> Any:
    return rows


class Own(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A class of somebody's own: its name says nothing about what it does."""

    def fit(self, rows: Any, labels: Any) -> Any:
        self.classes_ = np.unique(labels)
        return self

    def predict(self, rows: Any) -> Any:
        return np.zeros(len(rows), dtype=int)


class OwnForest(RandomForestClassifier):  # type: ignore[misc]
    """The same state as a forest of scikit-learn, and other answers."""

    def predict_proba(self, rows: Any) -> Any:
        return 1.0 - super().predict_proba(rows)


@pytest.mark.parametrize(
    "model",
    [
        lambda rows: rows,
        named,
        Own(),
        OwnForest(2),
        object(),
        make_pipeline(FunctionTransformer(lambda rows: rows), LogisticRegression()),
        make_pipeline(FunctionTransformer(named), LogisticRegression()),
        VotingClassifier([("a", Own()), ("b", GaussianNB())]),
        KNeighborsClassifier(1),
    ],
)
def test_what_is_not_known_has_no_fingerprint(model: Any) -> None:
    assert model_fingerprints(model.fit(FULL, Y) if hasattr(model, "fit") else model) == ()


def test_names_without_private_modules_are_of_one_class_each() -> None:
    named: dict[str, set[type]] = {}
    for _, kind in all_estimators():
        named.setdefault(_name(kind), set()).add(kind)
    assert max(map(len, named.values())) == 1
    assert "sklearn.ensemble.RandomForestClassifier" in named


def test_functions_of_libraries_go_by_their_names() -> None:
    assert unfold(np.log1p)[1] == "numpy.log1p"
    assert unfold(np.mean)[1] == "numpy.mean"
    with pytest.raises(NotCanonical):
        unfold(np.frompyfunc(lambda cell: cell, 1, 1))


def test_another_process_finds_the_same(tmp_path: Path) -> None:
    code = (
        "import pickle, sys; from flipset.models.fingerprints import model_fingerprints; "
        "print(*model_fingerprints(pickle.load(open(sys.argv[1], 'rb')), positive={'yes', 'no', 'maybe'}))"
    )
    template, rows = MODELS["stacked"]
    model = clone(template).fit(rows, np.where(Y == 1, "yes", "no"))
    file = tmp_path / "model.pkl"
    file.write_bytes(pickle.dumps(model))
    expected = model_fingerprints(model, positive=["no", "yes", "maybe"])
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code, str(file)]
        out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
        assert (out.strip(),) == expected


def test_onnx_sessions(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    skl2onnx = pytest.importorskip("skl2onnx")
    model = LogisticRegression().fit(FULL.to_numpy(np.float32), Y)
    made = skl2onnx.to_onnx(model, FULL.to_numpy(np.float32)[:1]).SerializeToString()
    file = tmp_path / "model.onnx"
    file.write_bytes(made)
    of_file, content = model_fingerprints(file)
    assert of_file.startswith("sha256:")
    assert only(onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])) == content
    # A session does not say what it has read from a file, and the file may be another one by now.
    assert model_fingerprints(onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])) == ()


def test_onnx_models_with_data_elsewhere_have_no_content(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"... \x0a\x08location\x12\x0bweights.bin ...")
    with pytest.raises(NotCanonical, match="other files"):
        onnx_bytes(file.read_bytes())
    (of_file,) = model_fingerprints(file)
    assert of_file.startswith("sha256:")


def test_torch_modules() -> None:
    torch = pytest.importorskip("torch")
    nn = torch.nn

    def build(*layers: Any) -> Any:
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(3, 2), *layers, nn.Linear(2, 1)).eval()

    assert only(build(nn.ReLU())) == only(build(nn.ReLU())) != only(build(nn.Sigmoid()))
    assert only(build(nn.LeakyReLU(0.1))) != only(build(nn.LeakyReLU(0.2)))
    changed = build(nn.ReLU())
    with torch.no_grad():
        changed[0].weight[0, 0] += 1e-6
    assert only(changed) != only(build(nn.ReLU()))

    class Mine(nn.Module):  # type: ignore[misc, name-defined]
        pass

    assert model_fingerprints(build(Mine())) == ()
    hooked = build(nn.ReLU())
    hooked.register_forward_hook(lambda module, given, made: -made)
    assert model_fingerprints(hooked) == ()


def test_what_only_looks_like_a_torch_module_has_no_content() -> None:
    class Layer:
        def named_modules(self, remove_duplicate: bool = True) -> Any:
            return [("", self)]

    with pytest.raises(NotCanonical, match=r"a layer .*Layer"):
        torch_content(Layer())
