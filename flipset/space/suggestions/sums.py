"""Sums of two columns: `total == paid + owed`, and `revolving + installment <= total`.

A sum of at most a third column is looked for only where each of the two is at most the third, and is not below 0. It
must say more than these two orders do: by chance, among the rows in which both orders hold, the sum would be too large
in many; and in some rows it is reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from flipset.space.suggestions.columns import every
from flipset.space.suggestions.evidence import FEWEST_TOUCHING, LEAST_TOUCHING, is_rare
from flipset.space.suggestions.suggestion import suggested

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from flipset.space.suggestions.columns import Table
    from flipset.space.suggestions.graph import Arrow
    from flipset.space.suggestions.suggestion import Suggestion

MOST_COLUMNS = 150
"""In tables with more columns of amounts, only orders are looked for: triples are too many."""

ROUNDING = 4
"""A sum of floats is right within so many roundings of its largest member."""

FIRST_TRIED, THEN_TRIED = 40, 1_000
"""How many rows are added up before all are."""


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of two columns, which is equal to a third one, or at most that; by their places."""

    parts: tuple[int, int]
    whole: int
    is_equal: bool

    @property
    def places(self) -> tuple[int, int, int]:
        """The places of its columns."""
        return *self.parts, self.whole


def find_sums(table: Table, orders: Sequence[Arrow]) -> list[Sum]:
    """Return the sums that hold and say something; none of them follows from another one and the orders."""
    places = [column.place for column in table.columns if column.is_amount]
    if not 3 <= len(places) <= MOST_COLUMNS:
        return []
    equal = [one for one in _equal(table, places) if _is_sum(table, one)]
    taken = {(frozenset(one.parts), one.whole) for one in equal}
    smaller = [one for one in _smaller(table, orders) if (frozenset(one.parts), one.whole) not in taken]
    found = [*equal, *(one for one in smaller if _is_most(table, one))]
    for one in reversed(found):
        others = [other for other in found if other is not one]
        if any(_follows(table, one, other, set(orders)) for other in others):
            found = others
    return found


def orders_of(table: Table, sums: Sequence[Sum]) -> list[Arrow]:
    """Return the orders that follow from sums: each part is at most the whole if the other is not below 0."""
    return [
        (part, one.whole)
        for one in sums
        for part, other in (one.parts, one.parts[::-1])
        if table.columns[other].lowest >= 0 and table.covered((part, one.whole)) >> other & 1
    ]


def suggest_sums(table: Table, sums: Sequence[Sum]) -> list[Suggestion]:
    """Return the suggestions for sums."""
    return [
        suggested(_text(table, one), "sum", table.all_ordinary(one.places), _broken(table, one, slice(None)))
        for one in sorted(sums, key=lambda one: (not one.is_equal, one.whole, one.parts))
    ]


def _text(table: Table, one: Sum) -> str:
    first, second, whole = (table.columns[place].text for place in one.places)
    return f"{whole} == {first} + {second}" if one.is_equal else f"{first} + {second} <= {whole}"


def _broken(table: Table, one: Sum, rows: NDArray[np.bool_] | slice) -> NDArray[np.bool_]:
    """Return in which rows a sum is broken; where a column is missing, it is not."""
    beyond, rounding = _beyond(table, one, rows)
    broken: NDArray[np.bool_] = (np.abs(beyond) if one.is_equal else beyond) > rounding
    return broken


def _beyond(table: Table, one: Sum, rows: NDArray[np.bool_] | slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return by how much the parts are more than the whole, and how much of that is rounding."""
    b, c, a = (table.columns[place].values[rows] for place in one.places)
    precision = ROUNDING * max(table.columns[place].precision for place in one.places)
    return b + c - a, precision * np.maximum(np.abs(a), np.abs(b) + np.abs(c))


def _holds(table: Table, one: Sum) -> NDArray[np.bool_] | None:
    """Return the rows in which all columns of a sum are ordinary; None if it is broken in too many."""
    rows = table.all_ordinary(one.places)
    holds = rows.any() and table.may_break(int(_broken(table, one, rows).sum()), int(rows.sum()))
    return rows if holds else None


def _equal(table: Table, places: Sequence[int]) -> Iterator[Sum]:
    """Yield the triples in which the sum of two is the third in all of a few rows."""
    first = np.array([every(table.columns[place].values, FIRST_TRIED) for place in places])
    then = np.array([every(table.columns[place].values, THEN_TRIED) for place in places])
    precision = ROUNDING * np.array([table.columns[place].precision for place in places])
    for i, j in combinations(range(len(places)), 2):
        near = precision.max()
        total, size = first[i] + first[j], np.abs(first[i]) + np.abs(first[j])
        possible = _mostly_equal(first, total, size, near)
        possible[[i, j]] = False
        if not possible.any():
            continue
        chosen = np.flatnonzero(possible)
        total, size = then[i] + then[j], np.abs(then[i]) + np.abs(then[j])
        seen = ~np.isnan(then[chosen] - total).all(axis=1)
        for k in chosen[seen & _mostly_equal(then[chosen], total, size, near)].tolist():
            yield Sum((places[i], places[j]), places[k], is_equal=True)


def _mostly_equal(
    values: NDArray[np.float64], total: NDArray[np.float64], size: NDArray[np.float64], near: float
) -> NDArray[np.bool_]:
    """Say for each column whether the sum is equal to it in most rows: a few may break the rule."""
    broken = (np.abs(values - total) > near * np.maximum(np.abs(values), size)).sum(axis=1)
    tried = (~np.isnan(values - total)).sum(axis=1)
    mostly: NDArray[np.bool_] = broken * 10 <= tried
    return mostly


def _is_sum(table: Table, one: Sum) -> bool:
    """Say whether an equality holds, and would not hold if either part were shuffled."""
    rows = _holds(table, one)
    if rows is None:
        return False
    broken = int(_broken(table, one, rows).sum())
    b, c, a = (every(table.columns[place].values[rows]) for place in one.places)
    count = int(rows.sum())
    return all(
        is_rare(broken, count * _unequal(a - kept, other), table.most_broken) for kept, other in ((b, c), (c, b))
    )


def _unequal(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the probability that two values of two columns differ."""
    ordered = np.sort(y)
    near = 1e-9 * np.maximum(np.abs(x), np.abs(ordered).max())
    equal = np.searchsorted(ordered, x + near, "right") - np.searchsorted(ordered, x - near, "left")
    return 1 - float(equal.mean()) / len(y)


def _smaller(table: Table, orders: Sequence[Arrow]) -> Iterator[Sum]:
    known = set(orders)
    below: dict[int, list[int]] = {}
    for part, whole in orders:
        # What is equal to the whole leaves nothing for another part.
        if (whole, part) not in known and table.columns[part].lowest >= 0:
            below.setdefault(whole, []).append(part)
    for whole, parts in below.items():
        for first, second in combinations(sorted(parts), 2):
            yield Sum((first, second), whole, is_equal=False)


def _is_most(table: Table, one: Sum) -> bool:
    """Say whether a sum is at most the whole, and says more than that each part is."""
    rows = _holds(table, one)
    if rows is None:
        return False
    broken = int(_broken(table, one, rows).sum())
    values = [table.columns[place].values[rows] for place in one.places]
    b, c, a = values
    at_stake = (b > b.min()) & (c > c.min())
    beyond, rounding = _beyond(table, one, rows)
    touching = int(((np.abs(beyond) <= rounding) & at_stake).sum())
    if touching < max(FEWEST_TOUCHING, LEAST_TOUCHING * int(at_stake.sum())):
        return False
    b, c, a = map(every, values)
    return all(
        is_rare(broken, len(values[0]) * _too_large(a, kept, other), table.most_broken)
        for kept, other in ((b, c), (c, b))
    )


def _too_large(a: NDArray[np.float64], kept: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the probability that another part, drawn by chance, is at most the whole, but too large for the rest."""
    ordered = np.sort(other)
    most, rest = np.searchsorted(ordered, a, "right"), np.searchsorted(ordered, a - kept, "right")
    return float((most - rest).mean()) / len(other)


def _follows(table: Table, one: Sum, other: Sum, orders: set[Arrow]) -> bool:
    """Say whether a sum follows from another one and from orders between their members."""
    if not set(other.places) <= {place for place in other.places if table.covered(one.places) >> place & 1}:
        return False

    def at_most(x: int, y: int) -> bool:
        return x == y or (x, y) in orders

    def same(x: int, y: int) -> bool:
        return at_most(x, y) and at_most(y, x)

    alike: Callable[[int, int], bool] = same if one.is_equal else at_most
    if one.is_equal and not other.is_equal:
        return False
    pairs = (other.parts, other.parts[::-1])
    return alike(other.whole, one.whole) and any(all(map(alike, one.parts, parts)) for parts in pairs)
