"""Groups of a table side by side: counts, rates, and differences and ratios to a reference group, with intervals.

Figures are about rows with one decision, declined or approved, never about both, and say of how many rows they are.
Rows that have no option, that reached a limit or that are not proved stay in the denominator of every share. A mean is
of the rows in which what is averaged is known and proved. Rows without a decision, because of an error, are in no
figure, and each group counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.results.frames import frame_of
from flipset.results.statistics import UNDEFINED, Interval, katz, mean, newcombe, percentiles, replicate_means, wilson
from flipset.results.summary import SIDES
from flipset.space.feature import plain
from flipset.space.words import label_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flipset.results.statistics import Floats
    from flipset.results.summary import Side, TableSummary

SMALL = 30
"""A group with fewer rows of a decision is marked as small: its figures say little, and its intervals are rough."""

FIGURES = ("share", "one_change", "mean_changes", "no_option", "mean_cost", "limit_reached", "not_proved")
"""The figures of a group, in the order in which they are shown."""

SHARES = ("share", "one_change", "no_option", "limit_reached", "not_proved")
MEANS = ("mean_changes", "mean_cost")

STATUS_OF = {"no_option": "none", "limit_reached": "stopped", "not_proved": "unproved"}
"""The status of the explanations that a share counts."""

GROUPS_NAMED = 12
"""Groups that an error lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of one group, compared with the reference group. What is not defined is NaN.

    Attributes
    ----------
    rows, count
        How many rows the figure is of and, for a share, how many of them are counted; None for a mean.
    value, interval
        The share or mean, and its interval of 95 %.
    difference, difference_interval
        The value less that of the reference group; NaN for the reference group itself.
    ratio, ratio_interval
        The value as a multiple of that of the reference group; shares only.
    """

    rows: int
    value: float
    interval: Interval
    count: int | None = None
    difference: float = nan
    difference_interval: Interval = UNDEFINED
    ratio: float = nan
    ratio_interval: Interval = UNDEFINED

    def cells(self) -> dict[str, Any]:
        """Return the figure as plain numbers, by the names of the columns of `GroupSummaries.to_dict`."""
        ends = (("value", "", self.interval), ("difference", "difference_", self.difference_interval))
        cells: dict[str, Any] = {"rows": self.rows, "count": self.count}
        for name, start, (low, high) in (*ends, ("ratio", "ratio_", self.ratio_interval)):
            numbers = {name: getattr(self, name), f"{start}low": low, f"{start}high": high}
            cells |= {key: number if isfinite(number) else None for key, number in numbers.items()}
        return cells


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupSummaries(Mapping[Any, "TableSummary"]):
    """The summaries of the groups of a table, by group, and the group that the others are compared with.

    Attributes
    ----------
    summaries
        The summary of each group.
    reference
        The reference group; None if there are no groups.
    """

    summaries: Mapping[Any, TableSummary]
    reference: Any = None

    @classmethod
    def compared(cls, summaries: Mapping[Any, TableSummary], reference: Any = None) -> GroupSummaries:
        """Compare groups with the group `reference`; by default with the largest, the first of those of equal size."""
        # By text, since groups may be of several types, which cannot be compared. This makes the order reproducible.
        ordered = {group: summaries[group] for group in sorted(summaries, key=str)}
        if reference is None:
            return cls(ordered, max(ordered, key=lambda group: ordered[group].rows, default=None))
        return cls(ordered, find_group(plain(reference), list(ordered)))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: groups: {len(self):,}, reference: {self.reference!r}>"

    def __getitem__(self, group: Any) -> TableSummary:
        return self.summaries[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.summaries)

    def __len__(self) -> int:
        return len(self.summaries)

    def is_small(self, group: Any, side: Side = "declined") -> bool:
        """Say whether a group has fewer than 30 explained rows with this decision."""
        return self.summaries[group].of(side).asked < SMALL

    def figures(self, group: Any, side: Side = "declined") -> dict[str, Figure]:
        """Return the figures of a group: rates among its declined or approved rows, compared with the reference.

        "share"
            The share of rows with this decision, of all rows with a decision.
        "one_change", "no_option", "limit_reached", "not_proved"
            Among the explained rows with this decision, the share for which a single change is enough, for which no
            allowed change is, whose search reached a limit, and whose answer is not proved.
        "mean_changes"
            The average number of changes, of the rows whose smallest options are known.
        "mean_cost"
            The average cost of the cheapest option, of the rows where it is proved to be the cheapest.
        """
        table = self.summaries[group]
        # The missing value may be a group, and the reference, too: None says nothing about which group it is.
        against = None if group == self.reference else self.summaries[self.reference]
        made = {name: _compared_shares(name, side, table, against) for name in SHARES}
        made |= {name: _compared_means(name, side, table, against) for name in MEANS}
        return {name: made[name] for name in FIGURES}

    def to_dict(self) -> dict[str, list[Any]]:
        """Return one row for each group, decision and figure, as columns; what is not defined is None."""
        columns: dict[str, list[Any]] = {}
        for group in self:
            for side in SIDES:
                about = {"group": group, "decision": side, "outcome": self.summaries[group].of(side).outcome}
                marks = {"is_reference": group == self.reference, "is_small": self.is_small(group, side)}
                for name, figure in self.figures(group, side).items():
                    for column, cell in (about | {"figure": name} | figure.cells() | marks).items():
                        columns.setdefault(column, []).append(cell)
        return columns

    def to_frame(self) -> Any:
        """Return `to_dict` as a pandas frame."""
        return frame_of(self.to_dict())


def _compared_shares(name: str, side: Side, table: TableSummary, other: TableSummary | None) -> Figure:
    part, whole = _share_of(name, side, table)
    value, interval = part / whole if whole else nan, wilson(part, whole)
    if other is None:
        return Figure(rows=whole, count=part, value=value, interval=interval)
    other_part, other_whole = _share_of(name, side, other)
    against = other_part / other_whole if other_whole else nan
    return Figure(
        rows=whole,
        count=part,
        value=value,
        interval=interval,
        difference=value - against,
        difference_interval=newcombe(part, whole, other_part, other_whole),
        ratio=value / against if against else nan,
        ratio_interval=katz(part, whole, other_part, other_whole),
    )


def _share_of(name: str, side: Side, table: TableSummary) -> tuple[int, int]:
    """Return how many rows are counted in a share, and of how many."""
    one = table.of(side)
    if name == "share":
        return one.rows, table.explained
    return one.one_change if name == "one_change" else one.statuses[STATUS_OF[name]], one.asked


def _compared_means(name: str, side: Side, table: TableSummary, other: TableSummary | None) -> Figure:
    values, value = _mean_of(name, side, table)
    rows, replicates = sum(values.values()), _replicates(values, value, 0)
    if other is None:
        return Figure(rows=rows, value=value, interval=percentiles(replicates))
    other_values, against = _mean_of(name, side, other)
    # A stream of its own: with the same draws, two groups with equal values would not seem to differ by chance at all.
    other_replicates = _replicates(other_values, against, 1)
    both = len(replicates) == len(other_replicates)
    return Figure(
        rows=rows,
        value=value,
        interval=percentiles(replicates),
        difference=value - against,
        difference_interval=percentiles(replicates - other_replicates) if both else UNDEFINED,
    )


def _mean_of(name: str, side: Side, table: TableSummary) -> tuple[Mapping[float, int], float]:
    """Return the values that are averaged, with how often each occurs, and their mean."""
    one = table.of(side)
    return (one.sizes, one.mean_size) if name == "mean_changes" else (one.costs, one.mean_cost)


def _replicates(values: Mapping[float, int], exact: float, stream: int) -> Floats:
    """Return replicates of a mean; values may be rounded, so the replicates are moved to where the exact mean is."""
    found = _replicates_of(tuple(sorted(values.items())), stream)
    return found + (exact - mean(values)) if len(found) else found


@lru_cache(maxsize=256)
def _replicates_of(values: tuple[tuple[float, int], ...], stream: int) -> Floats:
    """Return replicates of a mean, which several figures need."""
    return replicate_means(dict(values), stream)


def find_group(wanted: Any, groups: Sequence[Any]) -> Any:
    """Return the group that is wanted, by value or by its text; commands have only texts."""
    found = [group for group in groups if group == wanted] or [g for g in groups if label_key(g) == label_key(wanted)]
    if found:
        return found[0]
    named = ", ".join(label_key(group) for group in groups[:GROUPS_NAMED])
    more = f" and {len(groups) - GROUPS_NAMED:,} more" if len(groups) > GROUPS_NAMED else ""
    raise InputError(f"the reference group {label_key(wanted)!r} is not among the groups: {named}{more}")
