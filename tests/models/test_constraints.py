"""Constraints are those of the training: a parameter that is changed afterwards does not count."""

import pickle
from collections.abc import Callable
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from flipset import Explainer, InputError, Space
from flipset.models import read_model
from flipset.models.constraints import lightgbm_signs, trained_signs, xgboost_signs
from flipset.models.monotone.show import kept_constraints

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(400, 3)), columns=["income", "debt", "age"])
LABEL = (TABLE["income"] + np.sin(3 * TABLE["debt"]) > 0).astype(int)
UP = Space.from_frame(TABLE, increasing=["income", "debt"])
Make = Callable[..., Any]

MAKE: dict[str, tuple[Make, str]] = {
    "xgboost": (lambda **how: xgboost.XGBClassifier(n_estimators=5, **how), "monotone_constraints"),
    "xgboost, 0 missing": (
        lambda **how: xgboost.XGBClassifier(n_estimators=5, missing=0.0, **how),
        "monotone_constraints",
    ),
    "lightgbm": (lambda **how: lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, **how), "monotone_constraints"),
    "catboost": (
        lambda **how: catboost.CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False, **how),
        "monotone_constraints",
    ),
    "histograms": (lambda **how: HistGradientBoostingClassifier(max_iter=5, **how), "monotonic_cst"),
    "forest": (lambda **how: RandomForestClassifier(5, random_state=0, **how), "monotonic_cst"),
    "forest, threads": (lambda **how: RandomForestClassifier(5, random_state=0, n_jobs=2, **how), "monotonic_cst"),
    "tree": (lambda **how: DecisionTreeClassifier(max_depth=4, random_state=0, **how), "monotonic_cst"),
}
UNPROVED = {"xgboost, 0 missing", "forest, threads"}


def fitted(kind: str, signs: list[int] | None, table: Any = TABLE) -> Any:
    make, parameter = MAKE[kind]
    given = tuple(signs or ()) if "xgboost" in kind else signs
    return make(**({parameter: given} if signs else {})).fit(table, LABEL)


def change(model: Any, kind: str, signs: list[int]) -> None:
    """Change the parameter after fitting, by the library's own method or, where it refuses, past it."""
    parameter = MAKE[kind][1]
    if kind == "catboost":
        model._init_params[parameter] = signs
    else:
        model.set_params(**{parameter: tuple(signs) if "xgboost" in kind else signs})


@pytest.mark.parametrize("table", [TABLE, TABLE.to_numpy()], ids=["frame", "array"])
@pytest.mark.parametrize("kind", MAKE)
def test_constraints_of_the_training_count(kind: str, table: Any) -> None:
    model = fitted(kind, [1, 1, 0], table)
    assert trained_signs(model) == (1, 1)
    assert kept_constraints(read_model(model), list(TABLE.columns)) == {"income": 1, "debt": 1}
    basis = "declared" if kind in UNPROVED else "proved"
    assert dict(Explainer(model, UP).monotonicity) == {"income": basis, "debt": basis}
    down = Space.from_frame(TABLE, increasing=["income"], decreasing=["debt"])
    with pytest.raises(InputError, match="'debt' is decreasing in the space and increasing in the model"):
        Explainer(model, down)


@pytest.mark.filterwarnings("ignore:.*does not follow")
@pytest.mark.parametrize("kind", MAKE)
def test_a_parameter_that_is_added_after_fitting_is_not_declared(kind: str) -> None:
    model = fitted(kind, None)
    change(model, kind, [1, 1, 0])
    explainer = Explainer(model, UP)
    assert set(explainer.monotonicity.values()) == {"assumed"}
    assert kept_constraints(read_model(model), list(TABLE.columns)) == {}
    with pytest.raises(InputError, match="the model does not say in which direction"):
        Explainer(model, TABLE)


@pytest.mark.filterwarnings("ignore:.*does not follow")
@pytest.mark.parametrize("kind", MAKE)
def test_a_parameter_that_is_turned_round_after_fitting_refuses_no_space(kind: str) -> None:
    model = fitted(kind, [1, 1, 0])
    change(model, kind, [1, -1, 0])
    # Where nothing is proved and the record was overwritten, the old constraint is lost, and the new one is not kept.
    unproved = "assumed" if kind == "xgboost, 0 missing" else "declared"
    assert Explainer(model, UP).monotonicity["debt"] == (unproved if kind in UNPROVED else "proved")


def test_a_tree_that_is_out_of_order_is_named_beside_the_parameter() -> None:
    model = fitted("xgboost, 0 missing", None)
    change(model, "xgboost, 0 missing", [0, 0, 1])
    explainer = Explainer(model, Space.from_frame(TABLE, increasing=["age"]), threshold=0.5)
    note = explainer.monotonicity.notes["age"]
    assert "although the model's parameters name this direction as a constraint" in note or "two rows" in note


def test_boosters_of_their_own() -> None:
    matrix = xgboost.DMatrix(TABLE, LABEL)
    by_name = {"objective": "binary:logistic", "monotone_constraints": {"debt": -1}}
    booster = xgboost.train(by_name, matrix, 3)
    assert xgboost_signs(booster) == (0, -1)
    assert xgboost_signs(pickle.loads(pickle.dumps(booster))) == (0, -1)
    linear = xgboost.train({"booster": "gblinear", "verbosity": 0, "monotone_constraints": "(1,0,0)"}, matrix, 3)
    assert xgboost_signs(linear) == ()  # gblinear takes no notice of constraints
    trained = lightgbm.train({"verbose": -1, "mc": [0, 1, 0]}, lightgbm.Dataset(TABLE, LABEL), 3)
    trained.params["monotone_constraints"] = [1, 0, 0]
    assert lightgbm_signs(trained) == (0, 1)
    assert read_model(trained).directions == {"debt": 1}


def test_constraints_by_name() -> None:
    model = HistGradientBoostingClassifier(max_iter=2, monotonic_cst={"age": -1}).fit(TABLE, LABEL)
    assert trained_signs(model) == (0, 0, -1)
    quiet = {"iterations": 2, "verbose": 0, "allow_writing_files": False}
    swapped = TABLE.set_axis(["1", "0", "2"], axis=1)
    model = catboost.CatBoostClassifier(**quiet, monotone_constraints={"1": 1}).fit(swapped, LABEL)
    assert trained_signs(model) == (0, 1)  # CatBoost takes "1" as a place, not as the name of the first column
    assert read_model(model).directions == {"0": 1}


@pytest.mark.parametrize(
    "model", [xgboost.XGBRegressor(), lightgbm.LGBMRegressor(), RandomForestClassifier(monotonic_cst=None), object()]
)
def test_a_model_without_a_record_has_none(model: Any) -> None:
    assert trained_signs(model) == ()
