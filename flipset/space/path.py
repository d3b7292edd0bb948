"""The values that a feature may take on its way to its best allowed value: the grid for counterfactuals.

A path can have a million points, so its values are computed when needed instead of listed.

Invariants:

- The values are in the order in which they help: every value is better than the one before it, and the first is better
  than the value in the row.
- The last value is the best allowed value itself, whether it is on the grid or not. So a set that flips with all
  features at their best has a counterfactual on the grid.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, nextafter
from typing import TYPE_CHECKING, overload

from flipset.plural import count
from flipset.space.feature import level_range

if TYPE_CHECKING:
    from flipset.space.feature import Feature, Value
    from flipset.space.reference import Reference

MOST_VALUES = 256
"""The most grid points taken from a reference column: every value seen, or this many quantiles if there are more."""

MOST_STEPS = 1 << 62
"""The most steps of a path: Python's sequences cannot be much longer."""

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
    """

    feature: Feature
    before: Value
    values: Sequence[Value]
    rising: bool
    grid: str


class Multiples(Sequence["float | int"]):
    """The numbers first * step, (first ± 1) * step, ..., and then `last`, computed when needed.

    `near`, if given, comes before all of them: the bound at which a row from outside enters the allowed range.
    """

    def __init__(
        self, first: int, count: int, step: Fraction, last: float, *, rising: bool, near: float | None = None
    ) -> None:
        self._first, self._count, self._step, self._last = first, count, step, last
        self._sign = 1 if rising else -1
        # A bound that is itself the first multiple must not come twice.
        self._near = None if near == self._multiple(0) else near

    def __len__(self) -> int:
        return self._count + 1 + (self._near is not None)

    @overload
    def __getitem__(self, j: int) -> float | int: ...
    @overload
    def __getitem__(self, j: slice) -> list[float | int]: ...
    def __getitem__(self, j: int | slice) -> float | int | list[float | int]:
        if isinstance(j, slice):
            return [self[i] for i in range(*j.indices(len(self)))]
        if not -len(self) <= j < len(self):
            raise IndexError(j)
        j %= len(self)
        if self._near is not None:
            return self._multiple(j - 1) if j else self._near
        return self._multiple(j)

    def _multiple(self, j: int) -> float | int:
        if j == self._count:
            return self._last
        return _number((self._first + self._sign * j) * self._step, whole=isinstance(self._last, int))


def find_path(feature: Feature, before: Value, *, raise_score: bool, reference: Reference | None) -> Path | None:
    """Return the path to the feature's best allowed value, for a higher or a lower score; None if it cannot move.

    From a value outside the order, such as a missing one, every allowed value can be reached, the worst one first.
    """
    rising = (feature.direction == 1) == raise_score
    ordinary = feature.is_ordinary(before)
    if ordinary and not (feature.may_rise if rising else feature.may_fall):
        return None
    values: Sequence[Value]
    if feature.levels:
        values, grid = _levels(feature, before if ordinary else None, rising), "its levels"
    else:
        values, grid = _scale(feature, before if ordinary else None, rising, reference)
    return Path(feature, before, values, rising, grid) if len(values) else None


def _levels(feature: Feature, before: Value, rising: bool) -> list[Value]:
    # The levels of a row outside the bounds are still known, so it moves into the range like any other.
    levels = feature.levels
    least, most = level_range(feature)
    if before is not None:
        if before not in levels:
            raise feature.error(f"the row has {before!r}, which is not one of its values {levels!r}")
        place = levels.index(before)
        least, most = (max(least, place + 1), most) if rising else (least, min(most, place - 1))
    allowed = list(levels[least : most + 1])
    return allowed if rising else allowed[::-1]


def _scale(
    feature: Feature, before: float | None, rising: bool, reference: Reference | None
) -> tuple[Sequence[Value], str]:
    """Return the numbers strictly beyond `before`, or all where it is None, in the order in which they help.

    The second result describes the grid in words.
    """
    lower, upper = feature.lower, feature.upper
    best = upper if rising else lower
    if before is not None and (before >= upper if rising else before <= lower):
        return [], ""
    # A row outside its bounds, or outside the order, enters the range at the nearer bound.
    near = lower if rising else upper
    enters = before is None or (before < near if rising else before > near)
    step = feature.step or (None if feature.kind == "numeric" else 1)
    if step is not None:
        multiples = _multiples(feature, before, Fraction(str(step)), rising, near if enters else None)
        return multiples, f"multiples of {step:g}"
    # The points strictly between the row's value and the best value, then the best value itself.
    points, grid = _points(feature, reference)
    start: float = near if before is None or enters else before
    low, high = (start, best) if rising else (best, start)
    between = points[bisect_right(points, low) : bisect_left(points, high)]
    values = between if rising else between[::-1]
    return [*([near] if enters and near != best else []), *values, best], grid


def _points(feature: Feature, reference: Reference | None) -> tuple[list[float], str]:
    """Return the grid of a feature without a step, ascending, and its description in words."""
    points, complete = ([], True) if reference is None else reference.points(feature, MOST_VALUES)
    if not points:
        # Fractions, because the difference of two large floats may overflow.
        lower, width = Fraction(feature.lower), Fraction(feature.upper) - Fraction(feature.lower)
        return [float(lower + width * k / PARTS) for k in range(PARTS + 1)], f"{PARTS} parts of its range"
    seen = f"the {count(len(points), 'value')} seen"
    return points, seen if complete else f"{len(points)} quantiles of the values seen"


def _multiples(feature: Feature, before: float | None, step: Fraction, rising: bool, near: float | None) -> Multiples:
    whole = feature.kind == "integer"
    # A float bound means the decimal that a person typed: 0.3 is three steps of 0.1, although the floats say otherwise.
    lower, upper = (Fraction(int(bound) if whole else str(bound)) for bound in (feature.lower, feature.upper))
    if rising:
        first = ceil(lower / step)
        if before is not None and before >= feature.lower:
            first = max(first, _beyond(before, step, 1, whole=whole))
        steps = max(0, ceil(upper / step) - first)  # the multiples strictly below the bound, which itself comes last
    else:
        first = floor(upper / step)
        if before is not None and before <= feature.upper:
            first = min(first, _beyond(before, step, -1, whole=whole))
        steps = max(0, first - floor(lower / step))
    if steps > MOST_STEPS:
        raise feature.error(
            f"there are {steps:,} steps of {step} to its bound; give it a larger step, or nearer bounds"
        )
    last = feature.upper if rising else feature.lower
    return Multiples(first, steps, step, int(last) if whole else float(last), rising=rising, near=near)


def _beyond(before: float, step: Fraction, sign: int, *, whole: bool) -> int:
    """Return which multiple of the step is the first that lies strictly beyond `before`, also after rounding."""
    if whole:
        return floor(Fraction(before) / step) + 1 if sign > 0 else ceil(Fraction(before) / step) - 1
    # Start at the next float beyond `before`: a multiple at or beyond it cannot be rounded back to `before`. A row may
    # have an integer above 2^53, whose nearest float is already beyond it.
    nearest = float(before)
    is_beyond = nearest > before if sign > 0 else nearest < before
    neighbour = Fraction(nearest if is_beyond else nextafter(nearest, inf * sign))
    return ceil(neighbour / step) if sign > 0 else floor(neighbour / step)


def _number(value: Fraction, *, whole: bool) -> float | int:
    # Integers stay integers: a float would round those above 2^53.
    return int(value) if whole and value.denominator == 1 else float(value)
