"""Implications between values of two columns: `has_mortgage == 0 implies balance == 0`.

A *condition* is that a column has one of its few values, or, in a column of many, that it is 0. A condition and its
opposite have neighboring numbers: 2 k and 2 k + 1. "A implies B" is the same as "A and not B are never both true", so
what is looked for are pairs of conditions that are never both true.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from flipset.space.suggestions.columns import FEW_VALUES, counted_together
from flipset.space.suggestions.evidence import MOST_KEPT, is_rare
from flipset.space.suggestions.graph import fewest
from flipset.space.suggestions.suggestion import suggested
from flipset.space.suggestions.texts import written_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from flipset.space.suggestions.columns import Column, Table
    from flipset.space.suggestions.graph import Arrow
    from flipset.space.suggestions.suggestion import Suggestion

MOST_CONDITIONS = 400
"""In tables with more conditions, only those about 0 and about two values are looked at."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A column is equal to a value, or its opposite; `texts` has both."""

    place: int
    value: float
    texts: tuple[str, str]


def conditions_of(table: Table) -> list[Condition]:
    """Return the conditions of a table, by columns."""
    found = [condition for column in table.columns for condition in _conditions(column)]
    if len(found) <= MOST_CONDITIONS:
        return found
    simple = [one for one in found if one.value == 0 or len(table.columns[one.place].few) == 2]
    return simple[:MOST_CONDITIONS]


def _conditions(column: Column) -> Iterator[Condition]:
    if not column.text:
        return
    if len(column.few) == 2:
        first, second = (f"{column.text} == {_value(column, value)}" for value in column.few)
        yield Condition(column.place, column.few[0], (first, second))
        return
    is_positive = column.lowest >= 0
    few = column.few if len(column.few) > 2 else (0.0,) if column.is_amount else ()
    for value in few:
        other = ">" if value == 0 and is_positive else "!="
        said = _value(column, value)
        yield Condition(column.place, value, (f"{column.text} == {said}", f"{column.text} {other} {said}"))


def _value(column: Column, value: float) -> str:
    return written_value(column.texts[int(value)] if column.texts else value)


def suggest_implications(table: Table, orders: Iterable[Arrow], one_hot: Sequence[Sequence[int]]) -> list[Suggestion]:
    """Return the fewest implications from which all that hold and say something follow.

    Those that follow from orders between columns, or from a group of one-hot columns, are left out.
    """
    conditions = conditions_of(table)
    if len(conditions) < 2:
        return []
    found = list(_never_both(table, conditions))
    rules = [[(u, v ^ 1), (v, u ^ 1)] for u, v in found]
    kept = fewest(rules, _given(table, conditions, orders, one_hot), _through(table, conditions))
    suggestions = []
    for u, v in sorted(_in_order(table, conditions, *found[i]) for i in kept):
        broken = _holds(table, conditions, u) & _holds(table, conditions, v)
        text = f"{_text(conditions, u)} implies {_text(conditions, v ^ 1)}"
        rows = table.all_ordinary({conditions[u // 2].place, conditions[v // 2].place})
        suggestions.append(suggested(text, "implication", rows, broken))
    return suggestions


def _text(conditions: Sequence[Condition], which: int) -> str:
    return conditions[which // 2].texts[which % 2]


def _holds(table: Table, conditions: Sequence[Condition], which: int) -> NDArray[np.bool_]:
    """Return in which rows a condition holds; it does not where the column is missing."""
    condition = conditions[which // 2]
    values = table.columns[condition.place].values
    holds: NDArray[np.bool_] = values == condition.value
    return ~holds & ~np.isnan(values) if which % 2 else holds


def _never_both(table: Table, conditions: Sequence[Condition]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of conditions that are not both true, as far as that says something."""
    true = np.array([table.columns[one.place].values == one.value for one in conditions])
    places = np.array([one.place for one in conditions])
    both = counted_together(true)
    # In how many rows a condition holds, of those in which the column of another is ordinary.
    alone = counted_together(true, table.ordinary)[:, places]
    rows = table.together[np.ix_(places, places)]
    in_order = places[:, None] < places[None, :]
    for turned, other_turned in product((False, True), repeat=2):
        # The opposite of a condition holds where its column is ordinary and the condition does not hold.
        mine = rows - alone if turned else alone
        others = rows - alone.T if other_turned else alone.T
        count = alone.T - both if turned else both
        count = mine - count if other_turned else count
        wanted = in_order & _says_something(count, mine, others, rows, table.most_broken)
        for i, j in np.argwhere(wanted).tolist():
            yield 2 * i + turned, 2 * j + other_turned


def _says_something(
    broken: NDArray[np.int64], mine: NDArray[np.int64], others: NDArray[np.int64], rows: NDArray[np.int64], most: float
) -> NDArray[np.bool_]:
    """Say which pairs of conditions are true together far more seldom than by chance."""
    at_least = np.maximum(rows, 1)
    expected = mine / at_least * others
    possible = (broken / at_least <= most) & (np.maximum(mine, others) / at_least > 1 - MOST_KEPT)
    for i, j in np.argwhere(possible).tolist():
        possible[i, j] = is_rare(float(broken[i, j]), float(expected[i, j]), most)
    return possible


def _given(
    table: Table, conditions: Sequence[Condition], orders: Iterable[Arrow], one_hot: Sequence[Sequence[int]]
) -> Iterator[Arrow]:
    """Yield the implications that need not be said."""
    of_column: dict[int, list[int]] = {}
    for i, condition in enumerate(conditions):
        of_column.setdefault(condition.place, []).append(2 * i)
    for own in of_column.values():
        for first, second in combinations(own, 2):  # a column has one value
            yield first, second + 1
            yield second, first + 1
    zero = {
        one.place: 2 * i for i, one in enumerate(conditions) if one.value == 0 and table.columns[one.place].is_number
    }
    for a, b in orders:
        for i, j in product(of_column.get(a, ()), of_column.get(b, ())):
            # What is at most 2 is not 3.
            if conditions[i // 2].value > conditions[j // 2].value:
                yield i, j + 1
                yield j, i + 1
        # What is at most 0, and not below it, is 0.
        if a in zero and b in zero and table.columns[a].lowest >= 0:
            yield zero[b], zero[a]
            yield zero[a] ^ 1, zero[b] ^ 1
    for group in one_hot:
        for a, b in combinations(group, 2):  # conditions of flags: the even one is that they are 0
            yield zero[a] ^ 1, zero[b]
            yield zero[b] ^ 1, zero[a]


def _through(table: Table, conditions: Sequence[Condition]) -> Callable[[Arrow], int]:
    """Return, for an implication, the conditions about columns that are ordinary wherever its own columns are."""
    places = [one.place for one in conditions]
    kept: dict[int, int] = {}

    def through(arrow: Arrow) -> int:
        covered = table.covered({places[arrow[0] // 2], places[arrow[1] // 2]})
        if covered not in kept:
            kept[covered] = sum(0b11 << 2 * i for i, place in enumerate(places) if covered >> place & 1)
        return kept[covered]

    return through


def _in_order(table: Table, conditions: Sequence[Condition], u: int, v: int) -> tuple[int, int]:
    """Return two conditions that are never both true in the order in which they read best: "u implies not v"."""

    def unlike(first: int, second: int) -> tuple[int, bool, int, int]:
        texts = _text(conditions, first), _text(conditions, second ^ 1)
        few = len(table.columns[conditions[first // 2].place].few) or FEW_VALUES + 1
        is_equal = [" == " in text for text in texts]
        return is_equal.count(False), not is_equal[0], few, first

    return min((u, v), (v, u), key=lambda pair: unlike(*pair))
