"""LightGBM: the trees of a `Booster`, from the text that it saves.

A number goes left if it is at most the threshold (`Tree::NumericalDecision` in LightGBM's tree.h). The decision type
of a node holds in its bits whether it splits categories (1), whether missing values go left (2), and what counts as
missing (4: zero, 8: NaN; neither: NaN is taken as 0). A category goes left if it is listed, and a missing one never
does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flipset.models.monotone.show import Reading
from flipset.models.monotone.shown import NotRead
from flipset.models.monotone.trees import CategorySplit, Tree, plant

LINKS = {
    "binary": "sigmoid",
    "cross_entropy": "sigmoid",
    "cross_entropy_lambda": "softplus function",
    "poisson": "exponential function",
    "gamma": "exponential function",
    "tweedie": "exponential function",
}
"""Objectives whose score is a rising function of the sum, and its name."""

SUMS = frozenset(
    {"regression", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg", "custom", ""}
)
"""Objectives whose score is the sum itself, or its square with its sign kept (`reg_sqrt`)."""

IS_CATEGORY, DEFAULT_LEFT, ZERO_IS_MISSING, NAN_IS_MISSING = 1, 2, 4, 8

NEAR_ZERO = float(np.float32(1e-35))
"""Numbers up to this size are taken as 0, which keeps the order of numbers."""

WORD = 32


def read_booster(booster: Any, *, sign: int = 1, settings: dict[str, Any] | None = None) -> Reading:
    """Read a booster: the trees that it predicts with, which are those up to the best round if it stopped early.

    `settings` are passed to `predict`. `sign` is -1 for the first of two classes.
    """
    if str((settings or {}).get("pred_early_stop", False)).lower() in ("true", "1", "+"):
        raise NotRead("pred_early_stop leaves trees out for some rows")
    head, *trees = booster.model_to_string().split("\n\n\nend of trees")[0].split("\nTree=")
    about = _fields(head)
    if int(about["num_tree_per_iteration"]) != 1:
        raise NotRead("several classes go through a softmax")
    notes = _notes(about.get("objective", ""))
    width = int(about["max_feature_idx"]) + 1
    return Reading(plant([_tree(_fields(text)) for text in trees], width, is_narrow=False), sign, notes)


def _fields(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.split("\n") if "=" in line)


def _notes(objective: str) -> tuple[str, ...]:
    name, *settings = objective.split(" ") if objective else [""]
    slopes = [float(one.split(":")[1]) for one in settings if one.startswith("sigmoid:")]
    if name in LINKS and all(slope > 0 for slope in slopes):
        return (
            f"the proof is about the sum of the trees; the {LINKS[name]} that makes the score of it is trusted to keep "
            "the order as LightGBM computes it",
        )
    if name in SUMS:
        return ()
    raise NotRead(f"the objective {objective!r} may change the order of the sums")


def _tree(fields: dict[str, str]) -> Tree:
    if fields.get("is_linear", "0") != "0":
        raise NotRead("linear trees are not read")
    leaves = _numbers(fields["leaf_value"])
    if int(fields["num_leaves"]) == 1:
        return Tree([-1], [0.0], [False], [0], [0], leaves[:1])
    inner = len(leaves) - 1
    kinds = _integers(fields["decision_type"])
    cuts = _numbers(fields["threshold"])
    if not len(kinds) == len(cuts) == inner == int(fields["num_leaves"]) - 1:
        raise NotRead("a tree has not as many splits as its leaves need")
    is_category = kinds & IS_CATEGORY != 0
    categories = _categories(fields, np.flatnonzero(is_category), cuts)
    default_left = kinds & DEFAULT_LEFT != 0
    zero_left = cuts >= 0
    _refuse_moved_zeros(cuts, (kinds & ZERO_IS_MISSING != 0) & ~is_category, default_left)
    missing_left = np.where(kinds & (NAN_IS_MISSING | ZERO_IS_MISSING) != 0, default_left, zero_left) & ~is_category
    # Leaves have the numbers -1, -2, ... among the children; here they come after the other nodes.
    left, right = (_integers(fields[name]) for name in ("left_child", "right_child"))
    none = np.zeros(len(leaves))
    return Tree(
        np.concatenate([_integers(fields["split_feature"]), none - 1]),
        np.concatenate([np.where(is_category, 0, cuts), none]),
        np.concatenate([missing_left, none]),
        np.concatenate([np.where(left < 0, inner + ~left, left), none]),
        np.concatenate([np.where(right < 0, inner + ~right, right), none]),
        np.concatenate([np.zeros(inner), leaves]),
        categories,
    )


def _refuse_moved_zeros(cuts: Any, zero_is_missing: Any, default_left: Any) -> None:
    """Refuse splits where 0 goes to another side than the numbers around it."""
    has_place = np.where(default_left, cuts >= NEAR_ZERO, cuts < -NEAR_ZERO)
    if (zero_is_missing & ~has_place).any():
        raise NotRead("the model reads 0 as a missing value (zero_as_missing), so 0 has no place in the order")


def _categories(fields: dict[str, str], nodes: Any, cuts: Any) -> dict[int, CategorySplit]:
    if not len(nodes):
        return {}
    bounds, words = _integers(fields["cat_boundaries"]), _integers(fields["cat_threshold"])
    splits = {}
    for node in nodes.tolist():
        which = int(cuts[node])
        own = words[bounds[which] : bounds[which + 1]].astype("<u4")
        codes = np.flatnonzero(np.unpackbits(own.view(np.uint8), bitorder="little"))
        splits[node] = CategorySplit(frozenset(codes.tolist()), listed_left=True)
    return splits


def _numbers(text: str) -> Any:
    return np.array(text.split(), dtype=np.float64)


def _integers(text: str) -> Any:
    return np.array(text.split(), dtype=np.int64)
