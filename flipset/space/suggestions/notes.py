"""What else a table shows about its columns, as notes: one-hot groups, whole numbers, columns missing together."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from flipset.space.suggestions.columns import counted_together
from flipset.space.suggestions.evidence import is_rare
from flipset.space.suggestions.suggestion import Suggestion, suggested

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flipset.space.suggestions.columns import Table

SEPARATORS = re.compile(r"[_=.:\-/ \[]")


def find_one_hot(table: Table) -> list[tuple[int, ...]]:
    """Return groups of columns of 0 and 1 of which at most one is 1 in each row.

    Columns whose names have the same beginning are tried first. Of the others, those are a group of which exactly one
    is 1. Of two columns that are both 0 in some rows, an implication says as much.
    """
    flags = [column.place for column in table.columns if column.is_flag]
    if len(flags) < 2:
        return []
    ones = np.array([table.columns[place].values == 1 for place in flags])
    both = counted_together(ones)
    apart = {
        (a, b): table.may_break(int(both[i, j]), int(table.together[a, b]))
        for (i, a), (j, b) in combinations(enumerate(flags), 2)
    }
    found: list[tuple[int, ...]] = []
    for group in _by_name(table, flags):
        if _is_group(table, group) and (len(group) > 2 or _is_always_one(table, group)):
            found.append(tuple(group))
    left = [place for place in flags if not any(place in group for group in found)]
    while left:
        group = left[:1]
        for place in left[1:]:
            if all(apart[member, place] for member in group):
                group.append(place)
        if len(group) > 1 and _is_group(table, group) and _is_always_one(table, group):
            found.append(tuple(group))
            left = [place for place in left if place not in group]
        else:
            left = left[1:]
    return sorted(found)


def _by_name(table: Table, places: Sequence[int]) -> list[list[int]]:
    """Return the columns whose names have the same beginning, longest beginnings first."""
    starting: dict[str, list[int]] = {}
    for place in places:
        name = table.columns[place].name
        for separator in SEPARATORS.finditer(name):
            starting.setdefault(name[: separator.end()], []).append(place)
    groups: list[list[int]] = []
    # The shortest beginning that is a group has all of its columns: "job_in_office" belongs to "job_".
    for start in sorted(starting, key=len):
        group = starting[start]
        if (
            len(group) > 1
            and not any(place in other for other in groups for place in group)
            and _is_group(table, group)
        ):
            groups.append(group)
    return groups


def _is_group(table: Table, group: Sequence[int]) -> bool:
    """Say whether at most one of the columns is 1 in each row, and that would not be so by chance."""
    rows = table.all_ordinary(group)
    ones = _ones(table, group)[rows]
    shares = [float((table.columns[place].values[rows] == 1).mean()) for place in group] if rows.any() else []
    expected = len(ones) * sum(a * b for a, b in combinations(shares, 2))
    broken = int((ones > 1).sum())
    return table.may_break(broken, len(ones)) and is_rare(broken, expected, table.most_broken)


def _is_always_one(table: Table, group: Sequence[int]) -> bool:
    ones = _ones(table, group)[table.all_ordinary(group)]
    return table.may_break(int((ones == 0).sum()), len(ones))


def _ones(table: Table, group: Sequence[int]) -> NDArray[np.int64]:
    """Return how many of the columns are 1 in each row."""
    ones = np.zeros(table.rows, dtype=np.int64)
    for place in group:
        ones += table.columns[place].values == 1
    return ones


def suggest_one_hot(table: Table, groups: Sequence[Sequence[int]]) -> list[Suggestion]:
    """Return the notes on groups of one-hot columns."""
    suggestions = []
    for number, group in enumerate(groups, 1):
        names = [table.columns[place].name for place in group]
        argument = f"groups={{{_quoted(_beginning(names) or f'group {number}')}: {_listed(names)}}}"
        ones = _ones(table, group)
        always = _is_always_one(table, group)
        said = "exactly one of these columns is 1" if always else "at most one of these columns is 1"
        broken = ones != 1 if always else ones > 1
        suggestions.append(suggested(f"{said}: {argument}", "one_hot", table.all_ordinary(group), broken))
    return suggestions


def _beginning(names: Sequence[str]) -> str:
    """Return what all names begin with, up to a separator, and without it."""
    first = names[0]
    ends = [match.start() for match in SEPARATORS.finditer(first)]
    shared = [first[:end] for end in ends if end and all(name.startswith(first[: end + 1]) for name in names)]
    return shared[-1] if shared else ""


def suggest_whole(table: Table) -> list[Suggestion]:
    """Return the notes on columns of floats that hold whole numbers only."""
    suggestions = []
    for column in table.columns:
        if column.is_float and column.is_amount:
            ordinary = table.ordinary[column.place]
            values = column.values[ordinary]
            if len(values) and (values == np.floor(values)).all():
                text = f'{column.name} holds whole numbers, as floats: kind = "integer"'
                suggestions.append(Suggestion(text, "whole", len(values)))
    return suggestions


def suggest_missing(table: Table) -> list[Suggestion]:
    """Return the notes on columns that are missing in the same rows."""
    missing = ~table.ordinary
    some = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
    if len(some) < 2:
        return []
    both = counted_together(missing[some])
    own = both.diagonal()
    either = own[:, None] + own[None, :] - both
    # Rows in which one of two columns is missing, but not the other, of those in which either is.
    same = ((either - both) / np.maximum(either, 1) <= table.most_broken) & (both > 1)
    suggestions = []
    left = list(range(len(some)))
    while left:
        group = [i for i in left if same[left[0], i]]
        left = [i for i in left if i not in group and i != left[0]]
        if len(group) > 1:
            places = some[group]
            some_missing, all_missing = np.logical_or.reduce(missing[places]), np.logical_and.reduce(missing[places])
            names = _listed([table.columns[place].name for place in places])
            text = f"these columns are missing in the same rows: {names}"
            suggestions.append(suggested(text, "missing", some_missing, ~all_missing))
    return suggestions


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, names))}]"


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
