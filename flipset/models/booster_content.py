"""The content of boosters: what XGBoost, LightGBM and CatBoost write into model files, without what changes no score.

The content of an estimator is that of the booster in it, so a model is recognised in both forms, in memory and read
from a file. Left out are versions, times, settings of the training, and statistics of nodes, such as gains and counts.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from flipset.models.canonical import NotCanonical
from flipset.space.multiples import EXACT

# --- XGBoost ----------------------------------------------------------------------------------------------------------

XGBOOST_STATISTICS = frozenset({"id", "loss_changes", "parents", "sum_hessian"})


def xgboost_content(model: Any) -> Any:
    """Return the content of a `Booster` or of an estimator of XGBoost."""
    if not hasattr(model, "get_booster"):
        return _xgboost_booster(model)
    if not model.__sklearn_is_fitted__():
        return _unfitted(model)
    booster = model.get_booster()
    best = booster.attr("best_iteration")
    if best is not None and model.booster != "gblinear" and int(best) + 1 < booster.num_boosted_rounds():
        booster = booster[: int(best) + 1]  # after an early stop, an estimator predicts with these trees only
    content = _xgboost_booster(booster)
    missing = model.missing
    return content if missing is None or missing != missing else {**content, "missing": missing}


def _xgboost_booster(booster: Any) -> dict[str, Any]:
    learner = json.loads(bytes(booster.save_raw(raw_format="json")))["learner"]
    # XGBoost has written the same number as 5E-1 and as [5E-1].
    base = json.loads(learner["learner_model_param"].pop("base_score").join("[]"))
    learner["learner_model_param"].pop("boost_from_average", None)
    learner.pop("attributes", None)
    for model in (part.get("model", {}) for part in _gradient_boosters(learner["gradient_booster"])):
        for tree in model.get("trees", ()):
            for statistic in XGBOOST_STATISTICS & tree.keys():
                del tree[statistic]
        if not any(model.get("cats", {}).values()):
            model.pop("cats", None)  # earlier versions do not have it
    return {"booster": _packed(learner), "base_score": np.ravel(base).astype(np.float64)}


def _gradient_boosters(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts that have trees: DART has a gradient booster inside of it."""
    inner = found.get("gbtree")
    return [found, inner] if isinstance(inner, dict) else [found]


# --- LightGBM ---------------------------------------------------------------------------------------------------------

LIGHTGBM_STATISTICS = frozenset(
    {"version", "tree_sizes", "split_gain", "leaf_weight", "leaf_count", "shrinkage"}
    | {"internal_value", "internal_weight", "internal_count"}
)


def lightgbm_content(model: Any) -> Any:
    """Return the content of a `Booster` or of an estimator of LightGBM."""
    if not hasattr(model, "fit"):
        return _lightgbm_booster(model)
    if not model.__sklearn_is_fitted__():
        return _unfitted(model)
    content = _lightgbm_booster(model.booster_)
    # Further settings of an estimator go along with each prediction: raw scores, or an early stop.
    settings = {name: value for name, value in model.get_params().items() if "pred" in name or "raw" in name}
    return {**content, "settings": settings} if settings else content


def _lightgbm_booster(booster: Any) -> dict[str, Any]:
    text = booster.model_to_string()
    trees, _, rest = text.partition("\nend of trees")
    kept = [line for line in trees.splitlines() if line.partition("=")[0] not in LIGHTGBM_STATISTICS]
    # The last line maps the categories of a pandas frame to the numbers that the trees know.
    categories = [line for line in rest.splitlines() if line.startswith("pandas_categorical:")]
    return {"trees": "\n".join(kept), "categories": categories}


# --- CatBoost ---------------------------------------------------------------------------------------------------------

RAW_LOSSES = frozenset({"RMSE", "MAE", "Quantile", "MAPE", "Huber", "Expectile", "Lq"})
"""Losses of models that predict the sum of their trees, whichever class of CatBoost they are in."""


def catboost_content(model: Any) -> Any:
    """Return the content of a model of CatBoost."""
    if not model.is_fitted():
        return _unfitted(model)
    with TemporaryDirectory() as folder:
        file = Path(folder, "model.json")
        model.save_model(str(file), format="json")
        content = json.loads(file.read_bytes())
    loss = _catboost_loss(content.pop("model_info", {}))
    for tree in content.get("oblivious_trees", ()):
        tree.pop("leaf_weights", None)
    classes = [label.item() if hasattr(label, "item") else label for label in model.classes_]
    # A value may be transformed, exponentiated for instance, by some classes of CatBoost and not by others.
    kind = None if classes or loss in RAW_LOSSES else type(model).__qualname__
    return {"trees": _packed(content), "classes": classes, "loss": loss, "kind": kind}


def _catboost_loss(info: dict[str, Any]) -> str:
    params = info.get("params", {})
    params = json.loads(params) if isinstance(params, str) else params
    loss = params.get("loss_function", {})
    kind = loss.get("type") if isinstance(loss, dict) else loss
    if not isinstance(kind, str):
        raise NotCanonical("a model of CatBoost that does not name its loss function")
    return kind


# --- all of them ------------------------------------------------------------------------------------------------------


def _unfitted(model: Any) -> dict[str, Any]:
    """Return the settings of an estimator that is not fitted: wrappers keep the one that they were given."""
    ignored = {"n_jobs", "nthread", "thread_count", "verbose", "verbosity"}
    return {"unfitted": {name: value for name, value in model.get_params().items() if name not in ignored}}


def _packed(value: Any) -> Any:
    """Return JSON with its lists of numbers as arrays of floats, which are hashed many times faster.

    A number is written as 0 or as 0.0 depending on the version, so whole numbers become floats too.
    """
    if isinstance(value, dict):
        return {name: _packed(one) for name, one in value.items()}
    if not isinstance(value, list):
        return float(value) if type(value) is int and abs(value) < EXACT else value
    kinds = set(map(type, value))
    if kinds and kinds <= {int, float} and (int not in kinds or max(map(abs, value)) < EXACT):
        return np.array(value, dtype=np.float64)
    return [_packed(one) for one in value]
