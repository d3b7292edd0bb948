"""The values that a feature may take on its way to its best allowed value: the grid for counterfactuals.

A path can have a million points, so its values are computed when needed instead of listed.

Invariants:

- The values are in the order in which they help: every value is better than the one before it, and the first is better
  than the value in the row.
- The last value is the best allowed value, which the search for sets uses. So a set that flips with all features at
  their best has a counterfactual on the grid.
- With a step, every value is a multiple of it. The bounds are rounded inward to multiples.
- Every value is one that the type of the column holds.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flipset.plural import count
from flipset.space.feature import level_range, step_of
from flipset.space.multiples import multiples_beyond, show_step
from flipset.space.rounded import Rounded, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from flipset.space.feature import Feature, Value
    from flipset.space.reference import Reference

MOST_VALUES = 256
"""The most grid points taken from a reference column: every value seen, or this many quantiles if there are more."""

PARTS = 100
"""The number of equal parts into which a range is divided where there is neither a reference nor a step."""


@dataclass(frozen=True, slots=True)
class Path:
    """The values that one feature may move to: `values[0]` is the nearest, `values[-1]` the best.

    Attributes
    ----------
    feature
        The feature.
    before
        The value in the row.
    values
        The values it may move to, in the order in which they help.
    rising
        Whether the values rise.
    grid
        What the values are, in words.
    enters
        Without a step: whether the first value is the bound at which a row from outside enters the allowed range.
    """

    feature: Feature
    before: Value
    values: Sequence[Value]
    rising: bool
    grid: str
    enters: bool = False


def find_path(feature: Feature, before: Value, *, raise_score: bool, reference: Reference | None) -> Path | None:
    """Return the path to the feature's best allowed value, for a higher or a lower score; None if it cannot move.

    From a value outside the order, such as a missing one, every allowed value can be reached, the worst one first.
    """
    rising = (feature.direction == 1) == raise_score
    ordinary = feature.is_ordinary(before)
    if ordinary and not (feature.may_rise if rising else feature.may_fall):
        return None
    start = before if ordinary else None
    step = None if feature.levels else step_of(feature)
    dtype = None if reference is None or feature.levels else reference.float_type(feature.name)
    values: Sequence[Value]
    if feature.levels:
        values, grid = _levels(feature, start, rising), "its levels"
    elif step is not None:
        whole = feature.kind == "integer"
        lower, upper = (int(bound) if whole else bound for bound in (feature.lower, feature.upper))
        values = multiples_beyond(lower, upper, step, start, rising=rising, whole=whole, dtype=dtype)
        grid = f"multiples of {show_step(step)}"
    else:
        values, grid = _scale(feature, start, rising, reference)
    if not len(values):
        return None
    path = Path(
        feature, before, values, rising, grid, step is None and not feature.levels and _enters(feature, start, rising)
    )
    return path if step is not None or dtype is None else held_by(path, dtype)


def held_by(path: Path, dtype: np.dtype[Any]) -> Path | None:
    """Return a path with values of a float type; None where the type has no value between the row's and the bound."""
    last = nearest(path.values[-1], dtype, up=not path.rising)
    # The bound, rounded inwards, may fall back to the value of the row, or behind it. Then nothing is left to move to.
    if path.feature.is_ordinary(path.before) and (last <= path.before if path.rising else last >= path.before):
        return None
    values: Sequence[float] = Rounded(path.values, dtype, last, rising=path.rising)
    return replace(path, values=list(values) if isinstance(path.values, list) else values)


def _levels(feature: Feature, before: Value, rising: bool) -> list[Value]:
    # The levels of a row outside the bounds are still known, so it moves into the range like any other.
    levels = feature.levels
    least, most = level_range(feature)
    if before is not None:
        place = levels.index(before)
        least, most = (max(least, place + 1), most) if rising else (least, min(most, place - 1))
    allowed = list(levels[least : most + 1])
    return allowed if rising else allowed[::-1]


def _scale(
    feature: Feature, before: float | None, rising: bool, reference: Reference | None
) -> tuple[Sequence[Value], str]:
    """Return the numbers of a feature without a step that lie strictly beyond `before`, or all where it is None.

    They are in the order in which they help. The second result describes the grid in words.
    """
    lower, upper = feature.lower, feature.upper
    best = upper if rising else lower
    if before is not None and (before >= upper if rising else before <= lower):
        return [], ""
    # A row outside its bounds, or outside the order, enters the range at the nearer bound.
    near = lower if rising else upper
    enters = _enters(feature, before, rising)
    # The points strictly between the row's value and the best value, then the best value itself.
    points, grid = _points(feature, reference)
    start: float = near if before is None or enters else before
    low, high = (start, best) if rising else (best, start)
    between = points[bisect_right(points, low) : bisect_left(points, high)]
    values = between if rising else between[::-1]
    return [*([near] if enters and near != best else []), *values, best], grid


def _enters(feature: Feature, before: float | None, rising: bool) -> bool:
    """Say whether a row comes from outside the order, or from beyond the bound that is nearer to it."""
    return before is None or bool(before < feature.lower if rising else before > feature.upper)


def _points(feature: Feature, reference: Reference | None) -> tuple[list[float], str]:
    """Return the grid of a feature without a step, ascending, and its description in words."""
    points, complete = ([], True) if reference is None else reference.points(feature, MOST_VALUES)
    if not points:
        # Fractions, because the difference of two large floats may overflow.
        lower, width = Fraction(feature.lower), Fraction(feature.upper) - Fraction(feature.lower)
        return [float(lower + width * k / PARTS) for k in range(PARTS + 1)], f"{PARTS} parts of its range"
    seen = f"the {count(len(points), 'value')} seen"
    return points, seen if complete else f"{len(points)} quantiles of the values seen"
