"""The allowed range of a column for one row: its bounds, narrowed by limits that depend on the row.

These are `max_rise` and `max_fall`, which start from the row's own value, and bounds that columns of the table give for
each row, `lower_from` and `upper_from`.

Invariant: limits only narrow the range. What a row may do under them is what it may do if its features have the
narrowed bounds.
"""

from __future__ import annotations

from copy import copy
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from flipset.boundary.reading import shown
from flipset.errors import InputError
from flipset.space.feature import is_number, level_range
from flipset.space.room import decimal, float_within, read_room

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.space.feature import Feature, Value

Range = tuple[Any, Any]
"""The lowest and the highest value that a column may move to; None for a side that is open."""


def has_limits(feature: Feature) -> bool:
    """Say whether the allowed range of a feature depends on the row."""
    return any(one is not None for one in (feature.max_rise, feature.max_fall, feature.lower_from, feature.upper_from))


def own_columns(features: Sequence[Feature]) -> tuple[str, ...]:
    """Return the columns of the table that give bounds for each row."""
    names = [name for one in features for name in (one.lower_from, one.upper_from) if name is not None]
    return tuple(dict.fromkeys(names))


def narrowed(feature: Feature, value: Value, own_bounds: Mapping[str, Value]) -> Feature | None:
    """Return a feature with the bounds that hold for one row; None where no value is left in them.

    A value that is missing or a special code is no number to start from: `max_rise` and `max_fall` do not apply to it.
    """
    if not has_limits(feature):
        return feature
    lower, upper = _level_limits(feature, value, own_bounds) if feature.levels else _limits(feature, value, own_bounds)
    if lower is not None and upper is not None and lower > upper:
        return None
    if feature.levels:
        lower, upper = feature.levels[lower], feature.levels[upper]
    # Without the checks of a new feature: they would refuse nothing here, and a table has millions of these.
    made = copy(feature)
    object.__setattr__(made, "lower", lower)
    object.__setattr__(made, "upper", upper)
    return made


def _limits(feature: Feature, value: Value, own_bounds: Mapping[str, Value]) -> Range:
    """Return the range of a column of numbers."""
    lower, upper = feature.lower, feature.upper
    own_lower = _own_bound(feature, feature.lower_from, own_bounds, -1)
    own_upper = _own_bound(feature, feature.upper_from, own_bounds, 1)
    fall = rise = None
    if feature.is_ordinary(value) and is_number(value):
        fall, rise = _end(feature, feature.max_fall, value, -1), _end(feature, feature.max_rise, value, 1)
    lowest = [bound for bound in (lower, own_lower, fall) if bound is not None]
    highest = [bound for bound in (upper, own_upper, rise) if bound is not None]
    return max(lowest, default=None), min(highest, default=None)


def _end(feature: Feature, given: Any, value: float, sign: int) -> Any:
    """Return how far a value may move in one direction, as a value of the column; None for no limit."""
    room = read_room(given)
    if room is None:
        return None
    return _rounded(feature, room.beyond(value, sign), sign)


def _rounded(feature: Feature, limit: Any, sign: int) -> Any:
    """Round a limit inwards, to a number that the column has."""
    if feature.kind == "integer":
        return floor(limit) if sign > 0 else ceil(limit)
    # A row may have a whole number above 2^53. Its limit may be beyond all floats.
    try:
        return float_within(limit, sign)
    except OverflowError:
        return None


def _own_bound(feature: Feature, column: str | None, own_bounds: Mapping[str, Value], sign: int) -> Any:
    """Return the bound that a column of the table gives for a row; None where it gives none."""
    bound = None if column is None else own_bounds.get(column)
    if bound is None:
        return None
    if not is_number(bound) or isinstance(bound, bool):
        expected = "a finite number, or a missing value where the row has no bound of its own"
        raise feature.error(f"its bound from the column {column!r} is {shown(bound)}; expected {expected}")
    return _rounded(feature, decimal(bound), sign)


def _level_limits(feature: Feature, value: Value, own_bounds: Mapping[str, Value]) -> tuple[int, int]:
    """Return the range of a column of levels, as positions; `max_rise` and `max_fall` count levels."""
    least, most = level_range(feature)
    place = feature.levels.index
    for column, is_upper in ((feature.lower_from, False), (feature.upper_from, True)):
        bound = None if column is None else own_bounds.get(column)
        if bound is None:
            continue
        if bound not in feature.levels:
            raise feature.error(
                f"its bound from the column {column!r} is {shown(bound)}; expected one of its values {feature.levels!r}"
            )
        least, most = (least, min(most, place(bound))) if is_upper else (max(least, place(bound)), most)
    if value in feature.levels:
        if feature.max_rise is not None:
            most = min(most, place(value) + int(feature.max_rise))
        if feature.max_fall is not None:
            least = max(least, place(value) - int(feature.max_fall))
    return least, most


def is_within(feature: Feature, value: Value, option: Value) -> bool:
    """Say whether the bounds, `may_rise` and `may_fall` allow a column without direction to take an option."""
    if feature.kind == "categorical":
        return True
    before, after = value, option
    lower, upper = feature.lower, feature.upper
    if feature.levels:
        lower, upper = level_range(feature)
        before, after = (feature.levels.index(one) if one in feature.levels else None for one in (value, option))
    # Only numbers have bounds and an order to rise or fall in.
    if not is_number(after):
        return True
    if (lower is not None and after < lower) or (upper is not None and after > upper):
        return False
    if not is_number(before):
        return True
    return feature.may_rise if after > before else feature.may_fall


def read_pair(name: str, pair: Any, levels: Sequence[Value] = ()) -> dict[str, Any]:
    """Read bounds given as (lower, upper) into attributes of a feature; None leaves a side as it is.

    For a column of numbers, a text names the column of the table that has each row's own bound.
    """
    try:
        lower, upper = pair
    except (TypeError, ValueError):
        raise InputError(f"bounds[{name!r}] must be a pair (lower, upper), got {pair!r}") from None
    attributes: dict[str, Any] = {}
    for side, bound in (("lower", lower), ("upper", upper)):
        if bound is not None:
            attributes[f"{side}_from" if isinstance(bound, str) and not levels else side] = bound
    return attributes
