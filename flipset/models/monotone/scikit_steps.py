"""scikit-learn: steps before a model, and what becomes of the order of values in each.

A step is known by its name. What is not known here mixes its inputs, with the step's name as the reason.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from flipset.models.monotone.inputs import Input, Inputs, mixed
from flipset.models.monotone.shown import NotRead


def through(step: Any, inputs: Inputs, label: str) -> Inputs:
    """Return what inputs are after a step of a pipeline."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return inputs
    name = scikit_name(step)
    if name == "Pipeline":
        for inner, one in step.steps:
            inputs = through(one, inputs, inner)
        return inputs
    if name == "ColumnTransformer":
        return _column_transformer(step, inputs)
    if name == "FeatureUnion":
        weights = step.transformer_weights or {}
        parts = [(inner, through(one, inputs, inner)) for inner, one in step.transformer_list if one != "drop"]
        return tuple(_weighted(one, weights.get(inner)) for inner, part in parts for one in part)
    if name in KNOWN:
        _check_width(step, inputs)
        return KNOWN[name](step, inputs, label)
    if name and hasattr(step, "get_support"):
        return through_selection(step, inputs)
    raise NotRead(f"the step {label!r} ({type(step).__name__}) is not read")


def scikit_name(one: Any) -> str:
    """Return the name of the class of an object of scikit-learn; "" for one of others, which may do anything."""
    kind = type(one)
    return kind.__name__ if kind.__module__.split(".")[0] == "sklearn" else ""


def through_selection(step: Any, inputs: Inputs) -> Inputs:
    """Return the inputs that a step selects."""
    _check_width(step, inputs)
    return tuple(one for one, is_kept in zip(inputs, step.get_support(), strict=True) if is_kept)


def _check_width(step: Any, inputs: Inputs) -> None:
    if len(inputs) != step.n_features_in_:
        raise NotRead(f"the step {type(step).__name__} takes {step.n_features_in_:,} inputs, not {len(inputs):,}")


def _weighted(one: Input, weight: float | None) -> Input:
    return one if weight is None else one.scaled(int(np.sign(weight)))


def _column_transformer(step: Any, inputs: Inputs) -> Inputs:
    """Return what the parts of a table are after the steps that each takes, side by side."""
    _check_width(step, inputs)
    weights = step.transformer_weights or {}
    made: list[Input] = []
    for label, inner, _ in step.transformers_:
        own = tuple(inputs[i] for i in step._transformer_to_input_indices[label])
        if not own or (isinstance(inner, str) and inner == "drop"):
            continue
        place = step.output_indices_[label]
        if place.start != len(made):
            raise NotRead("the parts of a ColumnTransformer are not side by side")
        try:
            part = through(inner, own, label)
        except NotRead as why_not:
            part = (mixed(own, str(why_not)),) * (place.stop - place.start)
        if len(part) != place.stop - place.start:
            raise NotRead(f"the step {label!r} ({type(inner).__name__}) makes {place.stop - place.start:,} columns")
        made += [_weighted(one, weights.get(label)) for one in part]
    return tuple(made)


Step = Callable[[Any, Inputs, str], Inputs]


NO_SCALE = "a step divides it by 0 or by a number that is not finite"


def _affine(centre: str, scale: str) -> Step:
    """Return what `(x - centre) / scale` does; either attribute may be None."""

    def apply(step: Any, inputs: Inputs, _: str) -> Inputs:
        count = len(inputs)
        is_centred = getattr(step, "with_mean", True)  # StandardScaler keeps a mean that it does not subtract
        centres = _or(getattr(step, centre, None) if is_centred else None, np.zeros(count))
        scales = _or(getattr(step, scale, None), np.ones(count))
        return tuple(
            # A division by 0 gives infinities on both sides of the centre.
            one.scaled(int(np.sign(b)), partial(_line, b, a)) if b and isfinite(b) else one.without_order(NO_SCALE)
            for one, a, b in zip(inputs, centres.tolist(), scales.tolist(), strict=True)
        )

    return apply


def _line(slope: float, shift: float, value: float) -> float:
    return value * slope + shift


def _or(given: Any, default: Any) -> Any:
    return default if given is None else np.asarray(given, dtype=np.float64)


def _min_max(step: Any, inputs: Inputs, _: str) -> Inputs:
    """`x * scale + shift`, which may be clipped."""
    return tuple(
        # A column without values has no scale.
        one.scaled(int(np.sign(b)), partial(_line, 1 / b, -a / b)) if b and isfinite(b) else one.without_order(NO_SCALE)
        for one, a, b in zip(inputs, step.min_.tolist(), step.scale_.tolist(), strict=True)
    )


def _imputer(step: Any, inputs: Inputs, label: str) -> Inputs:
    """Missing values become a constant, which is the same in both rows; columns without values may be left out.

    A column that is left out has no constant. With strategy="constant", that depends on the version of scikit-learn.
    """
    if not _is_nan(step.missing_values):
        why_not = f"the step {label!r} reads {step.missing_values!r} as missing"
        inputs = tuple(one.without_order(why_not) for one in inputs)
    is_kept = [True] * len(inputs)
    if not getattr(step, "keep_empty_features", False):
        is_kept = [not _is_nan(value) for value in step.statistics_.tolist()]
    kept = [one for one, is_one in zip(inputs, is_kept, strict=True) if is_one]
    indicator = getattr(step, "indicator_", None)
    return (*kept, *(() if indicator is None else _indicator(indicator, inputs, label)))


def _indicator(step: Any, inputs: Inputs, label: str) -> Inputs:
    """Whether a value is missing: the same in all rows that are compared."""
    if not _is_nan(step.missing_values):
        raise NotRead(f"the step {label!r} reads {step.missing_values!r} as missing")
    return tuple(inputs[i].scaled(0) for i in step.features_.tolist())


def _is_nan(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or str(value) == "<NA>"


def _trusted(step: Any, inputs: Inputs, label: str) -> Inputs:
    note = f"the step {label!r} ({type(step).__name__}) is trusted to keep the order as it computes"
    return tuple(replace(one.scaled(1), note=note) for one in inputs)


def _bins(step: Any, inputs: Inputs, label: str) -> Inputs:
    if step.encode == "ordinal":
        return tuple(one.scaled(1) for one in inputs)
    why_not = f"the step {label!r} makes a column of each bin"
    return tuple(
        one.without_order(why_not) for one, count in zip(inputs, step.n_bins_, strict=True) for _ in range(count)
    )


def _function(step: Any, inputs: Inputs, label: str) -> Inputs:
    if step.func is not None:
        raise NotRead(f"the step {label!r} (FunctionTransformer) is a function of its own")
    return inputs


def _ordinal(step: Any, inputs: Inputs, label: str) -> Inputs:
    made = []
    for one, categories in zip(inputs, step.categories_, strict=True):
        places = None if _has_rare(step) else _places(step, one, categories.tolist())
        if places is None:
            made.append(
                one.without_order(f"the step {label!r} numbers its values in another order, or takes unknown ones")
            )
        elif all(a < b for a, b in itertools.pairwise(places)):
            made.append(replace(one, sign=1, why_not="", undo=None, levels=None))
        elif all(a > b for a, b in itertools.pairwise(places)):
            made.append(replace(one, sign=-1, why_not="", undo=None, levels=None))
        else:
            made.append(one.without_order(f"the step {label!r} numbers its values in another order"))
    return tuple(made)


def _places(step: Any, one: Input, categories: list[Any]) -> list[int] | None:
    """Return the places of a column's values among the categories of an encoder, from the lowest value up.

    None if values may occur that the encoder does not know, or if the values have no order any more.
    """
    known = [value for value in categories if not _is_nan(value)]
    if one.levels is not None:
        is_known = all(level in known for level in one.levels)
        return [categories.index(level) for level in one.levels] if is_known else None
    if (
        step.handle_unknown != "error"
        or one.sign == 0
        or not all(isinstance(value, (bool, int, float)) for value in known)
    ):
        return None
    # Every other value is an error, so these are all the values there are.
    places = [i for i, value in enumerate(categories) if not _is_nan(value)]
    return sorted(places, key=lambda i: one.sign * categories[i])


def _one_hot(step: Any, inputs: Inputs, label: str) -> Inputs:
    made: list[Input] = []
    for i, one in enumerate(inputs):
        count = int(step._n_features_outs[i])
        categories = step.categories_[i].tolist()
        why_not = f"the step {label!r} makes a column of each of its values"
        places = None if _has_rare(step) else _places(step, one, categories)
        dropped = None if step.drop_idx_ is None else step.drop_idx_[i]
        kept = [k for k in range(len(categories)) if k != dropped]
        if not places or len(kept) != count:
            made += [one.without_order(why_not)] * count
            continue
        # The column of the lowest value is never switched on by a rise, and that of the highest never off.
        signs = {places[0]: -1, places[-1]: +1} if len(places) > 1 else {}
        for k in kept:
            followed = replace(one, sign=signs.get(k, 0), undo=None, levels=None, why_not="")
            made.append(followed if k in signs else one.without_order(why_not))
    return tuple(made)


def _has_rare(step: Any) -> bool:
    """Say whether an encoder joins rare values into one."""
    return getattr(step, "min_frequency", None) is not None or getattr(step, "max_categories", None) is not None


KNOWN: dict[str, Step] = {
    "StandardScaler": _affine("mean_", "scale_"),
    "RobustScaler": _affine("center_", "scale_"),
    "MaxAbsScaler": _affine("", "scale_"),
    "MinMaxScaler": _min_max,
    "SimpleImputer": _imputer,
    "MissingIndicator": _indicator,
    "PowerTransformer": _trusted,
    "QuantileTransformer": _trusted,
    "KBinsDiscretizer": _bins,
    "FunctionTransformer": _function,
    "OrdinalEncoder": _ordinal,
    "OneHotEncoder": _one_hot,
}
