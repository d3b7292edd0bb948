"""The summary of many explanations, one for each decision, counted in parts that can be added.

Approved and declined rows are never counted together: an approved row is about what would lose the approval, which says
nothing about what a declined row needs. Every share is of the rows with one decision.

The counts are the same for explanations in memory and for the columns of a table of explanations, so that a cluster can
count where the table is and send the counts alone.

Invariant: adding counts is associative and exact. Sums of costs are kept as integers (`exact_sum`), so that a summary
depends on the rows alone, not on how they were divided.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import TYPE_CHECKING, Literal, TypeAlias

from flipset.errors import InputError
from flipset.results.basis import BASES
from flipset.results.exact_sum import add_up, divide
from flipset.results.statistics import mean
from flipset.space.words import Decision

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flipset.results.basis import Basis

Side: TypeAlias = Literal["declined", "approved"]
"""The rows that a summary is about: those with the unfavorable or those with the favorable decision."""

SIDES: tuple[Side, Side] = ("declined", "approved")

STATUSES = ("optimal", "incomplete", "none", "stopped", "unproved", "not asked")
"""What a row with a decision may be: proved with all options, with some of them, or without one, limit reached, not
proved, only scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The summary of the explained rows of a table that have one decision.

    Attributes
    ----------
    outcome
        The word for the decision, such as "declined".
    rows
        The number of rows with this decision.
    statuses
        How many of them are "optimal" (the smallest options are known and proved), "incomplete" (their size is proved,
        and not all are listed), "none" (no allowed change flips the decision), "stopped" (a limit was reached),
        "unproved", and "not asked" (only scored). They add up to `rows`.
    sizes
        For each number of changes, how many rows need it. These add up to `sized`.
    one_change
        How many rows have an option with a single change.
    in_some, in_all
        For each feature, the share of "optimal" rows that have it in some smallest flip set, and in all of them.
    in_reasons
        For each feature, the share of `asked` rows that have it in some reason that is listed.
    costs
        For each cost, to 4 significant digits, how many rows have a cheapest option of this cost. Only costs that are
        proved to be the least are counted.
    total_cost
        The sum of these costs, in full.
    """

    outcome: str
    rows: int
    statuses: Mapping[str, int]
    sizes: Mapping[int | float, int]
    one_change: int
    in_some: Mapping[str, float]
    in_all: Mapping[str, float]
    in_reasons: Mapping[str, float]
    costs: Mapping[float, int]
    total_cost: float

    @property
    def asked(self) -> int:
        """The number of rows that were explained, be it up to a limit: all but those that were only scored."""
        return self.rows - self.statuses["not asked"]

    @property
    def sized(self) -> int:
        """The number of rows whose smallest number of changes is proved."""
        return self.statuses["optimal"] + self.statuses["incomplete"]

    @property
    def no_way_out(self) -> float:
        """The share of `asked` rows for which no allowed change flips the decision."""
        return _share(self.statuses["none"], self.asked)

    @property
    def stopped(self) -> float:
        """The share of `asked` rows whose search reached a limit."""
        return _share(self.statuses["stopped"], self.asked)

    @property
    def mean_size(self) -> float:
        """The average number of changes of the rows with a known size; NaN if there are none."""
        return mean(self.sizes)

    @property
    def with_cost(self) -> int:
        """The number of rows whose cheapest option is proved to be the cheapest."""
        return sum(self.costs.values())

    @property
    def has_all_costs(self) -> bool:
        """Whether the cost is proved for every row with known options; an average of fewer may be far from that of all.

        It is proved for few of them without values, or with a limit: those where a single value can change, say.
        """
        return self.with_cost == self.sized

    @property
    def mean_cost(self) -> float:
        """The average cost of the cheapest option, of the rows where it is proved; NaN if there are none."""
        return self.total_cost / self.with_cost if self.with_cost else nan


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """The summary of a table of explanations, one decision at a time.

    Attributes
    ----------
    rows
        The number of rows.
    errors
        How many of them could not be explained. They have no decision here. The rest is `declined.rows` and
        `approved.rows`.
    not_begun
        How many of the errors are rows that were not begun before a limit of the table was reached.
    declined, approved
        The rows with the unfavorable and those with the favorable decision.
    contradicted
        The number of rows whose scores contradict the directions of the space.
    bases
        For each basis, how many explanations rest on it at their weakest feature.
    broken
        For each constraint that some rows break themselves, how many do.
    decision
        Which side of the threshold is favorable, and the words for both outcomes.
    """

    rows: int
    errors: int
    not_begun: int
    declined: Summary
    approved: Summary
    contradicted: int
    bases: Mapping[Basis, int]
    broken: Mapping[str, int] = field(default_factory=dict)
    decision: Decision = field(default_factory=Decision, compare=False, repr=False)

    def of(self, side: Side) -> Summary:
        """Return the summary of the declined or of the approved rows."""
        if side not in SIDES:
            raise InputError(f'side must be "declined" or "approved", got {side!r}')
        return self.declined if side == "declined" else self.approved

    @property
    def explained(self) -> int:
        """The number of rows with a decision."""
        return self.rows - self.errors

    @property
    def not_asked(self) -> int:
        """The number of rows that were only scored."""
        return self.declined.statuses["not asked"] + self.approved.statuses["not asked"]

    @property
    def stopped(self) -> int:
        """The number of rows whose search reached a limit."""
        return self.declined.statuses["stopped"] + self.approved.statuses["stopped"]


Part: TypeAlias = tuple[str, str, str, int]
"""Whose rows were counted ("below" or "above" the threshold, or empty), what, for which size or feature, how many."""


@dataclass(slots=True)
class Counts:
    """Counts of explanations, by decision, by what is counted, and for which size, cost or feature."""

    of: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(
        self,
        decision: bool,
        status: str,
        size: float | None,
        flipsets: Iterable[Sequence[str]],
        reasons: Iterable[Sequence[str]],
        *,
        basis: str | None = None,
        cost: float | None = None,
        broken: Iterable[str] = (),
    ) -> None:
        """Add an explanation; `basis` is its weakest, and `cost` that of its cheapest option, if it is proved.

        `broken` are the constraints that the row itself breaks.
        """
        side = "above" if decision else "below"
        self.of.update(("", "broken", text) for text in broken)
        if basis and status != "not asked":  # nothing is claimed about a row that was only scored
            self.of["", "basis", basis] += 1
        self.of[side, f"is {status}", ""] += 1
        self.of.update((side, "reason", name) for name in {name for reason in reasons for name in reason})
        sets = [set(flipset) for flipset in flipsets]
        # What a search had found when it was stopped need not be the smallest.
        if status not in ("optimal", "incomplete") or not sets:
            return
        if size is not None:
            self.add_size(side, size)
        self.of[side, "one change", ""] += any(len(one) == 1 for one in sets)
        if status == "incomplete":  # sets that are not listed may have other features, and cost less
            return
        self.of.update((side, "some", name) for name in set.union(*sets))
        self.of.update((side, "all", name) for name in set.intersection(*sets))
        if cost is not None and isfinite(cost):
            self.add_cost(side, cost)

    def add_size(self, side: str, size: float, rows: int = 1) -> None:
        """Add the number of changes of some rows "below" or "above" the threshold."""
        # As JSON, since the key must be a text: a cluster adds counts up in columns of texts.
        self.of[side, "size", json.dumps(int(size) if float(size).is_integer() else size)] += rows

    def add_cost(self, side: str, cost: float) -> None:
        """Add the cost of the cheapest option of a row "below" or "above" the threshold."""
        # To 4 digits, which bounds how many counts a cluster sends. The mean is made from the exact sum.
        self.of[side, "cost", f"{cost:.4g}"] += 1
        for power, part in divide(cost):
            self.of[side, "cost sum", str(power)] += part

    def add_error(self, *, contradicts: bool = False, not_begun: bool = False) -> None:
        """Add a row that could not be explained, because its scores contradict the directions or for another reason."""
        self.of["", "contradicted", ""] += contradicts
        self.of["", "not begun", ""] += not_begun
        self.of["", "error", ""] += 1

    def parts(self) -> Iterator[Part]:
        """Yield the counts, to be added to those of other rows."""
        yield from ((*key, n) for key, n in self.of.items())

    @classmethod
    def from_parts(cls, parts: Iterable[Part]) -> Counts:
        """Add the counts of several parts."""
        counts = cls()
        for side, kind, of, n in parts:
            counts.of[side, kind, of] += n
        return counts

    def summary(self, decision: Decision | None = None) -> TableSummary:
        """Return the summary; `decision` says which side of the threshold is favorable, and the words for both."""
        words = Decision() if decision is None else decision
        # `is_favorable` is about whether a score is at or above the threshold.
        declined, approved = sorted((False, True), key=words.is_favorable)
        one, other = (self._side(side, words.outcome(side)) for side in (declined, approved))
        errors = self.of["", "error", ""]
        return TableSummary(
            rows=one.rows + other.rows + errors,
            errors=errors,
            not_begun=self.of["", "not begun", ""],
            declined=one,
            approved=other,
            contradicted=self.of["", "contradicted", ""] + one.statuses["unproved"] + other.statuses["unproved"],
            bases={basis: n for basis in BASES if (n := self.of["", "basis", basis])},
            broken=dict(sorted(self._counted("", "broken"), key=lambda item: (-item[1], item[0]))),
            decision=words,
        )

    def _side(self, decision: bool, outcome: str) -> Summary:
        side = "above" if decision else "below"
        statuses = {status: self.of[side, f"is {status}", ""] for status in STATUSES}
        rows = sum(statuses.values())
        asked = rows - statuses["not asked"]
        sizes = {json.loads(size): n for size, n in self._counted(side, "size")}
        costs = {float(cost): n for cost, n in self._counted(side, "cost")}
        total = add_up((int(power), n) for power, n in self._counted(side, "cost sum"))
        return Summary(
            outcome=outcome,
            rows=rows,
            statuses=statuses,
            sizes=dict(sorted(sizes.items())),
            one_change=self.of[side, "one change", ""],
            in_some=self._shares(side, "some", statuses["optimal"]),
            in_all=self._shares(side, "all", statuses["optimal"]),
            in_reasons=self._shares(side, "reason", asked),
            costs=dict(sorted(costs.items())),
            total_cost=float(total),
        )

    def _counted(self, side: str, kind: str) -> Iterator[tuple[str, int]]:
        return ((of, n) for (its, own, of), n in self.of.items() if (its, own) == (side, kind))

    def _shares(self, side: str, kind: str, whole: int) -> dict[str, float]:
        """Return shares by feature, the largest first; ties are in the order of names, which is reproducible."""
        counts = sorted(self._counted(side, kind), key=lambda item: (-item[1], item[0]))
        return {name: _share(n, whole) for name, n in counts}


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
