"""Rechecks for people: the summary as lines of text, and the report as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from flipset.boundary.printable import wrapped
from flipset.plural import count
from flipset.results.rechecks import summarize_rechecks
from flipset.show.html import facts, page, table
from flipset.show.words import OUTCOMES, joined, read_as_probabilities
from flipset.values.change import show_apart, show_brief, show_threshold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flipset.results.rechecks import Recheck, RecheckedCounterfactual, RecheckSummary

MOST_LINES = 1_000
"""The most rows that a report lists; files in other formats have all of them."""


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
    if s.counterfactuals:
        good = s.counterfactuals - s.broken
        still = f"still {'leads' if good == 1 else 'lead'} to the other decision"
        yield f"Options: {good:,} of {s.counterfactuals:,} {still}."
    if s.not_proved:
        what = "1 answer is" if s.not_proved == 1 else f"{s.not_proved:,} answers are"
        yield (
            f"Among the promises that hold, {what} no longer proved: the options work, but a smaller one or another of "
            "the same size may exist."
        )
    if left := s.hold - s.not_proved:
        answers = "1 answer is" if left == 1 else f"{left:,} answers are"
        yield f"{answers} still proved, given that the new model follows the directions, too."
    if s.other_thresholds and s.threshold is not None:
        made = "explanation was" if s.other_thresholds == 1 else "explanations were"
        yield (
            f"{s.other_thresholds:,} {made} made with another threshold. Everything is compared by the current "
            f"threshold, {show_threshold(s.threshold)}."
        )
    if s.repaired:
        yield f"{count(s.repaired, 'new explanation')} made."
    if s.not_repaired:
        yield f"{count(s.not_repaired, 'new explanation')} could not be made."
    if s.errors:
        yield f"{count(s.errors, 'explanation')} could not be rechecked."


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
    outdated = [one for one in rechecks if one.holds and one.proof_holds is False]
    if outdated:
        yield "<h2>Options that work, and may no longer be the smallest</h2>"
        yield table(("row", "queries answered differently", "new option"), [_outdated(one) for one in outdated[:most]])
        yield _cut(outdated, most)
    errors = [one for one in rechecks if one.error is not None]
    if errors:
        yield "<h2>Errors</h2>"
        yield table(("row", "error"), [(str(one.row), one.error or "") for one in errors[:most]])
        yield _cut(errors, most)
    kept = [one for one in rechecks if one.holds and one.least_margin is not None]
    if kept:
        kept.sort(key=lambda one: (one.least_margin or 0.0, one.row))
        yield "<h2>Promises that hold, the closest to the threshold first</h2>"
        yield table(("row", "decision", "closest option", "score then", "score now"), [_kept(one) for one in kept[:20]])
        yield _cut(kept, 20)


def _cut(rows: Sequence[Recheck], most: int) -> str:
    left = len(rows) - most
    return f'<p class="muted">and {count(left, "more row")}; CSV and JSON lines have all.</p>' if left > 0 else ""


def _letter(one: Recheck) -> tuple[str, ...]:
    before, after = OUTCOMES.of(bool(one.decision_before)), OUTCOMES.of(bool(one.decision))
    if one.decision != one.decision_before:
        what = f"the decision: score {_score(one.score_before, one)} → {_score(one.score, one)}"
        return str(one.row), f"{before} → {after}", what, _new_option(one)
    shown = [f"{_changes(broken)} (score now {_score(broken.score, one)})" for broken in one.broken[:BROKEN_SHOWN]]
    more = len(one.broken) - len(shown)
    shown += [f"{count(more, 'more option')}"] if more else []
    return str(one.row), after, f"no longer enough: {' / '.join(shown)}", _new_option(one)


def _outdated(one: Recheck) -> tuple[str, ...]:
    # The promise holds, so no set of the proof that flipped has stopped to, unless the model is not monotone.
    sets = [*(f"{joined(names)} now flips the decision" for names in one.changed_zeros)]
    sets += [f"{joined(names)} no longer flips the decision" for names in one.changed_ones]
    return str(one.row), "; ".join(sets), _new_option(one)


def _kept(one: Recheck) -> tuple[str, ...]:
    closest = min((c for c in one.counterfactuals if c.margin is not None), key=lambda c: c.margin or 0.0)
    scores = _score(closest.score_before, one), _score(closest.score, one)
    return str(one.row), OUTCOMES.of(bool(one.decision)), _changes(closest), *scores


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
