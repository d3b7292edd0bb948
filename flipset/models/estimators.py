"""Estimators with scikit-learn's interface: its own and its pipelines, and those of XGBoost, LightGBM and CatBoost.

The threshold is where the estimator's own `predict` changes its decision. Libraries choose the second class strictly
above a border, so the threshold of the second class is the next float above it, and that of the first class is one
minus the border itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, nextafter
from typing import Any

import numpy as np

from flipset.errors import InputError
from flipset.models.constraints import trained_signs
from flipset.models.monotone.estimators import Output, estimator_structure
from flipset.models.most_likely import MostLikely, margin_of
from flipset.models.scorer import ABOVE_HALF, Scorer, columns_known, no_positive, sum_of
from flipset.models.xgboost_arrays import in_arrays


def read_estimator(model: Any, positive: Any) -> Scorer:
    """Return the scorer of a fitted classifier or regressor."""
    decider = deciding_model(model)
    by_margin = _decides_by_margin(model) or getattr(decider, "response_method", None) == "decision_function"
    if hasattr(model, "predict_proba") and not by_margin:
        return _classifier(model, positive)
    if isinstance(positive, MostLikely):
        raise InputError(f'decide="argmax" needs probabilities of classes, which {type(model).__name__} does not give')
    if hasattr(model, "decision_function"):
        return _margin_classifier(model, positive)
    no_positive(model, positive)
    structure = estimator_structure(model, Output())
    return Scorer(model.predict, threshold=None, structure=structure, **_columns(model))


def _classifier(model: Any, positive: Any) -> Scorer:
    if isinstance(positive, MostLikely):
        return _by_most_likely(model, positive)
    classes = _classes(model)
    columns = _positive_columns(classes, positive)
    # Looked up at each call: somebody may wrap the method.
    probabilities = in_arrays(model, lambda rows: model.predict_proba(rows))

    def predict(rows: Any) -> Any:
        return sum_of(np.asarray(probabilities(rows)), columns)

    # With more than two classes, the constraints of one class say nothing about its probability: the other classes
    # may gain more.
    first = len(classes) == 2 and columns == [0]
    # Constraints are about the second class; what raises it lowers the first.
    sign = 0 if len(classes) > 2 else -1 if first else 1
    border = _border(model)
    threshold: float | None
    if _sets_own_threshold(deciding_model(model)):
        threshold = _own_threshold(deciding_model(model), classes, columns[0]) if len(columns) == 1 else None
    elif first:  # at the border itself, libraries decide for the first class
        threshold = 1.0 - border
    else:
        threshold = ABOVE_HALF if border == 0.5 else nextafter(border, inf)
    decides = own_decision(model, classes[columns[0]]) if len(classes) == 2 else None
    structure = estimator_structure(model, Output(tuple(columns), len(classes)))
    return Scorer(
        predict,
        threshold=threshold,
        decides=decides,
        structure=structure,
        gives_probabilities=True,
        **_columns(model, sign),
    )


def _by_most_likely(model: Any, positive: MostLikely) -> Scorer:
    """Return the scorer of a classifier that decides for its most likely class."""
    classes = _classes(model)
    columns = _positive_columns(classes, positive.classes)

    def predict(rows: Any) -> Any:
        return margin_of(model.predict_proba(rows), columns)

    def decides(rows: Any) -> Any:
        labels = model.predict(rows)
        return np.any([are_label(label, labels) for label in positive.classes], axis=0)

    # Constraints and trees are about one class, and say nothing about the difference of two.
    own = decides if hasattr(model, "predict") else None
    unsigned = columns_known(names_of(model), ())
    return Scorer(predict, threshold=0.0, decides=own, **unsigned)


def own_decision(model: Any, label: Any) -> Callable[[Any], Any] | None:
    """Return the function from rows to whether the model predicts a class; None if it has no `predict`."""
    if not hasattr(model, "predict"):
        return None
    return lambda rows: are_label(label, model.predict(rows))


def are_label(label: Any, labels: Any) -> list[bool]:
    """Say which labels equal this one; CatBoost writes True and False as text."""
    return [one == label or str(one) == str(label) for one in np.asarray(labels).ravel().tolist()]


def _decides_by_margin(model: Any) -> bool:
    """Say whether the model decides by its margin although it reports probabilities."""
    # Support vector machines fit their probabilities afterwards: `predict` does not follow them.
    return type(deciding_model(model)).__name__ in ("SVC", "NuSVC") and len(getattr(model, "classes_", ())) == 2


def deciding_model(model: Any) -> Any:
    """Return the model that decides inside pipelines, searches and other wrappers, however deeply nested."""
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
    return model if inside is None else deciding_model(inside())


def _sets_own_threshold(model: Any) -> bool:
    return type(model).__name__ in ("FixedThresholdClassifier", "TunedThresholdClassifierCV")


def _own_threshold(model: Any, classes: Sequence[Any], column: int) -> float | None:
    """Return the threshold that a model sets for its second class; None for another class, which has none."""
    if column != 1 or getattr(model, "pos_label", None) not in (None, classes[-1]):
        return None
    threshold = getattr(model, "best_threshold_", getattr(model, "threshold", "auto"))
    if threshold != "auto":
        return float(threshold)
    by_margin = model.response_method == "decision_function" or not hasattr(model, "predict_proba")
    return 0.0 if by_margin else 0.5


def _border(model: Any) -> float:
    """Return the probability above which the model decides for its second class; in CatBoost it can be set."""
    if hasattr(model, "get_probability_threshold") and len(model.classes_) == 2:
        return float(model.get_probability_threshold())
    return 0.5


def _margin_classifier(model: Any, positive: Any) -> Scorer:
    classes = _classes(model)
    if len(classes) != 2:
        raise InputError(f"a model without probabilities must have two classes, it has {len(classes)}")
    (column,) = _positive_columns(classes, positive)
    sign = 1.0 if column == 1 else -1.0
    above_zero = nextafter(0.0, inf)  # a margin above 0 is the second class; 0 itself belongs to the first
    threshold: float | None = above_zero if column == 1 else 0.0
    if _sets_own_threshold(deciding_model(model)):
        threshold = _own_threshold(deciding_model(model), classes, column)
    return Scorer(
        lambda rows: sign * np.asarray(model.decision_function(rows)),
        threshold=threshold,
        decides=own_decision(model, classes[column]),
        structure=estimator_structure(model, Output((column,), len(classes), is_margin=True)),
        **_columns(model, int(sign)),
    )


def _classes(model: Any) -> list[Any]:
    classes = getattr(model, "classes_", None)
    if classes is None or not len(classes):
        raise InputError(f"the model {type(model).__name__} is not fitted: it has no classes_")
    if any(np.ndim(label) for label in classes):
        raise InputError(
            f"the model {type(model).__name__} predicts several labels of a row at once: give one for each"
        )
    return [label.item() if hasattr(label, "item") else label for label in classes]


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
    """Return the names of the columns a model was fitted on, or the numbers it has for them; None without either."""
    for attribute in ("feature_names_in_", "feature_name_", "feature_names_"):  # scikit-learn's, LightGBM's, CatBoost's
        names = getattr(model, attribute, None)
        if names is not None and len(names):
            return tuple(map(str, names))
    inner = _takes_the_columns(model)
    return None if inner is None else names_of(inner)


def _takes_the_columns(model: Any) -> Any:
    """Return the part of a model that is given its columns, where the model itself does not say their names."""
    # scikit-learn asks the first step for the names, and "passthrough" has none. The next step gets the same table.
    kind = type(model).__name__
    if kind == "Pipeline":
        return next((step for _, step in model.steps if step is not None and step != "passthrough"), None)
    return getattr(model, "best_estimator_", None)


def _columns(model: Any, sign: int = 1) -> dict[str, Any]:
    """Return what is known about the columns; `sign` turns the constraints round, and 0 leaves them out."""
    return columns_known(names_of(model), [sign * one for one in trained_signs(model)] if sign else ())
