"""CatBoost: symmetric and other trees, from the JSON that it saves.

A number goes to the second side of a split if it is above the border, as float32. A missing value is smaller than all
borders, unless the model takes it as larger (`nan_mode="Max"`). A split on one category sends that category to the
second side. Statistics of categories (CTRs) are computed inside the model; each split on one is an input of its own,
derived from the columns that the statistic is about.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from flipset.models.monotone.show import Reading
from flipset.models.monotone.shown import NotRead
from flipset.models.monotone.trees import CategorySplit, Tree, plant, rounded_down

LINKS = {
    "Logloss": "sigmoid",
    "CrossEntropy": "sigmoid",
    "Focal": "sigmoid",
    "Poisson": "exponential function",
    "Tweedie": "exponential function",
    "LogLinQuantile": "exponential function",
}
"""Losses whose score is a rising function of the sum, and its name."""

SUMS = frozenset(
    {
        *("RMSE", "MAE", "Quantile", "Expectile", "MAPE", "Lq", "Huber", "LogCosh"),
        *("PairLogit", "PairLogitPairwise", "YetiRank", "YetiRankPairwise", "QueryRMSE", "QuerySoftMax", "LambdaMart"),
    }
)
"""Losses whose score is the sum itself."""


def read_model(model: Any, *, sign: int = 1) -> Reading:
    """Read a fitted model; `sign` is -1 for the first of two classes."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save_model(str(file), format="json")
        saved = json.loads(file.read_bytes())
    scale, biases = saved["scale_and_bias"]
    if len(biases) > 1:
        raise NotRead("several classes go through a softmax")
    if not scale >= 0:
        raise NotRead(f"the sum of the trees is multiplied by {scale:g}")
    columns = _Columns(saved["features_info"], len(model.feature_names_))
    if "oblivious_trees" in saved:
        trees = [_symmetric(tree, columns) for tree in saved["oblivious_trees"]]
    else:
        trees = [_branching(tree, columns) for tree in saved["trees"]]
    forest = plant(trees, columns.width + len(columns.derived), is_narrow=True)
    return Reading(forest, sign, _notes(saved["model_info"]), tuple(columns.derived.values()))


def _notes(about: dict[str, Any]) -> tuple[str, ...]:
    loss = about["params"]["loss_function"]["type"]
    if loss in LINKS:
        return (
            f"the proof is about the sum of the trees; the {LINKS[loss]} that makes the score of it is trusted to keep "
            "the order as CatBoost computes it",
        )
    if loss in SUMS:
        return ()
    raise NotRead(f"the loss function {loss!r} may change the order of the sums")


class _Columns:
    """What the features of a model are: columns, categories of columns, and statistics derived from them."""

    def __init__(self, about: dict[str, Any], width: int) -> None:
        strange = about.keys() - {"float_features", "categorical_features", "ctrs"}
        if any(about[kind] for kind in strange):
            raise NotRead("text and embedding features are not read")
        floats, categories = about.get("float_features", []), about.get("categorical_features", [])
        self.floats = {one["feature_index"]: one["flat_feature_index"] for one in floats}
        self.categories = {one["feature_index"]: one["flat_feature_index"] for one in categories}
        self.missing_above = {one["feature_index"] for one in floats if one["nan_value_treatment"] == "AsTrue"}
        self.width = width
        # Splits are numbered: borders of numbers first, then categories, then borders of statistics.
        before = sum(len(one["borders"]) for one in floats) + sum(len(one.get("values", ())) for one in categories)
        borders = [(border, ctr) for ctr in about.get("ctrs", ()) for border in ctr["borders"]]
        self._statistics = {before + i: pair for i, pair in enumerate(borders)}
        self.derived: dict[int, frozenset[int]] = {}  # the columns behind a statistic, by the number of its split

    def split(self, split: dict[str, Any]) -> tuple[int, float, bool, CategorySplit | None]:
        """Return the input of a split, its cut, whether missing values go to the first side, and its categories."""
        kind = split["split_type"]
        if kind == "FloatFeature":
            one = split["float_feature_index"]
            return self.floats[one], split["border"], one not in self.missing_above, None
        if kind == "OneHotFeature":
            chosen = CategorySplit(frozenset({split["value"]}), listed_left=False)
            return self.categories[split["cat_feature_index"]], 0.0, True, chosen
        if kind == "OnlineCtr":
            return self._statistic(split), 0.5, True, None
        raise NotRead(f"splits of the kind {kind} are not read")

    def _statistic(self, split: dict[str, Any]) -> int:
        number = split["split_index"]
        border, ctr = self._statistics[number]
        if border != split["border"]:
            raise NotRead("statistics of categories are numbered in a way that is not known")
        if number not in self.derived:
            self.derived[number] = frozenset(map(self._column, ctr["elements"]))
        return self.width + list(self.derived).index(number)

    def _column(self, element: dict[str, Any]) -> int:
        if element["combination_element"] == "float_feature":
            return int(self.floats[element["float_feature_index"]])
        return int(self.categories[element["cat_feature_index"]])


def _symmetric(tree: dict[str, Any], columns: _Columns) -> Tree:
    """Return a tree all of whose nodes at one depth have the same split: bit d of a leaf's number is split d's side."""
    splits = [columns.split(split) for split in tree.get("splits") or ()]
    values = np.array(tree["leaf_values"], dtype=np.float64)
    depth = len(splits)
    if len(values) != 1 << depth:
        raise NotRead("a leaf has several values")
    # The nodes are numbered as in a heap: the children of node i are 2i + 1 and 2i + 2. The last split is at the top,
    # so that leaves come in the order of their numbers.
    inner = np.arange((1 << depth) - 1)
    which = depth - np.floor(np.log2(inner + 1)).astype(np.int64) - 1
    none = np.zeros(len(values))
    return Tree(
        np.concatenate([_each(splits, 0, which, np.int64), none - 1]),
        np.concatenate([rounded_down(_each(splits, 1, which, np.float64)), none]),
        np.concatenate([_each(splits, 2, which, np.bool_), none]),
        np.concatenate([2 * inner + 1, none]),
        np.concatenate([2 * inner + 2, none]),
        np.concatenate([np.zeros(len(inner)), values]),
        {node: chosen for node, at in enumerate(which.tolist()) if (chosen := splits[at][3]) is not None},
    )


def _each(splits: list[Any], part: int, which: Any, kind: Any) -> Any:
    return np.array([split[part] for split in splits], dtype=kind)[which]


def _branching(tree: dict[str, Any], columns: _Columns) -> Tree:
    """Return a tree whose nodes have splits of their own."""
    nodes: list[tuple[int, float, bool, int, int, float]] = []
    categories: dict[int, CategorySplit] = {}
    waiting = [tree]
    while waiting:  # the children of a node get the next two numbers, in the order in which nodes are visited
        node = waiting.pop(0)
        if "split" not in node:
            if not isinstance(node["value"], (int, float)):
                raise NotRead("a leaf has several values")
            nodes.append((-1, 0.0, True, 0, 0, float(node["value"])))
            continue
        one, cut, missing_left, chosen = columns.split(node["split"])
        if chosen is not None:
            categories[len(nodes)] = chosen
        first = len(nodes) + len(waiting) + 1
        nodes.append((one, cut, missing_left, first, first + 1, 0.0))
        waiting += [node["left"], node["right"]]
    feature, cut_, missing, left, right, value = zip(*nodes, strict=True)
    return Tree(feature, rounded_down(cut_), missing, left, right, value, categories)
