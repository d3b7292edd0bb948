"""The monotone constraints that a model was trained with, read from the fitted model.

The parameters of an estimator can be changed after it was fitted, and its trees do not change with them. So a library's
own record of the training is read:

- XGBoost: the configuration of the booster. A model file does not have it, and `set_params` changes it.
- LightGBM: the head of the text that the booster saves.
- CatBoost: the parameters that the model keeps from its training.
- scikit-learn: forests copy their parameters to each tree when they are fitted. Other models keep no record, so that
  only the parameter is known.

Where a record can be changed or is missing, the trees decide: `kept_constraints` (`models/monotone/show.py`) leaves out
a constraint that a tree does not keep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Signs = tuple[int, ...]
"""+1, -1 or 0 for each input, by its place. Inputs that are left out at the end have none."""


def trained_signs(model: Any) -> Signs:
    """Return the constraints that an estimator was trained with; none if it keeps no record that can be read."""
    library = type(model).__module__.split(".")[0]
    try:
        return READERS[library](model) if library in READERS else ()
    except Exception:
        # Libraries raise anything for a model that is not fitted, or that was read from a file without its training.
        return ()


def xgboost_signs(booster: Any) -> Signs:
    """Return the constraints of a `Booster` of XGBoost."""
    learner = json.loads(booster.save_config())["learner"]
    text = learner["gradient_booster"].get("tree_train_param", {}).get("monotone_constraints", "")
    return _trimmed([int(one) for one in re.findall(r"-?\d+", str(text))])


def lightgbm_signs(booster: Any) -> Signs:
    """Return the constraints of a `Booster` of LightGBM."""
    head = booster.model_to_string(num_iteration=1).split("\nTree=")[0]
    listed = re.search(r"^monotone_constraints=(.*)$", head, re.MULTILINE)
    return () if listed is None else _trimmed([int(one) for one in listed[1].split()])


def _catboost_signs(model: Any) -> Signs:
    # The keys are places, also where the constraints were given by name.
    given = model.get_all_params().get("monotone_constraints") or {}
    by_place = {int(place): int(sign) for place, sign in given.items()}
    return _trimmed([by_place.get(i, 0) for i in range(max(by_place, default=-1) + 1)])


def _scikit_signs(model: Any) -> Signs:
    trees = getattr(model, "estimators_", None)
    fitted = trees[0] if isinstance(trees, list) and trees and hasattr(trees[0], "monotonic_cst") else model
    given: Any = getattr(fitted, "monotonic_cst", None)
    if isinstance(given, Mapping):
        given = [given.get(name, 0) for name in getattr(model, "feature_names_in_", ())]
    # Settings of other kinds, such as a generator, are for a fit to come.
    is_listed = isinstance(given, Sequence) or hasattr(given, "tolist")
    return _trimmed([int(sign) for sign in given]) if is_listed and not isinstance(given, str) else ()


READERS: Mapping[str, Callable[[Any], Signs]] = {
    "xgboost": lambda model: xgboost_signs(model.get_booster()),
    "lightgbm": lambda model: lightgbm_signs(model.booster_),
    "catboost": _catboost_signs,
    "sklearn": _scikit_signs,
}


def _trimmed(signs: list[int]) -> Signs:
    """Return signs without the zeros at the end; so a model without constraints has none."""
    last = max((i for i, sign in enumerate(signs) if sign), default=-1)
    return tuple(signs[: last + 1])
