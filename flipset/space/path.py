"""The values a feature may take on its way to its best one, from the nearest: the grid on which advice is given.

A path can have a million points, so it is a rule rather than a list. Its last point is the best value itself, on the
grid or not; so what flips at the extremes has a counterfactual on the grid.
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
"""Values seen in a reference column up to which each is a grid point; beyond it so many quantiles are."""

MOST_STEPS = 1 << 62
"""Steps that a path may have: no sequence is longer."""

PARTS = 100
"""Without a reference and a step, the range is cut into so many parts."""


@dataclass(frozen=True, slots=True)
class Path:
    """Where one feature may go: `values[0]` is the nearest, `values[-1]` the best.

    Attributes
    ----------
    feature
        The column.
    before
        The value it has.
    values
        The values beyond, in the order in which they help.
    rising
        Whether they rise.
    grid
        What the values are, in words.
    """

    feature: Feature
    before: Value
    values: Sequence[Value]
    rising: bool
    grid: str


class Multiples(Sequence["float | int"]):
    """The numbers first * step, (first ± 1) * step, ... and then `last`, made when asked for.

    `near`, if given, comes before them all: the bound at which the range is entered.
    """

    def __init__(
        self, first: int, count: int, step: Fraction, last: float, *, rising: bool, near: float | None = None
    ) -> None:
        self._first, self._count, self._step, self._last = first, count, step, last
        self._sign = 1 if rising else -1
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
    """Return the way to the feature's best value for a higher or a lower score; None if it cannot move there.

    From a value outside the order every ordinary value can be reached, the worst first.
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
    """Return the numbers strictly beyond `before` (or all), within bounds, in the order in which they help."""
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
    points, grid = _points(feature, reference)
    start: float = near if before is None or enters else before
    low, high = (start, best) if rising else (best, start)
    between = points[bisect_right(points, low) : bisect_left(points, high)]
    values = between if rising else between[::-1]
    return [*([near] if enters and near != best else []), *values, best], grid


def _points(feature: Feature, reference: Reference | None) -> tuple[list[float], str]:
    """Return the grid of a feature without a step, ascending, and what it is."""
    points, complete = ([], True) if reference is None else reference.points(feature, MOST_VALUES)
    if not points:
        lower, width = Fraction(feature.lower), Fraction(feature.upper) - Fraction(feature.lower)
        return [float(lower + width * k / PARTS) for k in range(PARTS + 1)], f"{PARTS} parts of its range"
    seen = f"the {count(len(points), 'value')} seen"
    return points, seen if complete else f"{len(points)} quantiles of the values seen"


def _multiples(feature: Feature, before: float | None, step: Fraction, rising: bool, near: float | None) -> Multiples:
    whole = feature.kind == "integer"
    # Whole numbers are exact as they are; a float stands for the shortest decimal that reads as it.
    lower, upper = (Fraction(int(end) if whole else str(end)) for end in (feature.lower, feature.upper))
    if rising:
        first = ceil(lower / step)
        if before is not None and before >= feature.lower:
            first = max(first, _beyond(before, step, 1, whole=whole))
        steps = max(0, ceil(upper / step) - first)  # multiples below the upper bound, which comes last
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
    """Return the nearest multiple that is, as a value, strictly beyond `before`."""
    if whole:
        return floor(Fraction(before) / step) + 1 if sign > 0 else ceil(Fraction(before) / step) - 1
    # The next number there is: a multiple at or beyond it, rounded to a number, cannot fall back to `before`.
    nearest = float(before)
    is_beyond = nearest > before if sign > 0 else nearest < before  # so it can be for a whole number of 2^53 and more
    neighbour = Fraction(nearest if is_beyond else nextafter(nearest, inf * sign))
    return ceil(neighbour / step) if sign > 0 else floor(neighbour / step)


def _number(value: Fraction, *, whole: bool) -> float | int:
    return int(value) if whole and value.denominator == 1 else float(value)
