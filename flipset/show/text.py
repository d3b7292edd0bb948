"""Explanations and summaries as plain text: lines for the terminal and for `print`.

Lines are wrapped at a width, except those that hold one value each. Every number that people compare is rounded to 3
significant digits; a value that has to be reached is written in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.boundary.printable import printable, wrapped
from flipset.plural import count
from flipset.show.grounds import BASIS_WORDS, given, proved_given
from flipset.show.words import OUTCOMES, decision_text, enough_text, joined, score_text, share_text
from flipset.values.change import show, show_brief

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flipset.proof import Proof
    from flipset.results.data import ExplanationData
    from flipset.results.summary import Summary
    from flipset.values.change import Counterfactual

OPTIONS_SHOWN = 10
"""Options of one explanation that the text lists."""

FEATURES_SHOWN = 30
"""Features that a claim lists."""

VALUES_SHOWN = 6
"""Values of one feature that a claim lists."""

SUMMARY_FEATURES = 12
"""Features that a summary lists, the most frequent first."""

REASONS_TITLE = "Each of these alone is enough to keep the decision, whatever else changes"


# --- one explanation --------------------------------------------------------------------------------------------------


def tell(e: ExplanationData, width: int = 80) -> Iterator[str]:
    """Yield the text of one explanation."""
    yield f"Decision: {decision_text(e)}"
    yield ""
    if e.flipsets:
        yield from _options(e, width)
        yield ""
    if any(e.reasons):
        yield from wrapped(f"Reasons. {REASONS_TITLE}:", width)
        for reason in e.reasons:
            yield from wrapped(joined(reason), width, "  * ", "    ")
        yield ""
    if e.held_fixed:
        yield from wrapped(f"Held fixed: {', '.join(e.held_fixed)}", width, further="  ")
        yield ""
    yield from wrapped(proved(e), width)
    yield f"{count(e.queries, 'query')} in {count(e.rounds, 'call')} of the model."


def _options(e: ExplanationData, width: int) -> Iterator[str]:
    shown = sorted(e.counterfactuals, key=lambda one: one.cost)
    if e.objective == "cost" and e.status == "optimal":
        # The cheapest counterfactual of all need not be of one of the smallest options.
        is_cheapest = all(one.cost_at_least == one.cost for one in shown)
        what = "The cheapest" if is_cheapest else "The cheapest found before the limit was reached,"
        yield f"{headline(e)}."
        yield f"{what} with at most {count(e.max_changes or 0, 'change')}:"
    elif e.status == "optimal":
        yield f"{headline(e)}{', cheapest first' if len(shown) > 1 else ''}:"
    else:
        yield f"{headline(e)}:"
    for n, one in enumerate(shown[:OPTIONS_SHOWN], start=1):
        yield f"  {n}. {option_facts(one, e)}"
        for change in one.changes:
            yield from wrapped(str(change), width, " " * 6, " " * 8)
    if len(shown) > OPTIONS_SHOWN:
        yield f"  ... and {len(shown) - OPTIONS_SHOWN:,} more"


def option_facts(one: Counterfactual, e: ExplanationData) -> str:
    """Say the cost of an option and its score: "cost 0.159, new score 51.9 %"."""
    return f"cost {cost_text(one.cost, one.cost_at_least)}, new score {score_text(one.score, e)}"


def cost_text(cost: float, at_least: float) -> str:
    """Write a cost; where it is not proved to be the least, say how much less it could be."""
    text = show_brief(float(cost))
    if at_least == cost:
        return text
    bound = f", which is at least {show_brief(float(at_least))}" if at_least > 0 else ""
    return f"{text} (may not be the lowest{bound})"


def replaying(proof: Proof) -> str:
    """Say how many queries replay a proof: "3 queries replay"."""
    n = len(proof.questions)
    return f"{count(n, 'query')} {'replays' if n == 1 else 'replay'}"


def proved(e: ExplanationData) -> str:
    """Say what is proved, and under which condition."""
    replay = f" ({replaying(e.proof)} the proof)" if e.features else ""
    if e.status == "optimal":
        return f"{proved_given(e)}: {_all_options(e)}{replay}."
    if e.status == "none" and not e.features:
        return f"{no_option(e)} Every feature is held fixed or has its best allowed value already."
    if e.status == "none":
        return f"{no_option(e)} {proved_given(e, 'This is proved')}{replay}."
    if e.status == "unproved":
        pairs = len(e.contradictions)
        pairs_found = f"{count(pairs, 'contradiction')} {'was' if pairs == 1 else 'were'} found"
        return (
            f"NOT PROVED: the model contradicts the directions of the space ({pairs_found}). "
            f"{'Smaller options' if e.flipsets else 'Options'} may exist."
        )
    bounds = _bounds(e)
    so_far = f"{proved_given(e, 'Proved so far')}: {bounds}." if bounds else "Nothing is proved yet."
    return f"The search reached its limit{'' if e.flipsets else ' and has found no option yet'}. {so_far}"


def headline(e: ExplanationData) -> str:
    """Say the answer in one line: how many changes are enough, or that there is no option."""
    if e.flipsets:
        return enough_text(e) + (" so far" if e.status == "stopped" else "")
    return no_option(e).removesuffix(".") if e.status == "none" else "No option has been found yet"


def no_option(e: ExplanationData) -> str:
    """Say that there is no option: none at all, or none with so few changes as were searched."""
    if e.lower is None:
        return f"No allowed change leads to {OUTCOMES.other(e.decision)}."
    few = "single change" if e.lower == 2 else f"combination of fewer than {e.lower:,} changes"
    return f"No allowed {few} leads to {OUTCOMES.other(e.decision)}."


def _all_options(e: ExplanationData) -> str:
    """Say that an explanation lists all smallest options."""
    if e.proof.weights is not None:
        return "no option weighs less, and there is no other option of this weight"
    size = len(e.flipsets[0])
    if size == 1:
        return "there is no other option with a single change"
    fewer = "no single change is enough" if size == 2 else f"fewer than {size:,} changes are not enough"
    return f"{fewer}, and there is no other option with {size:,} changes"


def _bounds(e: ExplanationData) -> str:
    """Say what is known about the number of changes, or their weight; nothing where nothing is."""
    if e.proof.weights is not None:
        least = [] if e.lower is None else [f"every option weighs at least {e.lower:,}"]
        return ", and ".join(least + ([] if e.upper is None else [f"one weighs {e.upper:,}"]))
    verb = "is" if e.lower == 1 else "are"
    lower = [] if e.lower is None else [f"at least {count(e.lower, 'change')} {verb} needed"]
    upper = [] if e.upper is None else [f"{e.upper:,} {'is' if e.upper == 1 else 'are'} enough"]
    return ", and ".join(lower + upper)


# --- the claim of an explanation, before it is verified ---------------------------------------------------------------


def tell_claim(e: ExplanationData, width: int = 80) -> Iterator[str]:
    """Yield what an explanation claims and about which row: a person must know this before relying on it."""
    yield f"Decision: {decision_text(e)}"
    yield from wrapped(f"Claim: {claim(e)}.", width, further="  ")
    yield "Features that may change, and how far:"
    columns = list(e.row)
    for unit in e.moves.units[:FEATURES_SHOWN]:
        ends = [", ".join(_cell(columns[i], value, unit.name) for i, value in option.end) for option in unit.options]
        more = f" or {len(ends) - VALUES_SHOWN:,} more" if len(ends) > VALUES_SHOWN else ""
        before = f" {show(e.row[columns[unit.columns[0]]])} →" if len(unit.columns) == 1 else " →"
        text = f"{unit.name}:{before} {' or '.join(ends[:VALUES_SHOWN])}{more}"
        yield from wrapped(text, width, "  ", "    ")
    if len(e.moves.units) > FEATURES_SHOWN:
        yield f"  ... and {len(e.moves.units) - FEATURES_SHOWN:,} more"
    if not e.moves.units:
        yield "  none"
    if e.held_fixed:
        yield from wrapped(f"Held fixed: {', '.join(e.held_fixed)}", width, further="  ")
    if condition := given(e):
        yield from wrapped(f"Condition: {condition.removeprefix('given that ')}.", width, further="  ")


def _cell(column: str, value: object, unit: str) -> str:
    return show(value) if column == unit else f"{column} = {show(value)}"


def claim(e: ExplanationData) -> str:
    """Say what an explanation claims, without the full stop."""
    if e.status == "optimal":
        listed = "; ".join(joined(names) for names in e.flipsets[:4])
        more = f"; {len(e.flipsets) - 4:,} more" if len(e.flipsets) > 4 else ""
        return f"the smallest options are these, and there are no others of this size: {listed}{more}"
    if e.status == "none":
        text = no_option(e).removesuffix(".")
        return text[0].lower() + text[1:]
    if e.status == "unproved":
        return "none, because the model contradicts the directions of the space"
    return f"the search reached its limit; {_bounds(e) or 'nothing is proved yet'}"


# --- many explanations ------------------------------------------------------------------------------------------------


def tell_summary(summary: Summary, width: int = 80, labels: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the summary of a table of explanations; `labels` are names of features for people."""
    yield count(summary.rows, "row") + (f", {summary.errors:,} could not be explained" if summary.errors else "")
    explained = summary.rows - summary.errors
    lines = [(count(size, "change"), rows) for size, rows in summary.sizes.items()]
    for words, share in (("no option", summary.no_way_out), ("limit reached", summary.stopped)):
        lines += [(words, round(share * explained))] if share else []
    longest = max((len(words) for words, _ in lines), default=0)
    for words, rows in lines:
        noun = "row " if rows == 1 else "rows"
        yield f"  {words:<{longest}} {rows:>8,} {noun} {share_text(rows / explained):>8}"
    if summary.contradicted:
        verb = "contradicts" if summary.contradicted == 1 else "contradict"
        against = f"{count(summary.contradicted, 'row')} {verb} the directions: check them, and which class counts."
        yield from wrapped(against, width)
    yield from _bases(summary, width)
    yield from _frequencies(summary, width, labels or {})


def _bases(summary: Summary, width: int) -> Iterator[str]:
    """Say what the proofs of a table rest on, at their weakest feature."""
    if summary.bases:
        parts = [f"{BASIS_WORDS[basis]} ({count(rows, 'row')})" for basis, rows in summary.bases.items()]
        yield from wrapped(f"Proofs rest on directions that are, at the weakest: {'; '.join(parts)}.", width)


def _frequencies(summary: Summary, width: int, labels: Mapping[str, str]) -> Iterator[str]:
    if not summary.in_some:
        return
    yield from wrapped("Rows with the feature in a smallest option (in brackets: in every one):", width)
    shown = list(summary.in_some)[:SUMMARY_FEATURES]
    names = {name: printable(labels.get(name, name)) for name in shown}
    longest = max(8, min(max(map(len, names.values())), width - 41))
    for name, label in names.items():
        share = summary.in_some[name]
        always = f"({share_text(summary.in_all.get(name, 0.0))})"
        yield f"  {label[:longest]:<{longest}} {share_text(share):>7} {always:>9} {'█' * round(share * 20)}".rstrip()


def tell_groups(groups: Mapping[str, Summary]) -> Iterator[str]:
    """Yield a comparison of groups, one line each."""
    names = [printable(show(group)) for group in groups]
    longest = max([5, *map(len, names)])
    yield f"{'group':<{longest}}    rows  no option  average changes"
    for name, summary in zip(names, groups.values(), strict=True):
        average = f"{summary.mean_size:.2f}" if summary.sizes else ""
        line = f"{name:<{longest}} {summary.rows:>7,} {share_text(summary.no_way_out):>10} {average:>16}"
        yield line.rstrip()
