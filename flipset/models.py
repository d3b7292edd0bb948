"""What a model is asked with and what it says of itself: adapters, thin and without imports of the libraries.

A fitted classifier, regressor or pipeline becomes a function from rows to scores, with the names, the monotone
directions and the threshold that can be read off it. The decision is always the one that the model itself makes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nextafter
from typing import Any

import numpy as np

from flipset.errors import InputError


@dataclass(frozen=True, slots=True)
class Scorer:
    """A model, ready to be asked.

    Attributes
    ----------
    predict
        Rows to one score each.
    names
        The columns it was fitted on, in order, where it knows them.
    directions
        The monotone directions it was fitted with, by name, where it knows them.
    threshold
        Where its own decision turns; None where it has none, as a regressor.
    """

    predict: Callable[[Any], Any]
    names: tuple[str, ...] | None = None
    directions: Mapping[str, int] = field(default_factory=dict)
    threshold: float | None = 0.5


ABOVE_HALF = nextafter(0.5, inf)
"""Libraries decide by "more than a half": at a half the other class has it."""


def read_model(model: Any, positive: Any = None) -> Scorer:
    """Return how to ask a model: a function of rows, or an estimator of scikit-learn, XGBoost or LightGBM.

    `positive` is the class, or the classes, whose probability is the score; of two classes the second by default.
    """
    library = _library(model)
    if library == "xgboost" and hasattr(model, "inplace_predict"):
        return _xgboost_booster(model)
    if library == "lightgbm" and not hasattr(model, "fit"):
        return _lightgbm_booster(model)
    if hasattr(model, "predict_proba"):
        return _classifier(model, positive)
    if hasattr(model, "decision_function"):
        return _margin_classifier(model, positive)
    if hasattr(model, "predict") and hasattr(model, "fit"):
        _no_positive(model, positive)
        return Scorer(model.predict, _names(model), _directions(model), threshold=None)
    if callable(model):
        _no_positive(model, positive)
        return Scorer(model)
    raise InputError(
        f"a model must be a function of rows or have predict_proba, decision_function or predict; "
        f"got {type(model).__module__}.{type(model).__qualname__}"
    )


# --- classifiers and regressors with scikit-learn's interface ---------------------------------------------------------


def _classifier(model: Any, positive: Any) -> Scorer:
    classes = _classes(model)
    columns = _positive_columns(classes, positive)

    def predict(rows: Any) -> Any:
        return np.asarray(model.predict_proba(rows), dtype=np.float64)[:, columns].sum(axis=1)

    directions = _directions(model)
    if len(classes) == 2 and columns == [0]:
        # What raises the second class lowers the first, which has it at a half.
        directions = {name: -direction for name, direction in directions.items()}
        return Scorer(predict, _names(model), directions, 0.5)
    return Scorer(predict, _names(model), directions, ABOVE_HALF)


def _margin_classifier(model: Any, positive: Any) -> Scorer:
    classes = _classes(model)
    if len(classes) != 2:
        raise InputError(f"a model without probabilities must have two classes, it has {len(classes)}")
    (column,) = _positive_columns(classes, positive)
    sign = 1.0 if column == 1 else -1.0
    directions = {name: int(sign) * direction for name, direction in _directions(model).items()}
    above_zero = nextafter(0.0, inf)  # "more than 0" is the second class; for the first, 0 belongs to it
    return Scorer(
        lambda rows: sign * np.asarray(model.decision_function(rows), dtype=np.float64),
        _names(model),
        directions,
        above_zero if column == 1 else 0.0,
    )


def _classes(model: Any) -> list[Any]:
    if not hasattr(model, "classes_"):
        raise InputError(f"the model {type(model).__name__} is not fitted: it has no classes_")
    return [label.item() if hasattr(label, "item") else label for label in model.classes_]


def _positive_columns(classes: Sequence[Any], positive: Any) -> list[int]:
    if positive is None:
        if len(classes) != 2:
            raise InputError(
                f"the model has {len(classes)} classes; say which count as positive: positive={classes[-1]!r}"
            )
        return [1]
    several = isinstance(positive, Iterable) and not isinstance(positive, (str, bytes))
    wanted = list(positive) if several else [positive]
    for label in wanted:
        if label not in classes:
            raise InputError(f"positive={label!r} is not one of the model's classes {classes!r}")
    if not wanted or len(wanted) == len(classes):
        raise InputError(f"positive must be some of the classes {classes!r}, and not all of them")
    return [classes.index(label) for label in wanted]


def _no_positive(model: Any, positive: Any) -> None:
    if positive is not None:
        raise InputError(f"positive is for classifiers; {type(model).__name__} gives scores: use threshold")


# --- what a model says of itself --------------------------------------------------------------------------------------


def _names(model: Any) -> tuple[str, ...] | None:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = getattr(model, "feature_name_", None)  # LightGBM's
    return None if names is None else tuple(map(str, names))


def _directions(model: Any) -> dict[str, int]:
    """Read the constraints that an estimator was fitted with; none where the classes are more than two."""
    names = _names(model)
    if not names:
        return {}
    given: Any = getattr(model, "monotonic_cst", None)
    if given is None and hasattr(model, "get_params"):
        given = model.get_params().get("monotone_constraints")
    return _by_name(given, names)


def _by_name(given: Any, names: Sequence[str]) -> dict[str, int]:
    if given is None or isinstance(given, bool):
        return {}
    if isinstance(given, str):
        text = given.strip().strip("()[]")
        given = [int(part) for part in text.split(",")] if text else []
    if isinstance(given, Mapping):
        return {str(name): int(sign) for name, sign in given.items() if int(sign)}
    signs = [int(sign) for sign in given]
    return {name: sign for name, sign in zip(names, signs, strict=False) if sign}


def _library(model: Any) -> str:
    return type(model).__module__.split(".")[0]


# --- boosters ---------------------------------------------------------------------------------------------------------


def _xgboost_booster(booster: Any) -> Scorer:
    config = json.loads(booster.save_config())["learner"]
    names = tuple(booster.feature_names) if booster.feature_names else None
    constraints = config["gradient_booster"].get("tree_train_param", {}).get("monotone_constraints")
    objective = config["objective"]["name"]
    threshold = ABOVE_HALF if objective in ("binary:logistic",) else None
    return Scorer(booster.inplace_predict, names, _by_name(constraints, names or ()), threshold)


def _lightgbm_booster(booster: Any) -> Scorer:
    names = tuple(booster.feature_name())
    constraints = booster.params.get("monotone_constraints")
    objective = str(booster.params.get("objective", ""))
    threshold = ABOVE_HALF if objective.startswith("binary") else None
    return Scorer(booster.predict, names, _by_name(constraints, names), threshold)


# --- the columns a model takes ----------------------------------------------------------------------------------------


def in_order_of(scorer: Scorer, names: Sequence[str]) -> Callable[[Any], Any]:
    """Return the model as a function of rows with these columns: it is given its own, in its own order."""
    wanted = scorer.names
    if wanted is None:
        return scorer.predict
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InputError(f"the model was fitted with a column {missing[0]!r} that the space does not have")
    places = [names.index(name) for name in wanted]

    def predict(rows: Any) -> Any:
        if not hasattr(rows, "columns"):
            import pandas as pd  # whoever fitted a model on named columns has it

            rows = pd.DataFrame(rows[:, places], columns=list(wanted)).infer_objects()
        elif tuple(rows.columns) != wanted:
            rows = rows[list(wanted)]
        return scorer.predict(rows)

    return predict
