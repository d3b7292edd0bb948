"""What many explanations say together, counted in parts that can be added up.

The same counts are taken of explanations in memory and of the columns of a table of them, so a summary can be made
wherever the table is.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Summary:
    """What a table of explanations says together.

    Attributes
    ----------
    rows, errors
        How many rows there are, and how many could not be explained.
    no_way_out
        The share of explained rows that nothing flips, within what was allowed.
    stopped
        The share for which a budget ran out.
    sizes
        How many rows need how many changes.
    in_some, in_all
        For each feature the share of rows with a way out in which it is in some smallest flip set, and in all of them.
    in_reasons
        The share of explained rows in which it is in some reason.
    """

    rows: int
    errors: int
    no_way_out: float
    stopped: float
    sizes: Mapping[int | float, int]
    in_some: Mapping[str, float]
    in_all: Mapping[str, float]
    in_reasons: Mapping[str, float]

    @property
    def mean_size(self) -> float:
        """What rows with a way out need in the mean; NaN where there are none."""
        rows = sum(self.sizes.values())
        return sum(size * n for size, n in self.sizes.items()) / rows if rows else nan


Part: TypeAlias = tuple[str, str, int]
"""What was counted, of what (a size or a feature; empty where it is all rows), and how many."""


@dataclass(slots=True)
class Counts:
    """Explanations, counted."""

    of: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(
        self, status: str, size: float | None, flipsets: Iterable[Sequence[str]], reasons: Iterable[Sequence[str]]
    ) -> None:
        """Count an explanation."""
        sets = [set(flipset) for flipset in flipsets]
        self.of["rows", ""] += 1
        self.of[f"is {status}", ""] += 1
        if size is not None:
            self.of["size", json.dumps(int(size) if float(size).is_integer() else size)] += 1
        if sets:
            self.of["open", ""] += 1
            self.of.update(("some", name) for name in set.union(*sets))
            self.of.update(("all", name) for name in set.intersection(*sets))
        self.of.update(("reason", name) for name in {name for reason in reasons for name in reason})

    def add_error(self) -> None:
        """Count a row that could not be explained."""
        self.of["rows", ""] += 1
        self.of["error", ""] += 1

    def parts(self) -> Iterator[Part]:
        """Yield the counts, to be added up with others."""
        yield from ((kind, of, n) for (kind, of), n in self.of.items())

    @classmethod
    def from_parts(cls, parts: Iterable[Part]) -> Counts:
        """Add parts up."""
        counts = cls()
        for kind, of, n in parts:
            counts.of[kind, of] += n
        return counts

    def summary(self) -> Summary:
        """Return what they say together."""
        rows, errors = self.of["rows", ""], self.of["error", ""]
        explained, turned = rows - errors, self.of["open", ""]
        sizes = {json.loads(size): n for (kind, size), n in self.of.items() if kind == "size"}
        return Summary(
            rows=rows,
            errors=errors,
            no_way_out=_share(self.of["is none", ""], explained),
            stopped=_share(self.of["is stopped", ""], explained),
            sizes=dict(sorted(sizes.items())),
            in_some=self._shares("some", turned),
            in_all=self._shares("all", turned),
            in_reasons=self._shares("reason", explained),
        )

    def _shares(self, wanted: str, whole: int) -> dict[str, float]:
        """Return shares by name, most first, and equals by name: never by the order in which sets are walked."""
        found = [(name, n) for (kind, name), n in self.of.items() if kind == wanted]
        return {name: _share(n, whole) for name, n in sorted(found, key=lambda item: (-item[1], item[0]))}


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


# --- sets as text -----------------------------------------------------------------------------------------------------

_NAME = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,|"]+)')


def write_sets(sets: Iterable[Sequence[str]]) -> str:
    """Return sets of names as one text; a name that holds a separator is quoted.

    Examples
    --------
    >>> write_sets([("income",), ("debt", "age")])
    'income | debt, age'
    >>> write_sets([("a, b", "c")])
    '"a, b", c'
    """
    return " | ".join(", ".join(map(_quoted, names)) for names in sets)


def _quoted(name: str) -> str:
    plain = name and name == name.strip() and not any(letter in name for letter in ',|"')
    return name if plain else json.dumps(name, ensure_ascii=False)


def read_sets(text: str) -> list[tuple[str, ...]]:
    """Return the sets that a text holds.

    Examples
    --------
    >>> read_sets('income | "a, b", c')
    [('income',), ('a, b', 'c')]
    """
    sets: list[list[str]] = []
    end = 0
    for found in _NAME.finditer(text):
        name = found[1].strip()
        if not name:
            continue
        if not sets or "|" in text[end : found.start()]:
            sets.append([])
        sets[-1].append(json.loads(name) if name.startswith('"') else name)
        end = found.end()
    return [tuple(names) for names in sets]
