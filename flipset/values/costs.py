"""What a change costs: for every feature a number that never falls along its path, summed over the features.

Costs are fractions, or whole multiples of a common unit, so that sums are exact and equal costs compare as equal.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from flipset.errors import InputError
from flipset.space.computed import Computed
from flipset.space.feature import is_number, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.space import Space
    from flipset.space.feature import Feature, Value
    from flipset.space.path import Path
    from flipset.space.reference import Reference

Along: TypeAlias = Callable[[int], Fraction]
"""The cost of moving to a point of a path, by its index in `path.values`."""

Measure: TypeAlias = "Callable[[Path, Reference | None], Along]"
"""A function that returns the cost along a path: `share_passed`, `range_share`, or one of the user's own."""

OTHER = Fraction(1)
"""The cost of a value outside the order, such as another category: as much as passing the whole population."""


def share_passed(path: Path, reference: Reference | None) -> Along:
    """Measure cost as the share of the reference population that the change passes or reaches.

    A change from a value outside the order starts at the worst ordinary value. Without a reference, the cost is
    `range_share`.
    """
    seen = () if reference is None else reference.scale(path.feature)
    if not len(seen):
        return range_share(path, reference)
    passed = _passed(path, seen)
    return lambda j: Fraction(passed(j), len(seen))


class Positions(Computed["Fraction | int"]):
    """The costs of the positions of a path, computed when needed: 0 for staying, then the cost of each point."""

    def __init__(self, along: Callable[[int], Fraction | int], length: int) -> None:
        self._along = along
        self._length = length
        self._computed: dict[int, Fraction | int] = {0: 0}

    def __len__(self) -> int:
        return self._length + 1

    @overload
    def __getitem__(self, j: int) -> Fraction | int: ...
    @overload
    def __getitem__(self, j: slice) -> list[Fraction | int]: ...
    def __getitem__(self, j: int | slice) -> Fraction | int | list[Fraction | int]:
        # Searches read the same positions again and again, so this comes before every check.
        if type(j) is int and j in self._computed:
            return self._computed[j]
        return super().__getitem__(j)

    def _at(self, j: int) -> Fraction | int:
        if j not in self._computed:
            self._computed[j] = self._along(j - 1)
        return self._computed[j]


def costs_in_units(
    path: Path, cost: Measure | Mapping[str, Any] | None, reference: Reference | None, unit: int
) -> Positions:
    """Return the costs along a path, times the feature's weight, as multiples of 1 / `unit`."""
    seen = reference.scale(path.feature) if cost is None and reference is not None else ()
    if not len(seen):
        return Positions(in_units(cost_along(path, cost, reference), unit), len(path.values))
    passed = _passed(path, seen)
    one = _one(path.feature, len(seen), unit)
    return Positions(lambda j: one * passed(j), len(path.values))


def cost_in_units(
    path: Path, value: Value, cost: Measure | Mapping[str, Any] | None, reference: Reference | None, unit: int
) -> Fraction | int:
    """Return the cost of moving along a path to a value, which need not be on its grid, as `costs_in_units` does."""
    seen = reference.scale(path.feature) if cost is None and reference is not None else ()
    if not len(seen):
        # As a path of this value alone.
        return costs_in_units(replace(path, values=[value]), cost, reference, unit)[1]
    return _one(path.feature, len(seen), unit) * _passed_to(path, seen)(value)


def all_in_units(path: Path, reference: Reference | None, unit: int) -> list[Fraction | int] | None:
    """Return all `costs_in_units` of the default cost at once, as a list.

    Return None where that is not possible: where the path is not a list of numbers, or no value was seen.
    """
    if reference is None or path.feature.levels or not isinstance(path.values, list):
        return None
    seen = reference.scale(path.feature)
    if not len(seen):
        return None
    start = _place(path, path.before)
    counts = reference.counts(path.feature, path.values, included=path.rising)
    one = _one(path.feature, len(seen), unit)
    if path.rising:
        before = 0 if start is None else bisect_right(seen, start)
        return [0, *(one * max(count - before, 0) for count in counts)]
    before = len(seen) if start is None else bisect_left(seen, start)
    return [0, *(one * max(before - count, 0) for count in counts)]


def _one(feature: Feature, total: int, unit: int) -> int:
    """Return the cost of passing one of `total` rows of the population, in units."""
    # `common_unit` is a multiple of the total, and of the denominator of the weight: both divisions are exact.
    share = unit // total
    return share if feature.weight == 1 else int(Fraction(str(feature.weight)) * share)


def _passed(path: Path, seen: Sequence[float]) -> Callable[[int], int]:
    """Return a function from a point of a path to how many of the values seen the way there passes or reaches."""
    values, passed = path.values, _passed_to(path, seen)
    return lambda j: passed(values[j])


def _passed_to(path: Path, seen: Sequence[float]) -> Callable[[Value], int]:
    """Return a function from a value to how many of the values seen the way there passes or reaches."""
    # Values equal to the start are not passed; values equal to the end are reached. Hence "right" and "left" below.
    levels = path.feature.levels
    start = _place(path, path.before)
    if path.rising:
        before = 0 if start is None else bisect_right(seen, start)
        return lambda value: max(bisect_right(seen, levels.index(value) if levels else value) - before, 0)
    before = len(seen) if start is None else bisect_left(seen, start)
    return lambda value: max(before - bisect_left(seen, levels.index(value) if levels else value), 0)


def range_share(path: Path, reference: Reference | None) -> Along:
    """Measure cost as the share of the feature's range between the two values."""
    levels = path.feature.levels
    low = 0 if levels else path.feature.lower
    high = len(levels) - 1 if levels else path.feature.upper
    width = Fraction(high) - Fraction(low) or Fraction(1)  # a range of one value has no width to divide by
    start = _place(path, path.before)
    if start is None:
        start = low if path.rising else high

    def along(j: int) -> Fraction:
        return abs(Fraction(_place(path, path.values[j])) - Fraction(start)) / width

    return along


def own_cost(cost: Callable[[Value, Value], float], path: Path) -> Along:
    """Measure cost with the user's function of the value before and after; raise if it falls along the path."""
    # The costs computed so far, by point. Invariant: they do not fall; so a new one is compared with its neighbours
    # alone.
    computed: list[tuple[int, Fraction]] = []

    def along(j: int) -> Fraction:
        amount = read_cost(path.feature, cost, path.before, path.values[j])
        at = bisect_left(computed, (j, Fraction(0)))
        if at < len(computed) and computed[at][0] == j:
            return amount
        for other, value in computed[max(at - 1, 0) : at + 1]:
            if (value - amount) * (other - j) < 0:
                near, far = sorted([j, other])
                raise path.feature.error(
                    f"its cost falls from {path.values[near]!r} to {path.values[far]!r}; "
                    "a cost must not fall as the change grows"
                )
        insort(computed, (j, amount))
        return amount

    return along


def read_cost(feature: Feature, cost: Callable[[Value, Value], float], before: Value, after: Value) -> Fraction:
    """Return the cost of a change by the user's function; raise if that is not a number of at least 0."""
    try:
        returned = cost(before, after)
    except Exception as error:
        raise feature.error(f"its cost from {before!r} to {after!r} raised {type(error).__name__}: {error}") from error
    given = plain(returned)
    if not is_number(given) or given < 0:
        raise feature.error(
            f"its cost from {before!r} to {after!r} is {returned!r}; expected a finite number of at least 0"
        )
    return Fraction(given)


def cost_along(path: Path, cost: Measure | Mapping[str, Any] | None, reference: Reference | None) -> Along:
    """Return the cost along a path, times the feature's weight."""
    if isinstance(cost, Mapping):
        own = cost.get(path.feature.name)
        along = share_passed(path, reference) if own is None else own_cost(own, path)
    else:
        along = _measured(cost or share_passed, path, reference)
    weight = Fraction(str(path.feature.weight))  # 0.1 means a tenth, not the nearest float
    return along if weight == 1 else lambda j: weight * along(j)


def common_unit(space: Space) -> int:
    """Return a number n so that every share of the population, times any weight, is a whole multiple of 1 / n."""
    reference = space.reference
    if reference is None:
        return 1
    seen = [len(reference.scale(feature)) for feature in space.features if feature.ordered]
    weights = [Fraction(str(feature.weight)).denominator for feature in space.features if feature.weight != 1]
    return lcm(*(max(n, 1) for n in seen)) * lcm(*weights)


def in_units(along: Along, unit: int) -> Callable[[int], Fraction | int]:
    """Return costs as multiples of 1 / `unit`, as whole numbers wherever they are."""

    def multiple(j: int) -> Fraction | int:
        cost = along(j) * unit
        return cost.numerator if cost.denominator == 1 else cost

    return multiple


def _measured(measure: Measure, path: Path, reference: Reference | None) -> Along:
    try:
        along = measure(path, reference)
        if not callable(along):
            raise TypeError(f"it returned {along!r}")
    except TypeError as error:
        raise InputError(
            f"cost is not a measure such as flipset.range_share: {error}; "
            "give functions of the value before and after by name: {'income': f, ...}"
        ) from error
    return along


def cost_of_becoming(
    feature: Feature, before: Value, after: Value, cost: Measure | Mapping[str, Any] | None
) -> Fraction:
    """Return the cost of a value outside any order, times the feature's weight."""
    own = cost.get(feature.name) if isinstance(cost, Mapping) else None
    amount = OTHER if own is None else read_cost(feature, own, before, after)
    return Fraction(str(feature.weight)) * amount


def check_cost(cost: Any, names: tuple[str, ...]) -> None:
    """Refuse a cost that is neither a measure nor a mapping from features to functions."""
    if cost is None or (callable(cost) and not isinstance(cost, Mapping)):
        return
    if not isinstance(cost, Mapping):
        raise InputError(f"cost must be a measure such as flipset.range_share, or functions by name; got {cost!r}")
    for name, own in cost.items():
        if name not in names:
            raise InputError(f"cost names {name!r}, which is not a feature; the features are {', '.join(names)}")
        if not callable(own):
            raise InputError(f"cost[{name!r}] must be a function of the value before and after, got {own!r}")


def _place(path: Path, value: Value) -> Any:
    """Return the place of a value on the feature's scale; None for a value outside the order."""
    if not path.feature.is_ordinary(value):
        return None
    return path.feature.levels.index(value) if path.feature.levels else value
