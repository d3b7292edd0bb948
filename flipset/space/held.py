"""Why a column is held fixed: for all rows, or because of the value that it has in one row.

A row may have values that the space does not speak of. These do not make the row an error: they stay as they are.

- A missing value and a special code stay, unless the feature says that they may be filled or left.
- A label that is not one of an ordered feature's levels has no place in the order, so it stays.
- A column of a formula that lacks another input stays, if the computed column has a value.
- One-hot columns in which a cell is neither 0 nor 1, or in which several are 1, stay together.

A category that is not among the options is none of these: the row may stay at it, and may move to any of the options,
as a number beyond its bounds may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from flipset.space.feature import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.space.feature import Feature, Value

Why: TypeAlias = Literal["missing", "special code", "unknown value", "missing input"]
"""Why a column is held fixed in one row."""


def is_held_fixed(feature: Feature) -> bool:
    """Say whether a feature by itself cannot move: it is fixed, or has neither a direction nor options."""
    return feature.fixed or not (feature.ordered or feature.options or feature.may_go_missing or feature.may_become)


def why_held(feature: Feature, value: Value) -> Why | None:
    """Say why a feature that may move in other rows is held fixed at this value; None if it is not."""
    if is_missing(value):
        return None if feature.may_fill else "missing"
    if value in feature.special:
        return None if value in feature.may_leave else "special code"
    return None if not feature.ordered or feature.is_ordinary(value) else "unknown value"


def why_hot_held(values: Sequence[Value]) -> Why | None:
    """Say why one-hot columns are held fixed at these values; None if they are not."""
    if any(map(is_missing, values)):
        return "missing"
    return None if all(value in (0, 1) for value in values) and sum(values) <= 1 else "unknown value"
