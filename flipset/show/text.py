"""Explanations as plain text: lines for the terminal and for `print`.

Lines are wrapped at a width, except those that hold one value each. Every number that people compare is rounded to 3
significant digits; a value that has to be reached is written in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.boundary.printable import wrapped
from flipset.plural import count
from flipset.show.change_lines import change_lines
from flipset.show.grounds import given, proved_given
from flipset.show.more_options import tell_curve, tell_larger
from flipset.show.words import decision_text, enough_text, held_names, joined, labels, losing_text, score_text
from flipset.space.row_id import case_text, is_known
from flipset.values.change import show_as, show_brief

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flipset.proof import Proof
    from flipset.results.data import ExplanationData
    from flipset.space.moves import Unit
    from flipset.space.told_rules import ToldRules
    from flipset.values.change import Counterfactual

OPTIONS_SHOWN = 10
"""Options of one explanation that the text lists."""

REASONS_SHOWN = 5
"""Reasons of one explanation that the text lists."""

REASONS_LISTED = 100
"""Where all reasons are wanted and there are too many, an explanation lists at least this many."""

FEATURES_SHOWN = 30
"""Features that a claim lists, and features held fixed that a text lists."""

RULES_SHOWN = 8
"""Constraints that a text lists."""

VALUES_SHOWN = 6
"""Values of one feature that a claim lists."""

REASONS_TITLE = "Each of these alone is enough to keep the decision, whatever else changes"


# --- one explanation --------------------------------------------------------------------------------------------------


def tell(e: ExplanationData, width: int = 80) -> Iterator[str]:
    """Yield the text of one explanation."""
    if is_known(e.id) and e.id is not None:
        yield from wrapped(f"Case: {case_text(e.id)}", width, further="  ")
    yield from wrapped(f"Decision: {decision_text(e)}", width, further="  ")
    yield ""
    if e.status == "not asked":
        yield from wrapped(proved(e), width)
        return
    if e.flipsets:
        yield from _options(e, width)
        yield ""
    for part in (tell_larger, tell_curve):
        if lines := list(part(e, option_facts, width)):
            yield from [*lines, ""]
    if any(e.reasons):
        yield from _reasons(e, width)
    if e.held_fixed:
        names, more = held_names(e), len(e.held_fixed) - FEATURES_SHOWN
        names = [*names[:FEATURES_SHOWN], *([f"{more:,} more"] if more > 0 else [])]
        yield from wrapped(f"Held fixed: {', '.join(names)}", width, further="  ")
        yield ""
    if e.rules is not None and e.rules.constraints:
        yield from wrapped(kept_rules([one.text for one in e.rules.constraints]), width)
        if e.rules.broken:
            yield from wrapped(broken_rules(e.rules.broken), width)
        yield ""
    yield from wrapped(proved(e), width)
    yield f"{count(e.queries, 'query')} in {count(e.rounds, 'call')} of the model."


def _reasons(e: ExplanationData, width: int) -> Iterator[str]:
    yield from wrapped(f"Reasons. {REASONS_TITLE}:", width)
    for reason in e.reasons[:REASONS_SHOWN]:
        yield from wrapped(joined(labels(e.words, reason)), width, "  * ", "    ")
    if len(e.reasons) > REASONS_SHOWN:
        yield f"  ... and {len(e.reasons) - REASONS_SHOWN:,} more"
    elif note := reasons_note(e):
        yield from wrapped(note, width)
    yield ""


def reasons_note(e: ExplanationData) -> str:
    """Say how to see more reasons, if the proof has more than those that are listed; otherwise nothing."""
    listed, proved = len(e.reasons), len(e.proof.zeros)
    if not listed or listed == proved:
        return ""
    if listed >= REASONS_LISTED:  # all were wanted, and these are too many to list
        return f"Showing {listed:,} of {count(proved, 'reason')} of the proof."
    return f'Showing {count(listed, "reason")}; reasons="all" lists those of the whole proof.'


def _options(e: ExplanationData, width: int) -> Iterator[str]:
    shown = e.counterfactuals
    first = "closest first" if e.is_favorable else "cheapest first"
    if e.objective == "cost" and e.status in ("optimal", "incomplete"):
        # The cheapest counterfactual of all need not be of one of the smallest options.
        is_cheapest = all(one.cost_at_least == one.cost for one in shown)
        what = "The cheapest" if is_cheapest else "The cheapest found before the limit was reached,"
        yield f"{headline(e)}."
        yield f"{what} with at most {count(e.max_changes or 0, 'change')}:"
    elif e.status == "optimal":
        yield from wrapped(f"{headline(e)}{f', {first}' if len(shown) > 1 else ''}:", width)
    elif e.status == "incomplete":
        yield from wrapped(f"{headline(e)}. Of those listed, the {first}:", width)
    else:
        yield f"{headline(e)}:"
    for n, one in enumerate(shown[:OPTIONS_SHOWN], start=1):
        yield f"  {n}. {option_facts(one, e)}"
        yield from change_lines(one, width)
    if len(shown) > OPTIONS_SHOWN:
        yield f"  ... and {len(shown) - OPTIONS_SHOWN:,} more"


def option_facts(one: Counterfactual, e: ExplanationData) -> str:
    """Say the cost of an option and its score: "cost 0.159, new score 51.9 %"."""
    label = e.words.decision.score_label
    return f"cost {cost_text(one.cost, one.cost_at_least)}, new {label} {score_text(one.score, e)}"


def cost_text(cost: float, at_least: float) -> str:
    """Write a cost; where it is not proved to be the least, say how much less it could be."""
    text = show_brief(float(cost))
    if at_least == cost:
        return text
    bound = f", which is at least {show_brief(float(at_least))}" if at_least > 0 else ""
    return f"{text} (may not be the lowest{bound})"


def kept_rules(texts: Sequence[str]) -> str:
    """Say which constraints options keep: an answer is about the rows that keep them."""
    more = f"; and {len(texts) - RULES_SHOWN:,} more" if len(texts) > RULES_SHOWN else ""
    return f"Only rows that keep the constraints are considered: {'; '.join(texts[:RULES_SHOWN])}{more}."


def broken_rules(texts: Sequence[str]) -> str:
    """Say that the row itself does not keep some constraints."""
    which = "this constraint" if len(texts) == 1 else "these constraints"
    return f"The row itself does not keep {which}, and no option makes that worse: {'; '.join(texts)}."


def told_rules(told: ToldRules | None) -> list[tuple[str, list[str]]]:
    """Return what there is of rules, each kind with a title: constraints, those that the row breaks, formulas."""
    if told is None:
        return []
    formulas = {**told.derived, **told.follows}
    kinds = [
        ("Constraints", [one.text for one in told.constraints]),
        ("Constraints that the row itself does not keep, and that no option makes worse", list(told.broken)),
        ("Computed columns", [f"{name} = {formula or 'a function'}" for name, formula in formulas.items()]),
    ]
    return [(title, texts) for title, texts in kinds if texts]


def replaying(proof: Proof) -> str:
    """Say how many queries replay a proof: "3 queries replay"."""
    n = len(proof.questions)
    return f"{count(n, 'query')} {'replays' if n == 1 else 'replay'}"


def proved(e: ExplanationData) -> str:
    """Say what is proved, and under which condition."""
    if e.status == "not asked":
        other = e.words.decision.outcome(not e.decision)
        return f"Not asked: this row was scored, and only {other} rows were explained."
    replay = f" ({replaying(e.proof)} the proof)" if e.features else ""
    if e.status == "optimal":
        return f"{proved_given(e)}: {_all_options(e)}{replay}."
    if e.status == "incomplete":
        return f"{proved_given(e)}: {_size_only(e)}{replay}. Not all options are listed."
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
    if e.status == "not asked":
        return "Not asked"
    return no_option(e).removesuffix(".") if e.status == "none" else "No option has been found yet"


def no_option(e: ExplanationData) -> str:
    """Say that there is no option: none at all, or none with so few changes as were searched."""
    few = "change" if e.lower is None else "single change"
    if e.lower is not None and e.lower != 2:
        few = f"combination of fewer than {e.lower:,} changes"
    if e.is_favorable:
        return f"No allowed {few} would {losing_text(e)}."
    return f"No allowed {few} leads to {e.words.decision.noun(not e.decision)}."


def _all_options(e: ExplanationData) -> str:
    """Say that an explanation lists all smallest options."""
    if e.proof.weights is not None:
        return "no option weighs less, and there is no other option of this weight"
    size = len(e.flipsets[0])
    if e.is_favorable:
        return _all_combinations(size, losing_text(e))
    if size == 1:
        return "there is no other option with a single change"
    fewer = "no single change is enough" if size == 2 else f"fewer than {size:,} changes are not enough"
    return f"{fewer}, and there is no other option with {size:,} changes"


def _all_combinations(size: int, losing: str) -> str:
    """Say that an explanation of a favorable decision lists everything of its size that would lose it."""
    if size == 1:
        return f"no other single change would {losing}"
    fewer = f"no single change would {losing}" if size == 2 else f"fewer than {size:,} changes would not {losing}"
    return f"{fewer}, and there is no other combination of {size:,} changes that would"


def _size_only(e: ExplanationData) -> str:
    """Say that no option is smaller than those listed."""
    if e.proof.weights is not None:
        return "no option weighs less"
    size = len(e.flipsets[0])
    if e.is_favorable:
        fewer = "no single change" if size == 2 else f"no combination of fewer than {count(size, 'change')}"
        return f"{fewer} would {losing_text(e)}"
    return "no single change is enough" if size == 2 else f"fewer than {count(size, 'change')} are not enough"


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
    if is_known(e.id) and e.id is not None:
        yield from wrapped(f"Case: {case_text(e.id)}", width, further="  ")
    yield from wrapped(f"Decision: {decision_text(e)}", width, further="  ")
    yield from wrapped(f"Claim: {claim(e)}.", width, further="  ")
    yield "Features that may change, and how far:"
    columns = list(e.row)
    for unit in e.moves.units[:FEATURES_SHOWN]:
        ends = [", ".join(_cell(e, columns[i], value, unit) for i, value in option.end) for option in unit.options]
        more = f" or {len(ends) - VALUES_SHOWN:,} more" if len(ends) > VALUES_SHOWN else ""
        column = columns[unit.columns[0]]
        before = f" {show_as(e.row[column], e.words.of(column))} →" if len(unit.columns) == 1 else " →"
        text = f"{e.words.label(unit.name)}:{before} {' or '.join(ends[:VALUES_SHOWN])}{more}"
        yield from wrapped(text, width, "  ", "    ")
    if len(e.moves.units) > FEATURES_SHOWN:
        yield f"  ... and {len(e.moves.units) - FEATURES_SHOWN:,} more"
    if not e.moves.units:
        yield "  none"
    if e.held_fixed:
        yield from wrapped(f"Held fixed: {', '.join(held_names(e))}", width, further="  ")
    for title, texts in told_rules(e.rules):
        beyond = [f"{len(texts) - FEATURES_SHOWN:,} more"] if len(texts) > FEATURES_SHOWN else []
        yield from wrapped(f"{title}: {'; '.join([*texts[:FEATURES_SHOWN], *beyond])}", width, further="  ")
    if condition := given(e):
        yield from wrapped(f"Condition: {condition.removeprefix('given that ')}.", width, further="  ")


def _cell(e: ExplanationData, column: str, value: object, unit: Unit) -> str:
    words = e.words.of(column)
    text = show_as(value, words, with_unit=True)
    return text if column == unit.name else f"{words.label} = {text}"


def claim(e: ExplanationData) -> str:
    """Say what an explanation claims, without the full stop."""
    if e.status == "optimal":
        listed = "; ".join(joined(labels(e.words, names)) for names in e.flipsets[:4])
        more = f"; {len(e.flipsets) - 4:,} more" if len(e.flipsets) > 4 else ""
        return f"the smallest options are these, and there are no others of this size: {listed}{more}"
    if e.status == "incomplete":
        listed = "; ".join(joined(labels(e.words, names)) for names in e.flipsets[:4])
        more = f"; {len(e.flipsets) - 4:,} more" if len(e.flipsets) > 4 else ""
        return f"{_size_only(e)}; these options are, and others of this size that are not listed: {listed}{more}"
    if e.status == "none":
        text = no_option(e).removesuffix(".")
        return text[0].lower() + text[1:]
    if e.status == "unproved":
        return "none, because the model contradicts the directions of the space"
    if e.status == "not asked":
        return "none, because the row was scored and not explained"
    return f"the search reached its limit; {_bounds(e) or 'nothing is proved yet'}"
