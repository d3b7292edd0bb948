"""The greatest allowed points at or below a point: what becomes of a row before the model sees it.

A column that moves stands at a position of its scale. Position 0 is the value of the row, and a further position is
better for the wanted decision. All other columns have one value. Lowering a column means moving it back.

A rule that a point breaks is kept again if some column gives way, that is, is lowered:

- In an inequality, a column gives way whose moving further *raises* the sum. If several do, there are several ways:
  every position of all but one of them is tried, and the last one is lowered as far as it must be.
- In an implication, the first condition gives way, or the second, if lowering their columns can make them.
- Where a column may move only if another one does, it goes back to the value of the row.

`highest_points` follows all ways until all rules are kept. If every rule has one way, the result is one point, the
greatest allowed one at or below the start, and a set of features needs one query, as without rules.

Invariants:

- Every way covers what it leaves out: an allowed point at or below a point that breaks a rule lies at or below one of
  the points to which the ways of this rule lead. So every allowed point lies at or below a point that is returned.
- A point that is returned keeps all rules, and no other one is at least as far in every column.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from flipset.space.constraints.conditions import Condition, Implication, Together
from flipset.space.constraints.inequalities import Inequality
from flipset.space.feature import is_number
from flipset.space.multiples import Multiples
from flipset.space.room import exact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flipset.space.constraints.constraint import Rule
    from flipset.space.constraints.inequalities import Exact
    from flipset.space.feature import Value

Places: TypeAlias = "dict[str, int]"
"""The position of each column that moves."""

MOST_POINTS = 5_000
"""Points that are looked at for one start. More would take seconds for every query."""

MOST_TRIED = 200_000
"""Positions that are tried for one start, as many as take a second."""


class TooManyPoints(Exception):
    """The rules leave more points than can be looked at."""


@dataclass(slots=True)
class Scale:
    """The values of a column that moves.

    Attributes
    ----------
    before
        The value of the row.
    stops
        The values it may move to, each better than the one before.
    rising
        Whether they rise.
    first
        The lowest position: 0, or 1 where the value of the row is outside the order, so that there is no way back to
        it.
    """

    before: Value
    stops: Sequence[Value]
    rising: bool
    first: int = 0
    _places: dict[Value, int] | None = None
    _numbers: dict[int, Exact] = field(default_factory=dict)

    def value(self, place: int) -> Value:
        """Return the value at a position."""
        return self.stops[place - 1] if place else self.before

    def number(self, place: int) -> Exact:
        """Return the value at a position as an exact number."""
        if place not in self._numbers:
            value: Any = self.value(place)
            self._numbers[place] = exact(value)
        return self._numbers[place]

    def place(self, value: Value) -> int | None:
        """Return the position of a value that is not that of the row; None if it is no stop."""
        stops: Any = self.stops
        if isinstance(stops, list):
            if self._places is None:
                self._places = {stop: j for j, stop in enumerate(stops, 1)}
            return self._places.get(value)
        at = self.count_before(value)
        return at + 1 if at < len(stops) and stops[at] == value else None

    def count_before(self, value: Any, *, and_equal: bool = False) -> int:
        """Return how many stops, which are numbers, come before a number, or before it and equal to it."""
        stops: Any = self.stops
        if isinstance(stops, Multiples):
            return stops.count_before(value, and_equal=and_equal)
        bisect = bisect_right if and_equal else bisect_left
        return bisect(stops, _signed(value, self.rising), key=lambda stop: _signed(stop, self.rising))


def _signed(value: Any, rising: bool) -> Any:
    return value if rising else -value


@dataclass(frozen=True, slots=True)
class Setting:
    """What is given besides positions: the scales of columns that move, and the values of all others.

    Attributes
    ----------
    scales
        The columns that move.
    values
        The values of other columns of the rules; columns outside their order, whose values no rule speaks of, are left
        out.
    changed
        The columns among `values` that differ from the row.
    codes
        The special codes of columns that have one: only formulas of computed columns compute with them.
    """

    scales: Mapping[str, Scale]
    values: Mapping[str, Value]
    changed: frozenset[str] = frozenset()
    codes: Mapping[str, Value] = field(default_factory=dict)

    def concerns(self, rule: Rule) -> bool:
        """Say whether a rule has something to say: whether all of its columns have values that it can compare."""
        if isinstance(rule, Together):
            return True
        if isinstance(rule, Inequality):
            if not rule.unless.isdisjoint((*self.scales, *self.changed)):
                return False
            return all(name in self.scales or self._has_number(name, rule) for name, _ in rule.terms)
        return all(name in self.scales or name in self.values for name in rule.columns)

    def _has_number(self, name: str, rule: Inequality) -> bool:
        return is_number(self.values.get(name)) or (name in rule.through and is_number(self.codes.get(name)))

    def value(self, name: str, at: Mapping[str, int]) -> Value:
        """Return the value of a column."""
        return self.scales[name].value(at[name]) if name in self.scales else self.values[name]

    def number(self, name: str, at: Mapping[str, int]) -> Exact:
        """Return the value of a column as an exact number."""
        if name in self.scales:
            return self.scales[name].number(at[name])
        value: Any = self.values[name] if name in self.values else self.codes[name]
        return exact(value)


def highest_points(rules: Sequence[Rule], setting: Setting, start: Mapping[str, int]) -> list[Places]:
    """Return the allowed points at or below a point that no other one exceeds; none if nothing is allowed."""
    active = [rule for rule in rules if setting.concerns(rule)]
    found: list[Places] = []
    waiting, seen = [dict(start)], {tuple(start.values())}
    tried = count()
    while waiting:
        at = waiting.pop()
        for rule in active:
            if keeps(rule, setting, at):
                continue
            for way in _ways(rule, setting, at, tried):
                point = {**at, **way}
                # Python's dictionaries keep the order of the start, so equal points have equal keys.
                key = tuple(point.values())
                if key not in seen:
                    seen.add(key)
                    waiting.append(point)
                if len(seen) > MOST_POINTS:
                    raise TooManyPoints
            break
        else:
            found.append(at)
    return _highest(found)


def keeps(rule: Rule, setting: Setting, at: Mapping[str, int]) -> bool:
    """Say whether a point keeps a rule that concerns it."""
    match rule:
        case Inequality():
            return rule.allows(_total(rule, setting, at))
        case Implication():
            return not rule.if_.holds(setting.value(rule.if_.column, at)) or rule.then.holds(
                setting.value(rule.then.column, at)
            )
        case Together():
            return not _moves(rule.mover, setting, at) or _moves(rule.needs, setting, at)


def most_ways(rule: Rule, scales: Mapping[str, Scale]) -> int:
    """Return in how many ways columns can give way for a rule, at most, wherever they stand."""
    match rule:
        case Inequality():
            return sum(
                bool(factor) and name in scales and (factor > 0) is scales[name].rising for name, factor in rule.terms
            )
        case Implication():
            sides = [(rule.if_, False), (rule.then, True)]
            return sum(one.column in scales and _turns(one, scales[one.column], wanted) for one, wanted in sides)
        case Together():
            return 1


def _turns(one: Condition, scale: Scale, wanted: bool) -> bool:
    """Say whether lowering a column can make a condition true, or false, where it is not."""
    places = sorted(_boundaries(one, scale) | {len(scale.stops)})
    truths = [one.holds(scale.value(place)) is wanted for place in places if place >= scale.first]
    return any(low and not high for low, high in pairwise(truths))


def _ways(rule: Rule, setting: Setting, at: Places, tried: Iterator[int]) -> Iterator[Places]:
    """Yield the ways in which columns can give way, so that a rule that a point breaks is kept."""
    match rule:
        case Inequality():
            raising = [name for name, factor in rule.terms if _raises(name, factor, setting, at)]
            # Columns with many positions last: only those before them are tried position by position.
            raising.sort(key=lambda name: (at[name], name))
            yield from _stairs(rule, setting, at, raising, tried)
        case Implication():
            for one, wanted in ((rule.if_, False), (rule.then, True)):
                place = _lowered(one, setting, at, wanted=wanted)
                if place is not None:
                    yield {one.column: place}
        case Together():
            scale = setting.scales.get(rule.mover)
            if scale is not None and scale.first == 0:
                yield {rule.mover: 0}


def _total(rule: Inequality, setting: Setting, at: Mapping[str, int]) -> Exact:
    return sum((factor * setting.number(name, at) for name, factor in rule.terms), 0)


def _moves(name: str, setting: Setting, at: Mapping[str, int]) -> bool:
    return at[name] > 0 if name in setting.scales else name in setting.changed


def _raises(name: str, factor: Exact, setting: Setting, at: Places) -> bool:
    """Say whether a sum with this column, times the factor, falls when the column is lowered."""
    scale = setting.scales.get(name)
    return bool(factor) and scale is not None and at[name] > scale.first and (factor > 0) is scale.rising


def _stairs(
    rule: Inequality, setting: Setting, at: Places, raising: Sequence[str], tried: Iterator[int]
) -> Iterator[Places]:
    """Yield the ways to keep an inequality by lowering some columns, which all raise its sum."""
    if not raising:
        return
    name, *others = raising
    if not others:
        place = _lowest_needed(rule, setting, at, name)
        if place is not None:
            yield {name: place}
        return
    # With this column lowered enough, the others need not give way at all. Lowering it further would win nothing.
    for place in range(at[name], setting.scales[name].first - 1, -1):
        if next(tried) > MOST_TRIED:
            raise TooManyPoints
        lowered = {**at, name: place}
        if keeps(rule, setting, lowered):
            yield {name: place}
            return
        for way in _stairs(rule, setting, lowered, others, tried):
            yield {name: place, **way}


def _lowest_needed(rule: Inequality, setting: Setting, at: Places, name: str) -> int | None:
    """Return the furthest position of a column at which an inequality is kept; None if there is none."""
    scale = setting.scales[name]
    factor = dict(rule.terms)[name]
    others = _total(rule, setting, at) - factor * scale.number(at[name])
    # The sum grows with the position, so the positions at which it is too large are the last ones.
    first = scale.first
    kept = bisect_left(range(first, at[name]), True, key=lambda j: not rule.allows(others + factor * scale.number(j)))
    return first + kept - 1 if kept else None


def _lowered(one: Condition, setting: Setting, at: Places, *, wanted: bool) -> int | None:
    """Return the furthest position before the present one at which a condition holds, or does not; None if none."""
    scale = setting.scales.get(one.column)
    if scale is None:
        return None
    last = at[one.column] - 1
    # Between two boundaries the condition has one truth value, so the positions next to boundaries are enough.
    places = {last} | {place for place in _boundaries(one, scale) if place <= last}
    fitting = [place for place in places if place >= scale.first and one.holds(scale.value(place)) is wanted]
    return max(fitting, default=None)


def _boundaries(one: Condition, scale: Scale) -> set[int]:
    """Return the positions next to those at which a condition may change its truth value."""
    stops: Any = scale.stops
    near = {0, 1}
    for value in one.values:
        if not is_number(value) or not all(map(is_number, (stops[0], stops[-1]))):
            near |= set(range(len(stops) + 1))  # labels: few, and in an order of their own
            continue
        for and_equal in (False, True):
            at = scale.count_before(value, and_equal=and_equal)
            near |= {at - 1, at, at + 1, at + 2}
    return {place for place in near if 0 <= place <= len(stops)}


def _highest(points: list[Places]) -> list[Places]:
    """Return the points that no other one exceeds, the furthest in the first columns first."""
    if len(points) < 2:
        return points
    ranked = sorted(points, key=lambda point: tuple(point.values()), reverse=True)
    places = np.array([tuple(point.values()) for point in ranked])
    chosen: list[int] = []
    for i, own in enumerate(places):
        # A point that exceeds another one stands before it in this order.
        if not (places[chosen] >= own).all(axis=1).any():
            chosen.append(i)
    return [ranked[i] for i in chosen]
