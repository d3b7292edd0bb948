"""Rechecks for people: the summary as lines of text, and the report as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from flipset.boundary.printable import wrapped
from flipset.plural import count
from flipset.results.rechecks import summarize_rechecks
from flipset.show.grounds import BASIS_WORDS
from flipset.show.html import facts, page, table
from flipset.show.words import joined, read_as_probabilities
from flipset.space.row_id import row_text
from flipset.values.change import show_apart, show_brief, show_threshold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flipset.results.rechecks import Recheck, RecheckedCounterfactual, RecheckSummary

MOST_LINES = 1_000
"""The most rows that a report lists; files in other formats have all of them."""


LINES_SHOWN = 20
"""The most rows that a terminal lists."""

BROKEN_SHOWN = 3
"""Options of one row that a report lists as broken."""


def tell_rechecks(summary: RecheckSummary, width: int = 80) -> Iterator[str]:
    """Yield the summary of a recheck."""
    for text in _sentences(summary):
        yield from wrapped(text, width, further="  ")


def _sentences(s: RecheckSummary) -> Iterator[str]:
    checked = s.rows - s.errors
    yield (
        f"{s.hold:,} of {count(checked, 'promise')} {'holds' if s.hold == 1 else 'hold'}; "
        f"{_people(s.new_letters)} {'needs' if s.new_letters == 1 else 'need'} a new letter."
    )
    if s.new_letters:
        others = s.new_letters - s.decisions_changed
        reasons = [f"{s.decisions_changed:,} because the decision changed"] if s.decisions_changed else []
        reasons += [f"{others:,} because an option no longer leads to the other decision"] if others else []
        yield f"New letters: {joined(reasons)}."
    if s.out_of_date:
        dated = f"{count(s.out_of_date, 'explanation')} of approved rows {_are(s.out_of_date)} out of date"
        yield (f"{dated}: approval stands, and some of what would have lost it no longer does. No letter is needed.")
    if s.counterfactuals:
        good = s.counterfactuals - s.broken
        still = f"still {'leads' if good == 1 else 'lead'} to the other decision"
        yield f"Options: {good:,} of {s.counterfactuals:,} {still}."
    yield from _limits(s)
    if s.not_proved:
        yield (
            f"Among the promises that hold, {count(s.not_proved, 'answer')} {_are(s.not_proved)} no longer proved: the "
            "options work, but a smaller one or another of the same size may exist."
        )
    yield from _still_proved(s)
    if s.other_thresholds and s.threshold is not None:
        yield (
            f"{count(s.other_thresholds, 'explanation')} {_were(s.other_thresholds)} made with another threshold. "
            f"Everything is compared by the current threshold, {show_threshold(s.threshold)}."
        )
    if s.repaired:
        yield f"{count(s.repaired, 'new explanation')} made."
    if s.not_repaired:
        yield f"{count(s.not_repaired, 'new explanation')} could not be made."
    if s.errors:
        yield f"{count(s.errors, 'explanation')} could not be rechecked."


def _limits(s: RecheckSummary) -> Iterator[str]:
    """Say what the space of today does not allow, and how many explanations have other limits."""
    if s.disallowed:
        options, rows = count(s.disallowed, "option"), count(s.disallowed_rows, "explanation")
        yield f"{options} in {rows} {_are(s.disallowed)} no longer allowed by the space, whatever the model says."
    if s.other_moves:
        yield (
            f"{count(s.other_moves, 'explanation')} {_were(s.other_moves)} made with other limits on what may change. "
            "What is called proved is proved for the limits on file."
        )


def _still_proved(s: RecheckSummary) -> Iterator[str]:
    """Say how many answers are still proved, and what that rests on in the new model."""
    left = s.hold - s.not_proved
    if not left:
        return
    is_one = len(s.bases) == 1
    parts = [BASIS_WORDS[basis] if is_one else f"{n:,} {BASIS_WORDS[basis]}" for basis, n in s.bases.items()]
    rests = f" ({'; '.join(parts)})" if parts else ""
    yield f"{count(left, 'answer')} {_are(left)} still proved, given that the new model follows the directions{rests}."


def attention_lines(rechecks: Sequence[Recheck], most: int = LINES_SHOWN, width: int = 80) -> Iterator[str]:
    """Yield a line for each row that needs attention, and why."""
    # First those that need a letter; last those whose promise holds, and which may merely have a better answer now.
    rows = sorted((one for one in rechecks if one.needs_attention), key=_urgency)
    if not rows:
        return
    yield "Rows that need attention:"
    for one in rows[:most]:
        yield from wrapped(f"row {one.row}: {_attention(one)}", width, "  ", "    ")
    if len(rows) > most:
        yield f"  and {count(len(rows) - most, 'more row')}; -o report.csv has all"


def _urgency(one: Recheck) -> tuple[bool, ...]:
    return not one.needs_new_letter, one.error is None, not one.disallowed, not one.is_out_of_date


def _attention(one: Recheck) -> str:
    """Say in one sentence what is not as it was."""
    if not one.is_checked or (one.holds and one.error is not None and one.proof_holds is not False):
        return one.error or ""
    if one.decision != one.decision_before:
        before, after = one.outcome(one.decision_before), one.outcome(one.decision)
        return f"{before} → {after} (score {_score(one.score_before, one)} → {_score(one.score, one)})"
    parts = [_broken(one)] if one.broken else []
    parts += [f"no longer allowed: {_changes(lost)} ({lost.not_allowed})" for lost in one.disallowed[:1]]
    if one.proof_holds is False and not one.broken:
        parts.append(f"no longer proved: {_changed_sets(one)}")
    return "; ".join(parts) or one.error or ""


def _broken(one: Recheck, first: str = " ", between: str = " / ") -> str:
    """Say which options no longer lead to the other decision: on one line, or each on a line of its own."""
    shown = [f"{_changes(broken)} (score now {_score(broken.score, one)})" for broken in one.broken[:BROKEN_SHOWN]]
    more = len(one.broken) - len(shown)
    shown += [f"{count(more, 'more option')}"] if more else []
    what = f"still {one.outcome(one.decision)} after" if one.is_out_of_date else "no longer enough:"
    return f"{what}{first}{between.join(shown)}"


def _changed_sets(one: Recheck) -> str:
    sets = [f"changing {joined(names)} now flips the decision" for names in one.changed_zeros]
    sets += [f"changing {joined(names)} no longer flips the decision" for names in one.changed_ones]
    return "; ".join(sets)


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def _people(n: int) -> str:
    return "1 person" if n == 1 else f"{n:,} people"


# --- HTML -------------------------------------------------------------------------------------------------------------


def report_rechecks(rechecks: Sequence[Recheck], *, asked: str, model: str, identity: str) -> str:
    """Return the report on a recheck."""
    body = [
        "<h1>Explanations, rechecked</h1>",
        facts([("Explanations", asked), ("Model", model), ("Model identity", identity)]),
        *rechecks_html(rechecks),
    ]
    return page("flipset: explanations, rechecked", body)


def rechecks_html(rechecks: Sequence[Recheck], most: int = MOST_LINES) -> Iterator[str]:
    """Yield the summary, the rows that need a new letter, those no longer proved, and those with an error."""
    for text in _sentences(summarize_rechecks(rechecks)):
        yield f"<p>{escape(text)}</p>"
    letters = [one for one in rechecks if one.needs_new_letter]
    if letters:
        yield "<h2>New letters needed</h2>"
        yield table(("row", "decision", "what changed", "new option"), [_letter(one) for one in letters[:most]])
        yield _cut(letters, most)
    dated = [one for one in rechecks if one.is_out_of_date]
    if dated:
        yield "<h2>Approved rows whose explanation is out of date</h2>"
        yield "<p>The rows are still approved, so no letter is needed.</p>"
        yield table(("row", "decision", "what changed", "new explanation"), [_letter(one) for one in dated[:most]])
        yield _cut(dated, most)
    barred = [one for one in rechecks if one.disallowed]
    if barred:
        yield "<h2>Options that the space no longer allows</h2>"
        rows = [(_name(one), _changes(lost), lost.not_allowed) for one in barred for lost in one.disallowed]
        yield table(("row", "option", "why"), rows[:most])
        yield _cut(rows, most, "option")
    outdated = [one for one in rechecks if one.holds and one.proof_holds is False]
    if outdated:
        yield "<h2>Options that work, and may no longer be the smallest</h2>"
        yield table(("row", "queries answered differently", "new option"), [_outdated(one) for one in outdated[:most]])
        yield _cut(outdated, most)
    errors = [one for one in rechecks if one.error is not None]
    if errors:
        yield "<h2>Errors</h2>"
        yield table(("row", "error"), [(_name(one), one.error or "") for one in errors[:most]])
        yield _cut(errors, most)
    kept = [one for one in rechecks if one.holds and one.least_margin is not None]
    if kept:
        kept.sort(key=lambda one: (one.least_margin or 0.0, one.row))
        yield "<h2>Promises that hold, the closest to the threshold first</h2>"
        yield table(("row", "decision", "closest option", "score then", "score now"), [_kept(one) for one in kept[:20]])
        yield _cut(kept, 20)


def _cut(rows: Sequence[object], most: int, noun: str = "row") -> str:
    left = len(rows) - most
    return f'<p class="muted">and {count(left, f"more {noun}")}; CSV and JSON lines have all.</p>' if left > 0 else ""


def _name(one: Recheck) -> str:
    """Name a row in a column that is called "row": by its identifier, or by its number alone."""
    return row_text(one.row, one.id).removeprefix("row ") if one.id is None else row_text(one.row, one.id)


def _letter(one: Recheck) -> tuple[str, ...]:
    before, after = one.outcome(one.decision_before), one.outcome(one.decision)
    if one.decision != one.decision_before:
        what = f"the decision: score {_score(one.score_before, one)} → {_score(one.score, one)}"
        return _name(one), f"{before} → {after}", what, _new_option(one)
    return _name(one), after, _broken(one, "\n", "\n"), _new_option(one)


def _outdated(one: Recheck) -> tuple[str, ...]:
    # The promise holds, so no set of the proof that flipped has stopped to, unless the model is not monotone.
    return _name(one), _changed_sets(one), _new_option(one)


def _kept(one: Recheck) -> tuple[str, ...]:
    closest = min((c for c in one.counterfactuals if c.margin is not None), key=lambda c: c.margin or 0.0)
    scores = _score(closest.score_before, one), _score(closest.score, one)
    return _name(one), one.outcome(one.decision), _changes(closest), *scores


def _changes(one: RecheckedCounterfactual) -> str:
    return "; ".join(map(str, one.changes))


def _score(score: float | None, one: Recheck) -> str:
    if score is None:
        return ""
    scores = [one.score, *(asked.score for asked in one.counterfactuals), score]
    if read_as_probabilities([float(known) for known in scores if known is not None], one.threshold):
        return f"{show_apart(score * 100, one.threshold * 100)} %"
    return show_apart(float(score), one.threshold)


def _new_option(one: Recheck) -> str:
    if one.repaired is None:
        return ""
    if not one.repaired.counterfactuals:
        return "no option" if one.repaired.status == "none" else "limit reached"
    return show_brief(str(one.repaired.counterfactuals[0]))
