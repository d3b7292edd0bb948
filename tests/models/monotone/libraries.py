"""Small models of every library, fitted with constraints, without, or spoilt afterwards.

Columns hold the whole numbers 0 to 4 and some missing values, so that trying every row is quick.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import catboost
import lightgbm
import numpy as np
import xgboost
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeRegressor

WIDTH = 3
NAMES = [f"c{i}" for i in range(WIDTH)]
GRID = [[*np.arange(-0.5, 5, 0.5).tolist(), float("nan")]] * WIDTH
"""Cuts of models lie between whole numbers or at them, so this has a value in every gap, and every cut."""


@dataclass(frozen=True)
class Case:
    """A library's models: how to fit one with the constraints `signs`, and how to change its leaves."""

    fit: Callable[[Any, Any, Any, int], Any]
    spoil: Callable[[Any, np.random.Generator], Any]
    takes_missing: bool = True
    keeps_constraints: bool = True


def draw_table(rng: np.random.Generator, *, missing: bool) -> tuple[Any, Any, Any]:
    """Return rows, labels that mostly follow directions, and the directions."""
    signs = rng.choice([-1, 0, 1], size=WIDTH, p=[0.4, 0.2, 0.4])
    rows = rng.integers(0, 5, size=(120, WIDTH)).astype(np.float64)
    margin = (rows - 2) @ (signs + rng.normal(scale=0.5, size=WIDTH)) + rng.normal(scale=1.5, size=len(rows))
    labels = (margin > np.median(margin)).astype(np.int64)
    if missing:
        rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows, labels, signs


def changed(values: Any, rng: np.random.Generator) -> Any:
    """Return leaf values of which some are others."""
    return np.where(rng.random(len(values)) < 0.25, rng.permutation(values), values)


def _xgb(rows: Any, labels: Any, signs: Any, trees: int, **how: Any) -> Any:
    model = xgboost.XGBClassifier(
        n_estimators=trees, max_depth=3, min_child_weight=0.1, monotone_constraints=tuple(signs.tolist()), n_jobs=1,
        base_score=0.5, **how,
    )  # fmt: skip
    return model.fit(rows, labels)


def _spoil_xgb(model: Any, rng: np.random.Generator) -> Any:
    import json

    saved = json.loads(bytes(model.get_booster().save_raw("json")))
    part = saved["learner"]["gradient_booster"]
    for tree in part.get("gbtree", part)["model"]["trees"]:
        leaves = np.flatnonzero(np.array(tree["left_children"]) < 0)
        values = np.array(tree["split_conditions"])
        values[leaves] = changed(values[leaves], rng)
        tree["split_conditions"] = values.tolist()
    booster = xgboost.Booster()
    booster.load_model(bytearray(json.dumps(saved).encode()))
    return booster


def _lgbm(rows: Any, labels: Any, signs: Any, trees: int, **how: Any) -> Any:
    model = lightgbm.LGBMClassifier(
        n_estimators=trees, num_leaves=8, min_child_samples=3, monotone_constraints=signs.tolist(), n_jobs=1,
        verbose=-1, **how,
    )  # fmt: skip
    return model.fit(rows, labels)


def _spoil_lgbm(model: Any, rng: np.random.Generator) -> Any:
    booster = model.booster_
    for tree in booster.dump_model()["tree_info"]:
        which, count = tree["tree_index"], tree["num_leaves"]
        values = np.array([booster.get_leaf_output(which, leaf) for leaf in range(count)])
        for leaf, value in enumerate(changed(values, rng).tolist()):
            booster.set_leaf_output(which, leaf, value)
    return model


def _catboost(rows: Any, labels: Any, signs: Any, trees: int, **how: Any) -> Any:
    model = catboost.CatBoostClassifier(
        iterations=trees, depth=3, monotone_constraints=signs.tolist(), thread_count=1, verbose=0,
        allow_writing_files=False, **how,
    )  # fmt: skip
    return model.fit(rows, labels)


def _free_catboost(rows: Any, labels: Any, signs: Any, trees: int) -> Any:
    # Trees that are not symmetric cannot have constraints.
    model = catboost.CatBoostClassifier(
        iterations=trees, depth=3, grow_policy="Depthwise", thread_count=1, verbose=0, allow_writing_files=False
    )
    return model.fit(rows, labels)


def _spoil_catboost(model: Any, rng: np.random.Generator) -> Any:
    model.set_leaf_values(changed(model.get_leaf_values(), rng))
    return model


def _hgb(kind: Any) -> Any:
    def fit(rows: Any, labels: Any, signs: Any, trees: int) -> Any:
        model = kind(
            max_iter=trees, max_leaf_nodes=8, min_samples_leaf=3, monotonic_cst=signs.tolist(), early_stopping=False
        )
        return model.fit(rows, labels)

    return fit


def _spoil_hgb(model: Any, rng: np.random.Generator) -> Any:
    for (predictor,) in model._predictors:
        leaves = np.flatnonzero(predictor.nodes["is_leaf"])
        predictor.nodes["value"][leaves] = changed(predictor.nodes["value"][leaves], rng)
    return model


def _forest(kind: Any) -> Any:
    def fit(rows: Any, labels: Any, signs: Any, trees: int) -> Any:
        return kind(trees, max_depth=4, monotonic_cst=signs.tolist(), random_state=trees).fit(rows, labels)

    return fit


def _tree(rows: Any, labels: Any, signs: Any, trees: int) -> Any:
    return DecisionTreeRegressor(max_depth=4, monotonic_cst=signs.tolist(), random_state=trees).fit(rows, labels)


def _boosting(rows: Any, labels: Any, signs: Any, trees: int) -> Any:
    return GradientBoostingClassifier(n_estimators=trees, max_depth=2, random_state=trees).fit(rows, labels)


def _spoil_forest(model: Any, rng: np.random.Generator) -> Any:
    for one in np.ravel(model.estimators_).tolist() if hasattr(model, "estimators_") else [model]:
        leaves = np.flatnonzero(one.tree_.children_left < 0)
        one.tree_.value[leaves] = one.tree_.value[changed(leaves, rng)]
    return model


def _with(fit: Any, **how: Any) -> Any:
    return lambda *given: fit(*given, **how)


CASES = {
    "xgboost": Case(_xgb, _spoil_xgb),
    "xgboost dart": Case(_with(_xgb, booster="dart", rate_drop=0.5, learning_rate=0.5), _spoil_xgb),
    "lightgbm": Case(_lgbm, _spoil_lgbm),
    "lightgbm without missing": Case(_with(_lgbm, use_missing=False), _spoil_lgbm),
    "lightgbm intermediate": Case(
        _with(_lgbm, monotone_constraints_method="intermediate"), _spoil_lgbm, keeps_constraints=False
    ),
    "catboost": Case(_catboost, _spoil_catboost),
    "catboost missing above": Case(_with(_catboost, nan_mode="Max"), _spoil_catboost),
    "catboost depthwise": Case(_free_catboost, _spoil_catboost, keeps_constraints=False),
    "histogram classifier": Case(_hgb(HistGradientBoostingClassifier), _spoil_hgb),
    "histogram regressor": Case(_hgb(HistGradientBoostingRegressor), _spoil_hgb),
    "random forest": Case(_forest(RandomForestClassifier), _spoil_forest, takes_missing=False),
    "extra trees": Case(_forest(ExtraTreesClassifier), _spoil_forest, takes_missing=False),
    "decision tree": Case(_tree, _spoil_forest, takes_missing=False),
    "gradient boosting": Case(_boosting, _spoil_forest, takes_missing=False, keeps_constraints=False),
}
