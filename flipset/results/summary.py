"""The summary of many explanations, counted in parts that can be added.

The counts are the same for explanations in memory and for the columns of a table of explanations, so that a cluster can
count where the table is and send the counts alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, TypeAlias

from flipset.results.basis import BASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flipset.results.basis import Basis


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a table of explanations.

    Attributes
    ----------
    rows, errors
        The number of rows, and of those that could not be explained.
    no_way_out
        The share of explained rows for which no allowed change flips the decision.
    stopped
        The share of explained rows whose search reached a limit.
    sizes
        For each number of changes, how many rows need it.
    in_some, in_all
        For each feature, the share of rows with a flip set that have it in some smallest flip set, and in all of them.
    in_reasons
        For each feature, the share of explained rows that have it in some reason.
    contradicted
        The number of rows whose scores contradict the directions of the space.
    bases
        For each basis, how many explanations rest on it at their weakest feature.
    """

    rows: int
    errors: int
    no_way_out: float
    stopped: float
    sizes: Mapping[int | float, int]
    in_some: Mapping[str, float]
    in_all: Mapping[str, float]
    in_reasons: Mapping[str, float]
    contradicted: int = 0
    bases: Mapping[Basis, int] = field(default_factory=dict)

    @property
    def mean_size(self) -> float:
        """The average number of changes of the rows with a known size; NaN if there are none."""
        rows = sum(self.sizes.values())
        return sum(size * n for size, n in self.sizes.items()) / rows if rows else nan


Part: TypeAlias = tuple[str, str, int]
"""What was counted, for which size or feature (empty for all rows), and how many."""


@dataclass(slots=True)
class Counts:
    """Counts of explanations, by what is counted and for which size or feature."""

    of: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(
        self,
        status: str,
        size: float | None,
        flipsets: Iterable[Sequence[str]],
        reasons: Iterable[Sequence[str]],
        basis: str | None = None,
    ) -> None:
        """Add an explanation; `basis` is its weakest."""
        if basis:
            self.of["basis", basis] += 1
        sets = [set(flipset) for flipset in flipsets]
        self.of["rows", ""] += 1
        self.of[f"is {status}", ""] += 1
        if size is not None:
            # As JSON, since the key must be a text: a cluster adds counts up in columns of texts.
            self.of["size", json.dumps(int(size) if float(size).is_integer() else size)] += 1
        if sets:
            # The whole of the shares below. A row without an option has reasons, and is not among them.
            self.of["open", ""] += 1
            self.of.update(("some", name) for name in set.union(*sets))
            self.of.update(("all", name) for name in set.intersection(*sets))
        self.of.update(("reason", name) for name in {name for reason in reasons for name in reason})

    def add_error(self, *, contradicts: bool = False) -> None:
        """Add a row that could not be explained; say whether its scores contradict the directions."""
        self.of["contradicted", ""] += contradicts
        self.of["rows", ""] += 1
        self.of["error", ""] += 1

    def parts(self) -> Iterator[Part]:
        """Yield the counts, to be added to those of other rows."""
        yield from ((kind, of, n) for (kind, of), n in self.of.items())

    @classmethod
    def from_parts(cls, parts: Iterable[Part]) -> Counts:
        """Add the counts of several parts."""
        counts = cls()
        for kind, of, n in parts:
            counts.of[kind, of] += n
        return counts

    def summary(self) -> Summary:
        """Return the summary."""
        rows, errors = self.of["rows", ""], self.of["error", ""]
        explained, with_options = rows - errors, self.of["open", ""]
        sizes = {json.loads(size): n for (kind, size), n in self.of.items() if kind == "size"}
        return Summary(
            rows=rows,
            errors=errors,
            no_way_out=_share(self.of["is none", ""], explained),
            stopped=_share(self.of["is stopped", ""], explained),
            sizes=dict(sorted(sizes.items())),
            in_some=self._shares("some", with_options),
            in_all=self._shares("all", with_options),
            in_reasons=self._shares("reason", explained),
            contradicted=self.of["contradicted", ""] + self.of["is unproved", ""],
            bases={basis: n for basis in BASES if (n := self.of["basis", basis])},
        )

    def _shares(self, wanted: str, whole: int) -> dict[str, float]:
        """Return shares by feature, the largest first; ties are in the order of names, which is reproducible."""
        counts = [(name, n) for (kind, name), n in self.of.items() if kind == wanted]
        return {name: _share(n, whole) for name, n in sorted(counts, key=lambda item: (-item[1], item[0]))}


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


# --- sets as text -----------------------------------------------------------------------------------------------------

_NAME = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,|"]+)')


def write_sets(sets: Iterable[Sequence[str]]) -> str:
    """Return sets of names as one text; a name with a separator in it is quoted.

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
    """Return the sets that `write_sets` wrote.

    Examples
    --------
    >>> read_sets('income | "a, b", c')
    [('income',), ('a, b', 'c')]
    """
    sets: list[list[str]] = []
    end = 0
    for match in _NAME.finditer(text):
        name = match[1].strip()
        if not name:
            continue
        # Between two names, so that a bar inside a quoted name separates nothing.
        if not sets or "|" in text[end : match.start()]:
            sets.append([])
        sets[-1].append(json.loads(name) if name.startswith('"') else name)
        end = match.end()
    return [tuple(names) for names in sets]
