"""The summary of a table as plain text: the declined rows first, then the approved ones, never both together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.boundary.printable import printable, wrapped
from flipset.plural import count
from flipset.results.summary import SIDES
from flipset.show.grounds import BASIS_WORDS
from flipset.show.words import share_text, shortened
from flipset.values.change import show_brief

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flipset.results.summary import Side, Summary, TableSummary

SUMMARY_FEATURES = 12
"""Features that a summary lists, the most frequent first."""

STATUS_WORDS = {"none": "no option", "stopped": "limit reached", "unproved": "not proved"}
"""What is said of rows without a proved number of changes."""


def tell_summary(summary: TableSummary, width: int = 80, labels: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the summary of a table of explanations; `labels` are names of features for people."""
    yield from wrapped(rows_text(summary), width, further="  ")
    if summary.contradicted:
        verb = "contradicts" if summary.contradicted == 1 else "contradict"
        against = f"{count(summary.contradicted, 'row')} {verb} the directions: check them, and which class counts."
        yield from wrapped(against, width)
    yield from _bases(summary, width)
    for side in SIDES:
        if summary.of(side).asked:
            yield ""
            yield from _side(summary, side, width, labels or {})


def rows_text(summary: TableSummary) -> str:
    """Say how many rows there are, with which decisions: "9 rows: 4 declined, 5 approved"."""
    if not summary.rows:
        return "0 rows"
    parts = [f"{summary.of(side).rows:,} {summary.of(side).outcome}" for side in SIDES]
    failed = summary.errors - summary.not_begun
    parts += [f"{summary.not_asked:,} scored only"] if summary.not_asked else []
    parts += [f"{failed:,} could not be explained"] if failed else []
    parts += [f"{summary.not_begun:,} not begun before the limit"] if summary.not_begun else []
    return f"{count(summary.rows, 'row')}: {', '.join(parts)}"


def side_title(summary: TableSummary, side: Side) -> str:
    """Say which rows a part is about: "Declined rows (4), by the number of changes that lead to approval"."""
    one, about = summary.of(side), summary.decision
    # `noun` takes whether the score reaches the threshold, of the decision that the changes lead to.
    other = about.noun((about.favorable == "above") == (side == "declined"))
    return f"{one.outcome.capitalize()}: {count(one.asked, 'row')}, by the number of changes that lead to {other}"


def _side(summary: TableSummary, side: Side, width: int, labels: Mapping[str, str]) -> Iterator[str]:
    one = summary.of(side)
    yield from wrapped(f"{side_title(summary, side)}:", width, further="  ")
    lines = [(count(size, "change"), rows) for size, rows in one.sizes.items()]
    lines += [(words, one.statuses[status]) for status, words in STATUS_WORDS.items() if one.statuses[status]]
    longest = max((len(words) for words, _ in lines), default=0)
    for words, rows in lines:
        noun = "row " if rows == 1 else "rows"
        yield f"  {words:<{longest}} {rows:>8,} {noun} {share_text(rows / one.asked):>8}"
    if one.with_cost:
        yield from wrapped(_cost_text(one), width, further="  ")
    yield from _frequencies(one, width, labels)


def _cost_text(one: Summary) -> str:
    if one.has_all_costs:
        return f"Average cost of the cheapest option: {show_brief(one.mean_cost)}"
    return cost_unknown(one.with_cost, one.sized, one.outcome)


def cost_unknown(known: int, rows: int, outcome: str) -> str:
    """Say why no average cost is shown: the rows where a cost is proved are not like the others."""
    of = f"{known:,} of the {count(rows, f'{outcome} row')} with a known number of changes"
    return f"The cost of the cheapest option is proved for {of}, so no average is shown."


def _bases(summary: TableSummary, width: int) -> Iterator[str]:
    """Say what the proofs of a table rest on, at their weakest feature."""
    if summary.bases:
        parts = [f"{BASIS_WORDS[basis]} ({count(rows, 'row')})" for basis, rows in summary.bases.items()]
        yield from wrapped(f"Proofs rest on directions that are, at the weakest: {'; '.join(parts)}.", width)


def _frequencies(one: Summary, width: int, labels: Mapping[str, str]) -> Iterator[str]:
    if not one.in_some:
        return
    proved, of = one.statuses["optimal"], ""
    if proved < one.asked:
        of = f", of the {count(proved, 'row')} whose smallest options are all known"
    yield from wrapped(f"Rows with the feature in a smallest option (in brackets: in every one){of}:", width)
    shown = list(one.in_some)[:SUMMARY_FEATURES]
    names = {name: printable(labels.get(name, name)) for name in shown}
    longest = max(8, min(max(map(len, names.values())), width - 41))
    for name, label in names.items():
        share = one.in_some[name]
        always = f"({share_text(one.in_all.get(name, 0.0))})"
        name_text, bar = f"{shortened(label, longest):<{longest}}", "█" * round(share * 20)
        yield f"  {name_text} {share_text(share):>7} {always:>9} {bar}".rstrip()
