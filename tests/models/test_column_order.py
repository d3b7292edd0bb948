"""A table with its columns in another order than the model's: columns are matched by name, or the table is refused."""

from collections.abc import Callable
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from flipset import Explainer, Space

SIGNS = (1, -1, 0)
RNG = np.random.default_rng(1)
CELLS = RNG.normal(size=(200, 3))
LABEL = (CELLS @ [1.0, -2.0, 0.1] > 0).astype(int)
Fit = Callable[[Any], tuple[Any, Any]]


def estimator(make: Callable[[], Any]) -> Fit:
    def fit(table: Any) -> tuple[Any, Any]:
        model = make().fit(table, LABEL)
        return model, model.predict_proba(table)[:, 1]

    return fit


def xgboost_booster(table: Any) -> tuple[Any, Any]:
    how = {"objective": "binary:logistic", "monotone_constraints": str(SIGNS)}
    model = xgboost.train(how, xgboost.DMatrix(table, LABEL), 4)
    return model, model.inplace_predict(table)


def lightgbm_booster(table: Any) -> tuple[Any, Any]:
    how = {"objective": "binary", "verbose": -1, "monotone_constraints": list(SIGNS)}
    model = lightgbm.train(how, lightgbm.Dataset(table, LABEL), 4)
    return model, model.predict(table)


FIT: dict[str, Fit] = {
    "xgboost": estimator(lambda: xgboost.XGBClassifier(n_estimators=4, monotone_constraints=SIGNS)),
    "xgboost booster": xgboost_booster,
    "lightgbm": estimator(
        lambda: lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, monotone_constraints=list(SIGNS))
    ),
    "lightgbm booster": lightgbm_booster,
    "catboost": estimator(
        lambda: catboost.CatBoostClassifier(
            iterations=4, verbose=0, allow_writing_files=False, monotone_constraints=list(SIGNS)
        )
    ),
    "histograms": estimator(lambda: HistGradientBoostingClassifier(max_iter=4, monotonic_cst=SIGNS)),
    "forest": estimator(lambda: RandomForestClassifier(4, monotonic_cst=SIGNS, random_state=0)),
    "linear": estimator(LogisticRegression),
    "pipeline": estimator(
        lambda: make_pipeline(
            make_column_transformer((StandardScaler(), [0, 1]), remainder="passthrough"), LogisticRegression()
        )
    ),
}


@pytest.mark.parametrize(
    "names",
    [["a", "b", "c"], ["0", "1", "2"], ["Column_0", "Column_1", "Column_2"], ["2", "0", "1"], ["a b", "c", "d e"]],
    ids=" ".join,
)
@pytest.mark.parametrize("kind", FIT)
def test_columns_are_matched_by_name(kind: str, names: list[str]) -> None:
    table = pd.DataFrame(CELLS, columns=names)
    model, scores = FIT[kind](table)
    turned = table[[names[2], names[0], names[1]]]
    space = Space.from_frame(turned, increasing=[names[0]], decreasing=[names[1]])
    explainer, plain = Explainer(model, space), Explainer(model, Space(space.features))
    assert explainer.monotonicity.weakest == "proved"
    for asked in (explainer.scores(turned), explainer.scores(table), plain.scores(turned.to_numpy())):
        assert asked == pytest.approx(scores, abs=1e-6)


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("kind", FIT)
def test_columns_without_names_are_taken_by_place(kind: str) -> None:
    model, scores = FIT[kind](CELLS)
    table = pd.DataFrame(CELLS, columns=["income", "debt", "age"])
    explainer = Explainer(model, Space.from_frame(table, increasing=["income"], decreasing=["debt"]))
    assert explainer.scores(table) == pytest.approx(scores, abs=1e-6)
    assert explainer.monotonicity.weakest == "proved"
