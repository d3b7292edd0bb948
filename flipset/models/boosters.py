"""Boosters as their own libraries save and load them: the `Booster` of XGBoost and of LightGBM, and `CatBoost`."""

from __future__ import annotations

import json
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError, first_line
from flipset.models.constraints import lightgbm_signs, trained_signs, xgboost_signs
from flipset.models.estimators import are_label, names_of, read_estimator
from flipset.models.monotone import catboost_models, lightgbm_models, xgboost_models
from flipset.models.monotone.show import structure_of
from flipset.models.scorer import ABOVE_HALF, Scorer, columns_known, no_positive
from flipset.models.xgboost_arrays import in_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flipset.models.monotone.shown import Structure


def xgboost_booster(booster: Any, positive: Any) -> Scorer:
    """Return the scorer of a `Booster`: the score is what its objective gives, a probability or a value."""
    try:
        config = json.loads(booster.save_config())["learner"]
    except ValueError as error:  # an error of XGBoost is one
        raise InputError(f"the Booster is not fitted, or cannot be read: {first_line(error)}") from None
    _refuse_several(int(config["learner_model_param"].get("num_class", "0")), "XGBClassifier")
    sign = _class_sign(booster, positive, is_binary=config["objective"]["name"] == "binary:logistic")
    return _scorer(
        in_arrays(booster, booster.inplace_predict),
        sign,
        structure_of(lambda: xgboost_models.read_booster(booster, sign=sign or 1)),
        booster.feature_names or None,
        xgboost_signs(booster),
    )


def lightgbm_booster(booster: Any, positive: Any) -> Scorer:
    """Return the scorer of a `Booster`: the score is what its objective gives, a probability or a value."""
    _refuse_several(booster.num_model_per_iteration(), "LGBMClassifier")
    sign = _class_sign(booster, positive, is_binary=str(booster.params.get("objective", "")).startswith("binary"))
    return _scorer(
        booster.predict,
        sign,
        structure_of(lambda: lightgbm_models.read_booster(booster, sign=sign or 1)),
        booster.feature_name(),
        lightgbm_signs(booster),
    )


def _class_sign(booster: Any, positive: Any, *, is_binary: bool) -> int:
    """Return +1 if the score is the probability of class 1, -1 if it is that of class 0; 0 if there are no classes."""
    if not is_binary:
        no_positive(booster, positive)
        return 0
    if positive not in (None, 0, 1):
        raise InputError(f"the classes of a {type(booster).__name__} are 0 and 1, got positive={positive!r}")
    return -1 if positive == 0 else 1


def _scorer(
    predict: Callable[[Any], Any], sign: int, structure: Structure, names: Iterable[Any] | None, signs: Sequence[int]
) -> Scorer:
    """Return the scorer of a booster that gives values (sign 0), or the probability of class 1."""
    if sign < 0:
        # Exact for every probability of at least one half, so that the decision is the one about class 1. At one half
        # itself, libraries decide for class 0.
        known = columns_known(names, [-one for one in signs])
        return Scorer(
            lambda rows: 1 - predict(rows), threshold=0.5, structure=structure, gives_probabilities=True, **known
        )
    threshold = ABOVE_HALF if sign else None
    known = columns_known(names, signs)
    return Scorer(predict, threshold=threshold, structure=structure, gives_probabilities=bool(sign), **known)


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
    if positive not in (None, model.classes_[1]):
        raise InputError(
            f"positive={positive!r}: only {model.classes_[1]!r} can be the class of a model read as CatBoost"
        )
    _refuse_several(len(model.classes_) if len(model.classes_) > 2 else 1, "CatBoostClassifier")

    def probability(rows: Any) -> Any:
        return model.predict(rows, prediction_type="Probability")[:, 1]

    def decides(rows: Any) -> Any:
        return are_label(model.classes_[1], model.predict(rows, prediction_type="Class"))

    # CatBoost decides for the second class strictly above its border.
    border = float(dict(model.get_metadata()).get("binclass_probability_threshold", 0.5))
    return Scorer(
        probability,
        threshold=nextafter(border, inf),
        decides=decides,
        structure=structure_of(lambda: catboost_models.read_model(model)),
        gives_probabilities=True,
        **columns_known(names_of(model), trained_signs(model)),
    )
