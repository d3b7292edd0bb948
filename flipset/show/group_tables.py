"""Groups side by side, for people: one small table for each figure, as text and as HTML.

A table has a line for each group: of how many rows the figure is, its value, and the difference and the ratio to the
reference group, each with its interval of 95 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any

from flipset.boundary.printable import printable, wrapped
from flipset.plural import count
from flipset.results.groups import FIGURES, MEANS, SMALL
from flipset.results.statistics import Interval
from flipset.results.summary import SIDES
from flipset.show.html import table
from flipset.show.summaries import cost_unknown
from flipset.values.change import show_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flipset.results.groups import Figure, GroupSummaries
    from flipset.results.summary import Side, Summary
    from flipset.space.words import FeatureWords

GROUPS_SHOWN = 20
"""Groups that are shown, the largest; `GroupSummaries.to_frame` has all."""

NAME_LEAST = 7
"""The least width of the column with the names of groups."""

ONLY_IF_ANY = ("no_option", "limit_reached", "not_proved")
"""Shares that are left out where no group has such a row."""


@dataclass(frozen=True, slots=True)
class FigureTable:
    """A figure of all groups, as cells of text: a title, the heads of the columns, and a line for each group."""

    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


# --- text and HTML ----------------------------------------------------------------------------------------------------


def tell_groups(groups: GroupSummaries, width: int = 80, words: FeatureWords | None = None) -> Iterator[str]:
    """Yield a comparison of the declined rows of groups; `words` are those of the column that makes the groups."""
    for note in group_notes(groups, "declined", words):
        yield from wrapped(note, width, further="  ")
    tables = list(figure_tables(groups, "declined", words))
    # Where lines are too long, counts are left out, and then names have their own lines.
    if any(_full_width(one) > width for one in tables):
        tables = list(figure_tables(groups, "declined", words, with_counts=False))
    for one in (_counts(groups, words), *tables):
        yield ""
        yield from wrapped(one.title, width, further="  ")
        yield from _columns([one.head, *one.lines], width)


def groups_html(groups: GroupSummaries, words: FeatureWords | None = None) -> Iterator[str]:
    """Yield a comparison of groups: the declined rows first, then the approved ones."""
    counts = _counts(groups, words)
    yield table(counts.head, counts.lines, numbers=True)
    for side in SIDES:
        if not any(one.of(side).asked for one in groups.values()):
            continue
        yield f"<h3>{escape(_outcome(groups, side).capitalize())} rows</h3>"
        yield "".join(f"<p>{escape(note)}</p>" for note in group_notes(groups, side, words))
        for one in figure_tables(groups, side, words):
            yield f"<p><strong>{escape(one.title)}</strong></p>"
            yield table(one.head, one.lines, numbers=True)


def group_notes(groups: GroupSummaries, side: Side, words: FeatureWords | None) -> Iterator[str]:
    """Say what is compared with what, and what to be careful about."""
    by = "" if words is None else f" by {words.label}"
    yield (
        f"Groups{by}, {_outcome(groups, side)} rows. Intervals of 95 % are in brackets. Differences and ratios are to "
        f"the group “{_name(groups.reference, words)}”."
    )
    if any(groups.is_small(group, side) for group in shown_groups(groups)):
        yield f"* Fewer than {SMALL} {_outcome(groups, side)} rows: too few for firm conclusions."
    if errors := sum(one.errors for one in groups.values()):
        yield f"{count(errors, 'row')} without an explanation: no decision is known, so they are in no share."
    known, rows = (sum(each) for each in zip(*((_costs(one.of(side))) for one in groups.values()), strict=True))
    if 0 < known < rows:
        yield cost_unknown(known, rows, _outcome(groups, side))
    if left := len(groups) - len(shown_groups(groups)):
        yield f"The {GROUPS_SHOWN} largest groups are shown; {left:,} more are not."


def _costs(one: Summary) -> tuple[int, int]:
    """Return for how many rows the cost is proved, and for how many it could be."""
    return one.with_cost, one.sized


def _columns(lines: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield lines in columns, the first of texts and the others of numbers; a long text has a line of its own."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    rest = sum(widths[1:]) + 2 * len(widths)
    widths[0] = min(widths[0], max(NAME_LEAST, width - rest))
    for first, *others in lines:
        is_long = len(first) > widths[0]
        if is_long:
            yield from wrapped(first, width, "  ", "    ")
        cells = [f"{'' if is_long else first:<{widths[0]}}"]
        cells += [f"{cell:>{wide}}" for cell, wide in zip(others, widths[1:], strict=True)]
        yield f"  {'  '.join(cells)}".rstrip()


def _full_width(one: FigureTable) -> int:
    return sum(max(map(len, cells)) + 2 for cells in zip(one.head, *one.lines, strict=True))


# --- cells ------------------------------------------------------------------------------------------------------------


def figure_tables(
    groups: GroupSummaries, side: Side, words: FeatureWords | None = None, *, with_counts: bool = True
) -> Iterator[FigureTable]:
    """Yield a table for each figure about the declined or the approved rows, except those that say nothing."""
    shown = shown_groups(groups)
    figures = {group: groups.figures(group, side) for group in shown}
    for name in FIGURES:
        of_name = {group: own[name] for group, own in figures.items()}
        if all(isnan(one.value) or (name in ONLY_IF_ANY and not one.count) for one in of_name.values()):
            continue
        if name == "mean_cost" and not all(one.of(side).has_all_costs for one in groups.values()):
            continue  # `group_notes` says so
        is_share = name not in MEANS
        head = (
            ("", "rows", "share", "difference, points", "ratio") if is_share else ("", "rows", "average", "difference")
        )
        write = _share_cells if is_share else _mean_cells(list(of_name.values()))
        lines = tuple(
            (
                _marked(groups, group, side, words),
                _rows_text(figure, with_counts),
                *(write(figure, group == groups.reference) if figure.rows else [""] * (len(head) - 2)),
            )
            for group, figure in of_name.items()
        )
        yield FigureTable(_title(name, _outcome(groups, side)), head, lines)


def _title(name: str, outcome: str) -> str:
    return {
        "share": f"Share {outcome}, of all rows with a decision",
        "one_change": f"One change is enough, of the {outcome} rows",
        "mean_changes": f"Changes needed, of the {outcome} rows with a known number of changes",
        "no_option": f"No option, of the {outcome} rows",
        "mean_cost": f"Cost of the cheapest option, of the {outcome} rows with a known number of changes",
        "limit_reached": f"Limit reached, of the {outcome} rows",
        "not_proved": f"Not proved, of the {outcome} rows",
    }[name]


def _rows_text(figure: Figure, with_counts: bool) -> str:
    is_counted = figure.count is not None and with_counts
    return f"{figure.count:,} of {figure.rows:,}" if is_counted else f"{figure.rows:,}"


def _share_cells(figure: Figure, is_reference: bool) -> tuple[str, ...]:
    # Percentages have one decimal, so that they can be compared.
    share = _estimate(figure.value * 100, _percent(figure.interval), 1, unit=" %")
    if is_reference:
        return (share, "reference", "")
    difference = _estimate(figure.difference * 100, _percent(figure.difference_interval), 1, sign="+")
    return (share, difference, _estimate(figure.ratio, figure.ratio_interval, min(2, _decimals(figure.ratio))))


def _mean_cells(figures: Sequence[Figure]) -> Callable[[Figure, bool], tuple[str, ...]]:
    """Return what writes the means of a table, all with the same decimals."""
    decimals = _decimals(max(one.value for one in figures if one.rows))
    # A difference may be close to 0, so the intervals say how many digits matter.
    ends = [abs(end) for one in figures for end in (one.difference, *one.difference_interval) if not isnan(end)]
    gap_decimals = max(decimals, _decimals(max(ends, default=0.0)))

    def write(figure: Figure, is_reference: bool) -> tuple[str, ...]:
        mean = _estimate(figure.value, figure.interval, decimals)
        if is_reference:
            return (mean, "reference")
        return (mean, _estimate(figure.difference, figure.difference_interval, gap_decimals, sign="+"))

    return write


def _decimals(size: float) -> int:
    """Return the decimals that give a number of this size 3 significant digits, and 4 at most."""
    return 1 if size >= 10 else 2 if size >= 1 or size < 1e-9 else 3 if size >= 0.1 else 4


def _percent(interval: Interval) -> Interval:
    return Interval(interval.low * 100, interval.high * 100)


def _estimate(value: float, interval: Interval, decimals: int, *, unit: str = "", sign: str = "") -> str:
    """Write a value and its interval, such as "52.0 % [45.1, 58.8]"; nothing where the value is not defined."""
    if isnan(value):
        return ""
    text = f"{_round(value, decimals):{sign},.{decimals}f}{unit}"
    if isnan(interval.low):
        return text
    low, high = (f"{_round(end, decimals):,.{decimals}f}" for end in interval)
    return f"{text} [{low}, {high}]"


def _round(value: float, decimals: int) -> float:
    return round(value, decimals) + 0.0  # a negative zero becomes zero


def _counts(groups: GroupSummaries, words: FeatureWords | None) -> FigureTable:
    """Return how many rows of each group have which decision, or none."""
    head = ["", "rows", *(_outcome(groups, side) for side in SIDES)]
    errors = any(one.errors for one in groups.values())
    lines = []
    for group in shown_groups(groups):
        one = groups[group]
        cells = [one.rows, one.declined.rows, one.approved.rows, *([one.errors] if errors else [])]
        lines.append((_marked(groups, group, "declined", words), *(f"{cell:,}" for cell in cells)))
    return FigureTable("Rows", (*head, *(["no explanation"] if errors else [])), tuple(lines))


def shown_groups(groups: GroupSummaries) -> list[Any]:
    """Return the groups that are shown, in their order: the largest, and the reference group."""
    largest = sorted(groups, key=lambda group: (group != groups.reference, -groups[group].rows))[:GROUPS_SHOWN]
    return [group for group in groups if group in largest]


def _marked(groups: GroupSummaries, group: Any, side: Side, words: FeatureWords | None) -> str:
    return _name(group, words) + (" *" if groups.is_small(group, side) else "")


def _name(group: Any, words: FeatureWords | None) -> str:
    return printable(show_as(group, words))


def _outcome(groups: GroupSummaries, side: Side) -> str:
    """Return the word for a decision, which is the same for all groups."""
    return next(iter(groups.values())).of(side).outcome
