"""Models that were once taken for monotone, and are not; each was found by an adversary."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from flipset import Explainer, Feature, InputError, NotMonotoneWarning, Space

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RNG.uniform(-1, 1, 300), "b": RNG.uniform(-1, 1, 300)})
LABEL = (TABLE["a"] - 3 * TABLE["b"] > 0).astype(int)


def ranged(name: str, direction: Any, lower: float = -100, upper: float = 100) -> Feature:
    return Feature(name, direction=direction, lower=lower, upper=upper)


@pytest.mark.parametrize("first", ["passthrough", None])
def test_columns_are_those_of_the_first_step_that_takes_them(first: Any) -> None:
    parts = ColumnTransformer([("s", StandardScaler(), ["a"]), ("t", StandardScaler(), ["b"])])
    model = Pipeline([("p", first), ("parts", parts), ("m", LogisticRegression())]).fit(TABLE, LABEL)
    turned = TABLE[["b", "a"]]
    wrong = Space([ranged("b", 1), ranged("a", -1)])
    with pytest.warns(NotMonotoneWarning):
        explainer = Explainer(model, wrong, reference=turned)
    assert set(explainer.monotonicity.values()) == {"assumed"}
    right = Explainer(model, Space([ranged("b", -1), ranged("a", 1)]), reference=turned)
    assert set(right.monotonicity.values()) == {"proved"}
    assert right.scores(turned[:9]) == pytest.approx(model.predict_proba(TABLE[:9])[:, 1])


def test_a_division_by_zero_keeps_no_order() -> None:
    model = make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=5)).fit(TABLE, LABEL)
    model[0].scale_[0] = 0.0
    for direction in (1, -1):
        space = Space([ranged("a", direction), Feature("b", fixed=True)])
        assert Explainer(model, space).monotonicity["a"] == "assumed"


class DummyRegressor:
    """Not the one of scikit-learn."""

    def fit(self, rows: Any, *_: Any, **__: Any) -> Any:
        return self

    def predict(self, rows: Any) -> Any:
        return -10.0 * np.asarray(rows)[:, 0]

    def get_params(self, **_: Any) -> dict[str, Any]:
        return {}

    def set_params(self, **_: Any) -> Any:
        return self


def test_a_start_of_the_same_name_is_not_taken_for_a_constant() -> None:
    model = GradientBoostingRegressor(n_estimators=3).fit(TABLE, LABEL)
    model.init_ = DummyRegressor()
    space = Space([ranged("a", 1), Feature("b", fixed=True)])
    assert Explainer(model, space, threshold=0.5).monotonicity["a"] == "assumed"


def test_leaves_that_are_no_shares_are_not_read() -> None:
    model = DecisionTreeClassifier(max_depth=1).fit(TABLE, LABEL)
    model.tree_.value[1, 0, :], model.tree_.value[2, 0, :] = [1, 5], [0, 0.5]
    space = Space([ranged(name, 1) for name in "ab"])
    assert Explainer(model, space).monotonicity["ab"[model.tree_.feature[0]]] == "assumed"


def test_what_is_refuted_is_neither_audited_nor_declared() -> None:
    a = np.r_[RNG.uniform(-1, 1, 3000), RNG.uniform(0.3, 0.3005, 50)]
    model = DecisionTreeRegressor(max_depth=4).fit(
        pd.DataFrame({"a": a}), np.where((a > 0.3) & (a < 0.3005), 0.2, a > 0)
    )
    rows = pd.DataFrame({"a": np.linspace(-1, 1, 40)})
    with pytest.warns(NotMonotoneWarning):
        explainer = Explainer(model, Space([ranged("a", 1, -1, 1)]), threshold=0.5, reference=rows, audit=200)
    assert explainer.monotonicity["a"] == "assumed"
    assert explainer.explain([-0.5]).contradicted == ("a",)


def test_several_labels_of_a_row_are_refused() -> None:
    model = RandomForestClassifier(3).fit(TABLE, np.c_[LABEL, LABEL])
    with pytest.raises(InputError, match="several labels of a row"):
        Explainer(model, Space([ranged("a", 1), ranged("b", 1)]))
