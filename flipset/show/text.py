"""An explanation in words, for people: lines of plain text."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from flipset.plural import count
from flipset.values.change import show, show_threshold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flipset.proof import Proof
    from flipset.results.data import ExplanationData
    from flipset.results.summary import Summary

WAYS_SHOWN = 10

MOVES_SHOWN = 30
"""Features whose range a claim shows."""

OPTIONS_SHOWN = 6
"""Options of one feature that a claim shows."""


def tell(e: ExplanationData, width: int = 80) -> Iterator[str]:
    """Tell one explanation."""
    yield f"Decision: {'yes' if e.decision else 'no'} (score {e.score:.4g}, yes needs {needed_score(e.threshold)})"
    yield ""
    yield from _ways(e, width)
    if any(e.reasons):
        yield ""
        yield "What holds the decision in place. While all of one line stay as they are,"
        yield "nothing else helps; every way out breaks every line:"
        for reason in e.reasons:
            yield from _bullet(", ".join(reason), width)
    if e.held_fixed:
        yield ""
        yield from wrap(f"Held fixed: {', '.join(e.held_fixed)}", width, subsequent_indent="  ")
    yield ""
    yield from wrap(proved(e), width)
    yield f"Rows asked: {e.queries:,}, in {count(e.rounds, 'call')} of the model."


def _ways(e: ExplanationData, width: int) -> Iterator[str]:
    if not e.flipsets:
        if e.status == "none" and e.lower is not None:
            yield f"No way with fewer than {e.lower} changes turns it."
        else:
            none = {"none": "Nothing that may change turns it.", "stopped": "No way to turn it was seen yet."}
            yield none.get(e.status, "No way to turn it was found.")
        return
    size = len(e.flipsets[0])
    ways = len(e.flipsets)
    least = "The least that would turn it" if e.status == "optimal" else "What was seen to turn it"
    if e.objective == "cost" and e.status == "optimal":
        yield f"{least}: {count(size, 'change')}, in {count(ways, 'way')}."
        within = f"with at most {count(e.max_changes or 0, 'change')}"
        is_cheapest = all(one.cost_at_least == one.cost for one in e.counterfactuals)
        yield f"Cheapest of all {within}:" if is_cheapest else f"Cheapest seen {within}, before the budget ran out:"
    else:
        yield f"{least}: {count(size, 'change')}, in {count(ways, 'way')}, cheapest first."
    shown = sorted(e.counterfactuals, key=lambda one: one.cost)
    for n, one in enumerate(shown[:WAYS_SHOWN], start=1):
        is_cheapest = one.cost_at_least == one.cost
        bound = "" if is_cheapest else f" (a cheaper one may exist, at {one.cost_at_least:.2f} or more)"
        yield f"  {n}. cost {one.cost:.2f}{bound}, score {one.score:.4g}"
        for change in one.changes:
            yield from wrap(str(change), width, initial_indent=" " * 6, subsequent_indent=" " * 8)
    if len(shown) > WAYS_SHOWN:
        yield f"  ... and {len(shown) - WAYS_SHOWN} more"


def _bullet(text: str, width: int) -> list[str]:
    return wrap(text, width, initial_indent="  * ", subsequent_indent="    ")


def replaying(proof: Proof) -> str:
    """Say how many questions replay a proof, as "3 questions replay"."""
    n = len(proof.questions)
    return f"{count(n, 'question')} {'replays' if n == 1 else 'replay'}"


def proved(e: ExplanationData) -> str:
    """Say what is certain."""
    replay = f" ({replaying(e.proof)} the proof)" if e.features else ""
    if e.status == "optimal":
        return f"Proved: nothing smaller turns it, and there is no other way of this size{replay}."
    if e.status == "none" and e.lower is not None:
        return f"Proved: at least {_needed(e.lower)} needed, if there is a way at all{replay}."
    if e.status == "none":
        return f"Proved: there is no way out within what may change{replay}."
    if e.status == "unproved":
        pairs = count(len(e.contradictions), "contradiction")
        return f"NOT PROVED: the model contradicts the directions ({pairs} met); something smaller may turn it."
    lower = "" if e.lower is None else f" at least {_needed(e.lower)} needed"
    upper = "" if e.upper is None else f"{' and' if lower else ''} {e.upper} {'is' if e.upper == 1 else 'are'} enough"
    return f"Stopped by the budget. Proved so far:{lower}{upper or ''}."


def tell_claim(e: ExplanationData, width: int = 80) -> Iterator[str]:
    """Tell what an explanation claims, and about what: what a person must know before believing that it holds."""
    yield f"Decision: {'yes' if e.decision else 'no'} (score {e.score:.6g})"
    yield f"Threshold: yes needs {needed_score(e.threshold)}"
    yield from wrap(f"Claim: {claim(e)}.", width, subsequent_indent="  ")
    yield "What could move, and how far:"
    columns = list(e.row)
    for unit in e.moves.units[:MOVES_SHOWN]:
        ends = [", ".join(_cell(columns[i], value, unit.name) for i, value in option.end) for option in unit.options]
        more = f" or {len(ends) - OPTIONS_SHOWN:,} more" if len(ends) > OPTIONS_SHOWN else ""
        before = f" {show(e.row[columns[unit.columns[0]]])} →" if len(unit.columns) == 1 else " →"
        text = f"{unit.name}:{before} {' or '.join(ends[:OPTIONS_SHOWN])}{more}"
        yield from wrap(text, width, initial_indent="  ", subsequent_indent="    ")
    if len(e.moves.units) > MOVES_SHOWN:
        yield f"  ... and {len(e.moves.units) - MOVES_SHOWN:,} more"
    if not e.moves.units:
        yield "  nothing"
    if e.held_fixed:
        yield from wrap(f"Held fixed: {', '.join(e.held_fixed)}", width, subsequent_indent="  ")


def needed_score(threshold: float) -> str:
    """Say which scores mean yes."""
    shown = show_threshold(threshold)
    return shown if shown.startswith("more than") else f"at least {shown}"


def _cell(column: str, value: object, unit: str) -> str:
    return show(value) if column == unit else f"{column} = {show(value)}"


def _needed(changes: float) -> str:
    return f"{count(changes, 'change')} {'is' if changes == 1 else 'are'}"


def claim(e: ExplanationData) -> str:
    """Say what is claimed, and to be confirmed."""
    if e.status == "optimal":
        shown = ", or ".join(" with ".join(names) for names in e.flipsets[:4])
        more = f", or one of {len(e.flipsets) - 4:,} more" if len(e.flipsets) > 4 else ""
        return f"the least that turns the decision is {shown}{more}, and nothing else as small"
    if e.status == "none" and e.lower is not None:
        return f"at least {count(e.lower, 'change')} {_are(e.lower)} needed, if there is a way at all"
    if e.status == "none":
        return "nothing that may change turns the decision"
    if e.status == "unproved":
        return "nothing: the model contradicted itself"
    bounds = [
        *([] if e.lower is None else [f"at least {count(e.lower, 'change')} {_are(e.lower)} needed"]),
        *([] if e.upper is None else [f"{count(e.upper, 'change')} {_are(e.upper)} enough"]),
    ]
    return f"the search was stopped; {' and '.join(bounds) or 'nothing is known yet'}"


def _are(n: float) -> str:
    return "is" if n == 1 else "are"


def tell_summary(summary: Summary, width: int = 80) -> Iterator[str]:
    """Tell what a table of explanations says together."""
    yield count(summary.rows, "row") + (f", {summary.errors:,} could not be explained" if summary.errors else "")
    explained = summary.rows - summary.errors
    for size, rows in summary.sizes.items():
        changes, noun = ("change " if size == 1 else "changes"), ("row " if rows == 1 else "rows")
        yield f"  {size} {changes} {rows:>8,} {noun}  {_share(rows, explained)}"
    if summary.no_way_out:
        yield f"  no way out within what was allowed: {summary.no_way_out:.1%} of the rows"
    if summary.stopped:
        yield f"  stopped    {summary.stopped:.1%} of the rows"
    yield from _frequencies("In a smallest way out of so many rows (in brackets: in all of them)", summary, width)


def _frequencies(title: str, summary: Summary, width: int, most: int = 12) -> Iterator[str]:
    if not summary.in_some:
        return
    yield f"{title}:"
    longest = min(max(map(len, summary.in_some)), width - 30)
    for name, share in list(summary.in_some.items())[:most]:
        bar = "█" * round(share * 20)
        yield f"  {name[:longest]:<{longest}} {share:>6.1%} ({summary.in_all.get(name, 0.0):.1%}) {bar}".rstrip()


def tell_groups(groups: Mapping[str, Summary]) -> Iterator[str]:
    """Compare groups, a line each."""
    longest = max([5, *(len(show(group)) for group in groups)])
    yield f"{'group':<{longest}}    rows  no way out  mean changes"
    for group, summary in groups.items():
        yield f"{show(group):<{longest}} {summary.rows:>7,} {summary.no_way_out:>11.1%} {summary.mean_size:>13.2f}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""
