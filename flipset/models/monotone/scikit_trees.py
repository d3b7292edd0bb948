"""scikit-learn: decision trees, forests of them, gradient boosting, and boosting on histograms.

A number goes left if it is at most the threshold. Trees and forests round it to float32 first; boosting on histograms
does not. Forests add up their trees one by one, unless several threads do so at a time: then the order changes from
call to call, and with it the last bits of a score.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flipset.models.monotone.scikit_steps import scikit_name
from flipset.models.monotone.show import Reading
from flipset.models.monotone.shown import NotRead
from flipset.models.monotone.trees import CategorySplit, Tree, plant, rounded_down

SIGMOID = (
    "the proof is about the sum of the trees; the sigmoid that makes the score of it is trusted to keep the order as "
    "scikit-learn computes it"
)
EXPONENTIAL = SIGMOID.replace("sigmoid", "exponential function")


def read_tree(model: Any, column: int | None) -> Reading:
    """Read a decision tree; `column` is the class whose share is the score, None for a regressor."""
    return Reading(plant([_tree(model, column)], int(model.n_features_in_), is_narrow=True))


def read_forest(model: Any, column: int | None) -> Reading:
    """Read a random forest or extremely randomized trees."""
    why_not = ""
    if model.n_jobs not in (None, 1):
        why_not = (
            f"several threads add up its trees (n_jobs={model.n_jobs}), in an order that changes from call to call; "
            "set n_jobs=1"
        )
    trees = [_tree(one, column) for one in model.estimators_]
    return Reading(plant(trees, int(model.n_features_in_), is_narrow=True), why_not=why_not)


def _tree(model: Any, column: int | None, factor: float = 1.0) -> Tree:
    tree = model.tree_
    if tree.value.shape[1] != 1:
        raise NotRead("the model has several outputs")
    is_leaf = tree.children_left < 0
    missing_left = getattr(tree, "missing_go_to_left", None)
    values = tree.value[:, 0, :]
    if column is None:
        value = values[:, 0] * factor
    else:
        # Before version 1.3, a leaf had counts of classes, which were divided at prediction. Later versions do not.
        if not np.isclose(values.sum(axis=1), 1.0).all():
            raise NotRead("the values of its leaves are not shares of the classes")
        value = values[:, column]
    return Tree(
        np.where(is_leaf, -1, tree.feature),
        rounded_down(np.where(is_leaf, 0.0, tree.threshold)),
        np.zeros(len(value)) if missing_left is None else np.asarray(missing_left),
        tree.children_left,
        tree.children_right,
        value,
    )


def read_boosting(model: Any, sign: int) -> Reading:
    """Read gradient boosting; `sign` is -1 for the first of two classes."""
    if model.estimators_.shape[1] != 1:
        raise NotRead("several classes go through a softmax")
    start = model.init_
    if not (isinstance(start, str) or scikit_name(start) in ("DummyClassifier", "DummyRegressor")):
        raise NotRead(f"it starts from another model, {type(start).__name__}, which is not read")
    if scikit_name(start) == "DummyClassifier" and start.strategy not in ("prior", "most_frequent", "constant"):
        raise NotRead("it starts from a model that answers at random")
    trees = [_tree(one, None, float(model.learning_rate)) for one in model.estimators_[:, 0]]
    notes = (SIGMOID,) if hasattr(model, "classes_") else ()
    return Reading(plant(trees, int(model.n_features_in_), is_narrow=True, takes_missing=False), sign, notes)


def read_histogram_boosting(model: Any, sign: int) -> Reading:
    """Read boosting on histograms; `sign` is -1 for the first of two classes."""
    if model.n_trees_per_iteration_ != 1:
        raise NotRead("several classes go through a softmax")
    order = _column_order(model)
    known = _known_categories(model)
    trees = [_predictor(predictor, order, known) for (predictor,) in model._predictors]
    return Reading(plant(trees, int(model.n_features_in_), is_narrow=False), sign, _histogram_notes(model))


def _histogram_notes(model: Any) -> tuple[str, ...]:
    if hasattr(model, "classes_"):
        return (SIGMOID,)
    if model.loss in ("squared_error", "absolute_error", "quantile"):
        return ()
    if model.loss in ("poisson", "gamma"):
        return (EXPONENTIAL,)
    raise NotRead(f"the loss {model.loss!r} may change the order of the sums")


def _column_order(model: Any) -> Any:
    """Return the column of each number that the trees see: categories come first among them."""
    count = int(model.n_features_in_)
    if getattr(model, "_preprocessor", None) is None:
        return np.arange(count)
    is_category = np.asarray(model.is_categorical_, dtype=np.bool_)
    return np.concatenate([np.flatnonzero(is_category), np.flatnonzero(~is_category)])


def _known_categories(model: Any) -> dict[int, frozenset[int]]:
    """Return the categories that the trees know, by the number that the trees see."""
    words, places = model._bin_mapper.make_known_categories_bitsets()
    is_category = model._bin_mapper.is_categorical_
    return {i: _codes(words[places[i]]) for i in range(len(places)) if is_category[i]}


def _codes(words: Any) -> frozenset[int]:
    bits = np.unpackbits(np.asarray(words, dtype="<u4").view(np.uint8), bitorder="little")
    return frozenset(np.flatnonzero(bits).tolist())


def _predictor(predictor: Any, order: Any, known: dict[int, frozenset[int]]) -> Tree:
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"] != 0
    is_category = (nodes["is_categorical"] != 0) & ~is_leaf
    categories = {}
    for node in np.flatnonzero(is_category).tolist():
        # A category that the model does not know goes where a missing value goes.
        left = _codes(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
        right = known[int(nodes["feature_idx"][node])] - left
        unknown_left = bool(nodes["missing_go_to_left"][node])
        categories[node] = CategorySplit(right if unknown_left else left, listed_left=not unknown_left)
    return Tree(
        np.where(is_leaf, -1, order[np.where(is_leaf, 0, nodes["feature_idx"])]),
        np.where(is_leaf | is_category, 0.0, nodes["num_threshold"]),
        nodes["missing_go_to_left"],
        nodes["left"],
        nodes["right"],
        nodes["value"],
        categories,
    )
