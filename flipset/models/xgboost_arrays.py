"""Frames of numbers for XGBoost, as the arrays that it makes of them.

XGBoost reads a frame column by column, which takes longer than hundreds of trees take to answer a few rows. From an
array of floats it makes the same rows at once. An array has no names, so its columns are compared with those of the
model here.

Invariant: the scores of the array are those of the frame, to the last bit. Where that is not sure, the frame is passed
on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.space.multiples import EXACT

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 8
"""The most bytes of a number: wider floats would be rounded twice."""

CLASSIFIERS = ("XGBClassifier", "XGBRFClassifier")


def in_arrays(model: Any, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function of a classifier or a `Booster` of XGBoost so that it takes arrays where that is the same."""
    names = _names_of(model)
    if names is None:
        return predict
    return lambda rows: predict(as_array(rows, names))


def _names_of(model: Any) -> list[str] | None:
    """Return the columns of a model of XGBoost that takes numbers only; None for any other model."""
    kind = type(model)
    if not kind.__module__.startswith("xgboost."):
        return None
    booster = model
    if kind.__name__ in CLASSIFIERS:
        # What counts as missing is decided by the classifier: only NaN is the same in both.
        if not np.isnan(model.missing) or model.get_params().get("enable_categorical"):
            return None
        booster = model.get_booster()
    elif kind.__name__ != "Booster":
        return None
    names: list[str] | None = booster.feature_names
    return None if not names or "c" in (booster.feature_types or ()) else names


def as_array(rows: Any, names: list[str]) -> Any:
    """Return a pandas frame of plain numbers with these columns as an array; anything else as it is."""
    if not hasattr(rows, "iloc") or not hasattr(rows, "columns") or list(rows.columns) != names:
        return rows
    kinds = set(rows.dtypes)
    if not all(isinstance(kind, np.dtype) and kind.kind in "fiub" and kind.itemsize <= MOST_BYTES for kind in kinds):
        return rows
    array = np.ascontiguousarray(rows.to_numpy(dtype=np.float64))
    # Large whole numbers would be rounded twice: to a float of 64 bits, and then to one of 32.
    if any(kind.kind in "iu" for kind in kinds) and (np.abs(array) >= EXACT).any():
        return rows
    return array
