"""Estimators with scikit-learn's interface: its own, its pipelines, and those of XGBoost, LightGBM and CatBoost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, nextafter
from typing import Any

import numpy as np

from flipset.errors import InputError
from flipset.models.scorer import ABOVE_HALF, Scorer, by_name, no_positive, real_names, sum_of


def read_estimator(model: Any, positive: Any) -> Scorer:
    """Return how to ask a fitted classifier or regressor."""
    by_margin = _decides_by_margin(model) or getattr(deciding(model), "response_method", None) == "decision_function"
    if hasattr(model, "predict_proba") and not by_margin:
        return _classifier(model, positive)
    if hasattr(model, "decision_function"):
        return _margin_classifier(model, positive)
    no_positive(model, positive)
    return Scorer(model.predict, names_of(model), _directions(model), threshold=None)


def _classifier(model: Any, positive: Any) -> Scorer:
    classes = _classes(model)
    columns = _positive_columns(classes, positive)

    def predict(rows: Any) -> Any:
        return sum_of(np.asarray(model.predict_proba(rows)), columns)

    # Several classes share what each of them gains: no direction of one is a direction of its share.
    directions = _directions(model) if len(classes) == 2 else {}
    first = len(classes) == 2 and columns == [0]
    if first:  # what raises the second class lowers the first
        directions = {name: -direction for name, direction in directions.items()}
    border = _border(model)
    threshold: float | None
    if _names_its_border(deciding(model)):
        threshold = _named_border(deciding(model), classes, columns[0]) if len(columns) == 1 else None
    elif first:  # which has it at the border
        threshold = 1.0 - border
    else:
        threshold = ABOVE_HALF if border == 0.5 else nextafter(border, inf)
    decides = predicting(model, classes[columns[0]]) if len(classes) == 2 else None
    return Scorer(predict, names_of(model), directions, threshold, decides=decides)


def predicting(model: Any, label: Any) -> Callable[[Any], Any] | None:
    """Return a model's own decision for one of its classes, where it has one."""
    if not hasattr(model, "predict"):
        return None
    return lambda rows: are(label, model.predict(rows))


def are(label: Any, labels: Any) -> list[bool]:
    """Say which labels are this one; CatBoost writes True and False as text."""
    return [one == label or str(one) == str(label) for one in np.asarray(labels).ravel().tolist()]


def _decides_by_margin(model: Any) -> bool:
    """Say whether the model's own decision is not that of its probabilities: so it is for these, which add them on."""
    return type(deciding(model)).__name__ in ("SVC", "NuSVC") and len(getattr(model, "classes_", ())) == 2


def deciding(model: Any) -> Any:
    """Return the model whose decision a pipeline, a search or another wrapper passes on, however deep it is inside."""
    inside = {
        "Pipeline": lambda: model[-1],
        "GridSearchCV": lambda: model.best_estimator_,
        "RandomizedSearchCV": lambda: model.best_estimator_,
        "HalvingGridSearchCV": lambda: model.best_estimator_,
        "HalvingRandomSearchCV": lambda: model.best_estimator_,
        "FrozenEstimator": lambda: model.estimator,
        "RFE": lambda: model.estimator_,
        "RFECV": lambda: model.estimator_,
        "SelfTrainingClassifier": lambda: model.estimator_,
        "OneVsRestClassifier": lambda: model.estimators_[0],
        "StackingClassifier": lambda: model.final_estimator_,
    }.get(type(model).__name__)
    return model if inside is None else deciding(inside())


def _names_its_border(model: Any) -> bool:
    return type(model).__name__ in ("FixedThresholdClassifier", "TunedThresholdClassifierCV")


def _named_border(model: Any, classes: Sequence[Any], column: int) -> float | None:
    """Return from where on it is the class that the model names, as a rule the second; for another, say yourself."""
    if column != 1 or getattr(model, "pos_label", None) not in (None, classes[-1]):
        return None
    found = getattr(model, "best_threshold_", getattr(model, "threshold", "auto"))
    if found != "auto":
        return float(found)
    by_margin = model.response_method == "decision_function" or not hasattr(model, "predict_proba")
    return 0.0 if by_margin else 0.5


def _border(model: Any) -> float:
    """Return the probability above which the second class has it; CatBoost lets people move it."""
    if hasattr(model, "get_probability_threshold") and len(model.classes_) == 2:
        return float(model.get_probability_threshold())
    return 0.5


def _margin_classifier(model: Any, positive: Any) -> Scorer:
    classes = _classes(model)
    if len(classes) != 2:
        raise InputError(f"a model without probabilities must have two classes, it has {len(classes)}")
    (column,) = _positive_columns(classes, positive)
    sign = 1.0 if column == 1 else -1.0
    directions = {name: int(sign) * direction for name, direction in _directions(model).items()}
    above_zero = nextafter(0.0, inf)  # "more than 0" is the second class; for the first, 0 belongs to it
    threshold: float | None = above_zero if column == 1 else 0.0
    if _names_its_border(deciding(model)):
        threshold = _named_border(deciding(model), classes, column)
    return Scorer(
        lambda rows: sign * np.asarray(model.decision_function(rows)),
        names_of(model),
        directions,
        threshold,
        decides=predicting(model, classes[column]),
    )


def _classes(model: Any) -> list[Any]:
    found = getattr(model, "classes_", None)
    if found is None or not len(found):
        raise InputError(f"the model {type(model).__name__} is not fitted: it has no classes_")
    return [label.item() if hasattr(label, "item") else label for label in found]


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
    if len(set(wanted)) < len(wanted):
        raise InputError(f"positive={positive!r} names a class twice")
    if not wanted or len(wanted) == len(classes):
        raise InputError(f"positive must be some of the classes {classes!r}, and not all of them")
    return [classes.index(label) for label in wanted]


def names_of(model: Any) -> tuple[str, ...] | None:
    """Return the columns a model was fitted on, where it knows them by name."""
    for attribute in ("feature_names_in_", "feature_name_", "feature_names_"):  # scikit-learn's, LightGBM's, CatBoost's
        names = getattr(model, attribute, None)
        if names is not None and len(names):
            return real_names(names)
    return None


def _directions(model: Any) -> dict[str, int]:
    """Read the constraints that an estimator was fitted with."""
    names = names_of(model)
    if not names:
        return {}
    given: Any = getattr(model, "monotonic_cst", None)
    if given is None and hasattr(model, "get_params"):
        given = model.get_params().get("monotone_constraints")
    return by_name(given, names)
