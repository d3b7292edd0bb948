"""XGBoost: the trees, or the weights of `gblinear`, of a `Booster`.

The format is XGBoost's own JSON ("Introduction to Model IO" in its documentation). A number goes left if it is smaller
than the condition, both as float32; a category goes right if it is listed. A booster adds up trees one by one, row by
row. DART multiplies each tree by a weight that is fixed after training; trees are dropped in training only.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from flipset.models.monotone.linear import Weights
from flipset.models.monotone.show import Reading
from flipset.models.monotone.shown import NotRead
from flipset.models.monotone.trees import CategorySplit, Forest, Tree, next_below, plant

LINKS = {
    "binary:logistic": "sigmoid",
    "reg:logistic": "sigmoid",
    "count:poisson": "exponential function",
    "reg:gamma": "exponential function",
    "reg:tweedie": "exponential function",
    "survival:cox": "exponential function",
    "survival:aft": "exponential function",
}
"""Objectives whose score is a rising function of the sum, and its name."""

SUMS = frozenset(
    {
        "binary:logitraw",
        "binary:hinge",  # 0 or 1, by the sign of the sum
        "rank:map",
        "rank:ndcg",
        "rank:pairwise",
        "reg:absoluteerror",
        "reg:expectileerror",
        "reg:linear",
        "reg:pseudohubererror",
        "reg:quantileerror",
        "reg:squarederror",
        "reg:squaredlogerror",
    }
)
"""Objectives whose score is the sum itself."""


def read_booster(booster: Any, *, rounds: int | None = None, sign: int = 1, missing: float = np.nan) -> Reading:
    """Read a booster.

    `rounds` is the number of rounds that predict; None means all. `sign` is -1 for the first of two classes. `missing`
    is the value that stands for a missing one.
    """
    why_not = ""
    if not np.isnan(missing):
        why_not = f"the model reads {missing:g} as a missing value, so {missing:g} has no place in the order"
    if rounds is not None:
        booster = booster[:rounds]
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    about = learner["learner_model_param"]
    if int(about.get("num_class", "0")) > 1 or int(about.get("num_target", "1")) > 1:
        raise NotRead("the model has several outputs, which go through one function together")
    objective = learner["objective"]["name"]
    if objective not in LINKS and objective not in SUMS:
        why_not = why_not or f"the objective {objective!r} may change the order of the sums"
    notes = _notes(objective)
    booster_part = learner["gradient_booster"]
    width = int(about["num_feature"])
    if booster_part["name"] == "gblinear":
        weights = np.array(booster_part["model"]["weights"][:width], dtype=np.float64)
        return Reading(Weights(weights), sign, notes, why_not=why_not)
    factors = None
    if booster_part["name"] == "dart":
        factors, booster_part = booster_part["weight_drop"], booster_part["gbtree"]
    return Reading(_forest(booster_part["model"]["trees"], factors, width), sign, notes, why_not=why_not)


def _notes(objective: str) -> tuple[str, ...]:
    if objective not in LINKS:
        return ()
    return (
        f"the proof is about the sum of the trees; the {LINKS[objective]} that makes the score of it is trusted to "
        "keep the order as XGBoost computes it",
    )


def _forest(trees: list[dict[str, Any]], factors: list[float] | None, width: int) -> Forest:
    if factors is not None and len(factors) != len(trees):
        raise NotRead("DART has not one weight for each tree")
    made = [_tree(tree, 1.0 if factors is None else factors[i]) for i, tree in enumerate(trees)]
    return plant(made, width, is_narrow=True)


def _tree(tree: dict[str, Any], factor: float) -> Tree:
    if tree["tree_param"].get("size_leaf_vector", "1") not in ("0", "1"):
        raise NotRead("a leaf has several values")
    left = np.array(tree["left_children"], dtype=np.int64)
    is_leaf = left < 0
    # A leaf has its value where other nodes have their condition. In float64, the products below are exact.
    conditions = np.array(tree["split_conditions"], dtype=np.float32)
    is_category = np.array(tree.get("split_type") or np.zeros(len(left)), dtype=np.int64) == 1
    return Tree(
        np.where(is_leaf, -1, np.array(tree["split_indices"], dtype=np.int64)),
        next_below(np.where(is_leaf | is_category, 0, conditions)),
        np.array(tree["default_left"], dtype=np.bool_),
        left,
        tree["right_children"],
        conditions.astype(np.float64) * float(np.float32(factor)),
        _categories(tree, is_category & ~is_leaf),
    )


def _categories(tree: dict[str, Any], is_category: Any) -> dict[int, CategorySplit]:
    if not is_category.any():
        return {}
    parts = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    listed = {node: frozenset(tree["categories"][start : start + size]) for node, start, size in parts}
    return {node: CategorySplit(listed[node], listed_left=False) for node in np.flatnonzero(is_category).tolist()}
