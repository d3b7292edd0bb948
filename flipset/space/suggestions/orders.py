"""Orders and equalities between columns: `late_90 <= late_60 <= late_30`, `total == sum_of_parts`."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from flipset.space.suggestions.columns import every
from flipset.space.suggestions.evidence import says_something
from flipset.space.suggestions.graph import chains, fewest
from flipset.space.suggestions.suggestion import suggested

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from flipset.space.suggestions.columns import Table
    from flipset.space.suggestions.graph import Arrow
    from flipset.space.suggestions.suggestion import Suggestion, SuggestionKind

MOST_TRIED = 2_000
"""How many rows are compared before all are."""


def find_orders(table: Table) -> list[Arrow]:
    """Return all orders a <= b that hold and say something, by the places of their columns."""
    places = [column.place for column in table.columns if column.is_amount]
    found = []
    for a, b in _possible(table, places):
        x, y = table.columns[a].values, table.columns[b].values
        broken = int((x > y).sum())  # false where one of them is missing
        support = int(table.together[a, b])
        if not table.may_break(broken, support):
            continue
        if support < table.rows:
            rows = table.all_ordinary((a, b))
            x, y = x[rows], y[rows]
        if says_something(x, y, broken, table.most_broken):
            found.append((a, b))
    return found


def _possible(table: Table, places: Sequence[int]) -> Iterator[Arrow]:
    """Yield the orders that are not broken too often in some of the rows.

    No order that holds is missed: what breaks it among some rows breaks it among all.
    """
    if not places:
        return
    tried = np.array([every(table.columns[place].values, MOST_TRIED) for place in places])
    for i, a in enumerate(places):
        broken = (tried[i] > tried).sum(axis=1)
        for j, support in enumerate(table.together[a, places].tolist()):
            if j != i and support and table.may_break(int(broken[j]), support):
                yield a, places[j]


def fewest_orders(table: Table, orders: Sequence[Arrow], given: Iterable[Arrow]) -> tuple[list[Arrow], list[Arrow]]:
    """Return the fewest equalities and orders from which all orders follow; `given` are orders that follow from sums.

    Equalities come first. Each is given with the column that comes first in the table in front.
    """
    known = set(orders)
    both = sorted(((a, b) for a, b in known if a < b and (b, a) in known), key=lambda pair: (pair[1] - pair[0], pair))
    single = [(a, b) for a, b in sorted(known) if (b, a) not in known]
    rules = [*([(a, b), (b, a)] for a, b in both), *([arrow] for arrow in single)]
    kept = fewest(rules, given, table.covered)
    equal = [both[i] for i in kept if i < len(both)]
    return equal, [single[i - len(both)] for i in kept if i >= len(both)]


def suggest_orders(table: Table, equal: Sequence[Arrow], ordered: Sequence[Arrow]) -> list[Suggestion]:
    """Return the suggestions for equalities and orders, as chains."""
    return [*_written(table, equal, "equality", "=="), *_written(table, ordered, "order", "<=")]


def _written(table: Table, arrows: Sequence[Arrow], kind: SuggestionKind, operator: str) -> Iterator[Suggestion]:
    def may_join(nodes: Sequence[int]) -> bool:
        # A chain is tested only where all of its columns are ordinary; its parts must not be tested on more rows.
        members = sum(1 << node for node in nodes)
        return all(members & ~table.covered(pair) == 0 for pair in pairwise(nodes))

    for chain in chains(arrows, may_join):
        values = [table.columns[place].values for place in chain]
        broken = np.logical_or.reduce([_breaks(x, y, operator) for x, y in pairwise(values)])
        text = f" {operator} ".join(table.columns[place].text for place in chain)
        yield suggested(text, kind, table.all_ordinary(chain), broken)


def _breaks(x: NDArray[np.float64], y: NDArray[np.float64], operator: str) -> NDArray[np.bool_]:
    broken: NDArray[np.bool_] = x != y if operator == "==" else x > y
    return broken
