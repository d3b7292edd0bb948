"""Boosters as their own libraries save and load them: the `Booster` of XGBoost and of LightGBM, and `CatBoost`."""

from __future__ import annotations

import json
from math import inf, nextafter
from typing import Any

from flipset.errors import InputError, first_line
from flipset.models.estimators import are_label, names_of, read_estimator
from flipset.models.monotone import catboost_models, lightgbm_models, xgboost_models
from flipset.models.monotone.show import structure_of
from flipset.models.scorer import ABOVE_HALF, Scorer, by_name, no_positive, real_names


def xgboost_booster(booster: Any, positive: Any) -> Scorer:
    """Return the scorer of a `Booster`: the score is what its objective gives, a probability or a value."""
    no_positive(booster, positive)
    try:
        config = json.loads(booster.save_config())["learner"]
    except ValueError as error:  # an error of XGBoost is one
        raise InputError(f"the Booster is not fitted, or cannot be read: {first_line(error)}") from None
    names = tuple(booster.feature_names) if booster.feature_names else None
    constraints = config["gradient_booster"].get("tree_train_param", {}).get("monotone_constraints")
    objective = config["objective"]["name"]
    _refuse_several(int(config["learner_model_param"].get("num_class", "0")), "XGBClassifier")
    threshold = ABOVE_HALF if objective == "binary:logistic" else None
    structure = structure_of(lambda: xgboost_models.read_booster(booster))
    directions = by_name(constraints, names or ())
    is_probability = objective == "binary:logistic"
    return Scorer(
        booster.inplace_predict, names, directions, threshold, structure=structure, gives_probabilities=is_probability
    )


def lightgbm_booster(booster: Any, positive: Any) -> Scorer:
    """Return the scorer of a `Booster`: the score is what its objective gives, a probability or a value."""
    no_positive(booster, positive)
    names = real_names(booster.feature_name())
    constraints = booster.params.get("monotone_constraints")
    objective = str(booster.params.get("objective", ""))
    _refuse_several(booster.num_model_per_iteration(), "LGBMClassifier")
    threshold = ABOVE_HALF if objective.startswith("binary") else None
    structure = structure_of(lambda: lightgbm_models.read_booster(booster))
    directions = by_name(constraints, names or ())
    is_probability = objective.startswith("binary")
    return Scorer(
        booster.predict, names, directions, threshold, structure=structure, gives_probabilities=is_probability
    )


def _refuse_several(classes: int, estimator: str) -> None:
    # A booster of several classes returns a column for each, but does not know the labels that `positive` names.
    if classes > 1:
        raise InputError(
            f"the booster has {classes} classes: give the {estimator}, or a function that returns one score"
        )


def catboost_model(model: Any, positive: Any) -> Scorer:
    """Return the scorer of a CatBoost model, fitted or read from a file.

    Both know their names, classes and constraints.
    """
    if not model.is_fitted():
        raise InputError(f"the model {type(model).__name__} is not fitted")
    if hasattr(model, "predict_proba") or not len(model.classes_):
        return read_estimator(model, positive)
    no_positive(model, positive)
    _refuse_several(len(model.classes_) if len(model.classes_) > 2 else 1, "CatBoostClassifier")
    names = names_of(model)
    directions = by_name(model.get_params().get("monotone_constraints"), names or ())

    def probability(rows: Any) -> Any:
        return model.predict(rows, prediction_type="Probability")[:, 1]

    def decides(rows: Any) -> Any:
        return are_label(model.classes_[1], model.predict(rows, prediction_type="Class"))

    # CatBoost decides for the second class strictly above its border.
    border = float(dict(model.get_metadata()).get("binclass_probability_threshold", 0.5))
    structure = structure_of(lambda: catboost_models.read_model(model))
    threshold = nextafter(border, inf)
    return Scorer(
        probability, names, directions, threshold, decides=decides, structure=structure, gives_probabilities=True
    )
