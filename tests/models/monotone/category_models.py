"""Small models with two numbers and two categories: native categories of every library, and encoders before a model.

Half of the tables have an interaction, so that the direction of a number depends on a category.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from tests.models.monotone.libraries import CASES

NUMBERS = ("c0", "c1")
LEVELS = {"k0": ["a", "b", "c"], "k1": ["u", "v", "w", "x", "y"]}
GRID = [-20.0, *np.arange(-0.5, 5, 0.5).tolist(), 20.0, np.nan]
"""Numbers in order: one in every gap between whole numbers, two far outside (XGBoost cuts there); then missing."""

Rng = np.random.Generator


def draw_table(rng: Rng, *, missing: bool) -> tuple[Any, Any, Any]:
    """Return rows, labels, and the directions of the numbers."""
    n = 150
    rows = pd.DataFrame(
        {name: rng.integers(0, 5, n).astype(float) for name in NUMBERS}
        | {name: rng.choice(levels, n) for name, levels in LEVELS.items()}
    )
    signs = rng.choice([-1, 1], 2)
    margin = (rows[list(NUMBERS)].to_numpy() - 2) @ signs + rng.normal(scale=1.5, size=n)
    for name, levels in LEVELS.items():
        margin = margin + rows[name].map(dict(zip(levels, rng.normal(scale=2, size=len(levels)), strict=True)))
    if rng.random() < 0.5:
        margin = margin + 1.5 * np.where(rows["k0"] == "a", -1, 1) * (rows["c0"] - 2)
    labels = (margin > margin.median()).astype(int)
    if missing:
        for name in rows:
            rows.loc[rng.random(n) < 0.1, name] = np.nan if name in NUMBERS else None
    return rows, labels, signs


def as_categories(rows: Any) -> Any:
    return rows.assign(**{name: pd.Categorical(rows[name], categories=levels) for name, levels in LEVELS.items()})


def as_texts(rows: Any) -> Any:
    return rows.assign(**{name: rows[name].astype(object).fillna("missing") for name in LEVELS})


@dataclass(frozen=True)
class Kind:
    """How to fit a model with constraints, what it takes, its sum before any link, and how to spoil its leaves."""

    fit: Callable[[Any, Any, Any, int, Rng], Any]
    sums: Callable[[Any, Any], Any]
    takes: Callable[[Any], Any] = lambda rows: rows
    spoil: Callable[[Any, Rng], Any] | None = None


def _start(rows: Any, rng: Rng) -> Any:
    return rng.normal(size=len(rows)) if rng.random() < 0.3 else None


def _xgb(rows: Any, labels: Any, signs: Any, trees: int, rng: Rng, **how: Any) -> Any:
    model = xgboost.XGBClassifier(
        n_estimators=trees, max_depth=3, min_child_weight=0.1, enable_categorical=True, tree_method="hist", n_jobs=1,
        monotone_constraints=(*signs.tolist(), 0, 0), max_cat_to_onehot=int(rng.choice([1, 10])), **how,
    )  # fmt: skip
    return model.fit(as_categories(rows), labels, base_margin=_start(rows, rng))


def _xgb_sums(model: Any, rows: Any) -> Any:
    if isinstance(model, xgboost.Booster):
        return model.predict(xgboost.DMatrix(rows, enable_categorical=True), output_margin=True)
    return model.predict(rows, output_margin=True)


def _lgbm(rows: Any, labels: Any, signs: Any, trees: int, rng: Rng, **how: Any) -> Any:
    model = lightgbm.LGBMClassifier(
        n_estimators=trees, num_leaves=8, min_child_samples=3, monotone_constraints=[*signs.tolist(), 0, 0], n_jobs=1,
        verbose=-1, min_data_per_group=2, cat_smooth=1, cat_l2=0, max_cat_to_onehot=int(rng.choice([1, 10])),
        use_missing=bool(rng.random() < 0.8), **how,
    )  # fmt: skip
    return model.fit(as_categories(rows), labels, init_score=_start(rows, rng))


def _catboost(rows: Any, labels: Any, signs: Any, trees: int, rng: Rng, *, symmetric: bool = True) -> Any:
    # Trees that are not symmetric cannot have constraints.
    how = {"monotone_constraints": [*signs.tolist(), 0, 0]} if symmetric else {"grow_policy": "Depthwise"}
    model = catboost.CatBoostClassifier(
        iterations=trees, depth=3, one_hot_max_size=int(rng.choice([1, 10])), thread_count=1, verbose=0,
        allow_writing_files=False, cat_features=list(LEVELS), model_shrink_rate=0, **how,
    )  # fmt: skip
    return model.fit(as_texts(rows), labels, baseline=_start(rows, rng))


def _hgb(rows: Any, labels: Any, signs: Any, trees: int, rng: Rng) -> Any:
    model = HistGradientBoostingClassifier(
        max_iter=trees, max_leaf_nodes=8, min_samples_leaf=3, monotonic_cst=[*signs.tolist(), 0, 0],
        early_stopping=False, categorical_features="from_dtype",
    )  # fmt: skip
    return model.fit(as_categories(rows), labels)


def _behind_encoders(make: Callable[[list[int], int], Any]) -> Any:
    def fit(rows: Any, labels: Any, signs: Any, trees: int, rng: Rng) -> Any:
        filled = SimpleImputer(strategy="constant", fill_value="none")
        encoders = (
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        )
        numbers = (SimpleImputer(strategy="median"), make_pipeline(SimpleImputer(), StandardScaler()))
        parts = [
            ("k", make_pipeline(filled, encoders[rng.integers(2)]), list(LEVELS)),
            ("c", numbers[rng.integers(2)], list(NUMBERS)),
        ]
        parts = parts[:: rng.choice([-1, 1])]
        steps = ColumnTransformer(parts)
        others = [0] * (steps.fit_transform(rows).shape[1] - 2)
        constraints = [*signs.tolist(), *others] if parts[0][0] == "c" else [*others, *signs.tolist()]
        return Pipeline([("encode", steps), ("model", make(constraints, trees))]).fit(rows, labels)

    return fit


def _decision(model: Any, rows: Any) -> Any:
    return model.decision_function(rows)


def _probability(model: Any, rows: Any) -> Any:
    return model.predict_proba(rows)[:, 1]


def _sum_behind(call: Callable[[Any, Any], Any]) -> Any:
    return lambda model, rows: call(model.steps[-1][1], model.steps[0][1].transform(rows))


def _lgbm_sums(model: Any, rows: Any) -> Any:
    return model.predict(rows, raw_score=True)


def _catboost_sums(model: Any, rows: Any) -> Any:
    return model.predict(rows, prediction_type="RawFormulaVal")


def _with(fit: Any, **how: Any) -> Any:
    return lambda *given: fit(*given, **how)


KINDS = {
    "xgboost": Kind(_xgb, _xgb_sums, as_categories, CASES["xgboost"].spoil),
    "xgboost dart": Kind(_with(_xgb, booster="dart", rate_drop=0.5), _xgb_sums, as_categories, CASES["xgboost"].spoil),
    "lightgbm": Kind(_lgbm, _lgbm_sums, as_categories, CASES["lightgbm"].spoil),
    "lightgbm dart": Kind(_with(_lgbm, boosting_type="dart"), _lgbm_sums, as_categories, CASES["lightgbm"].spoil),
    "catboost": Kind(_catboost, _catboost_sums, as_texts, CASES["catboost"].spoil),
    "catboost depthwise": Kind(_with(_catboost, symmetric=False), _catboost_sums, as_texts, CASES["catboost"].spoil),
    "histogram": Kind(_hgb, _decision, as_categories, CASES["histogram classifier"].spoil),
    "encoders, histogram": Kind(
        _behind_encoders(
            lambda signs, trees: HistGradientBoostingClassifier(
                max_iter=trees, max_leaf_nodes=8, min_samples_leaf=3, monotonic_cst=signs, early_stopping=False
            )
        ),
        _decision,
    ),
    "encoders, xgboost": Kind(
        _behind_encoders(
            lambda signs, trees: xgboost.XGBClassifier(
                n_estimators=trees, max_depth=3, monotone_constraints=tuple(signs), n_jobs=1
            )
        ),
        _sum_behind(_xgb_sums),
    ),
    "encoders, lightgbm": Kind(
        _behind_encoders(
            lambda signs, trees: lightgbm.LGBMClassifier(
                n_estimators=trees, num_leaves=8, min_child_samples=3, monotone_constraints=signs, n_jobs=1, verbose=-1
            )
        ),
        _sum_behind(_lgbm_sums),
    ),
    "encoders, forest": Kind(
        _behind_encoders(
            lambda signs, trees: RandomForestClassifier(trees, max_depth=4, monotonic_cst=signs, random_state=trees)
        ),
        _probability,
    ),
    "encoders, logistic": Kind(_behind_encoders(lambda _signs, _trees: LogisticRegression()), _decision),
}


def every_row(kind: Kind) -> Any:
    """Return every row of the grid and the levels, missing values included; the numbers vary slowest."""
    columns = [GRID, GRID, *([*levels, None] for levels in LEVELS.values())]
    return kind.takes(pd.DataFrame(list(product(*columns)), columns=[*NUMBERS, *LEVELS]))
