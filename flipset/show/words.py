"""The words that every output for people shares: outcomes, scores and thresholds, lists, shares.

Terminal, HTML report, plots, notebook and page take these texts from here, so that the same thing reads the same
everywhere. The words for columns, values, scores and outcomes are those of the space, which every explanation carries.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from flipset.plural import count
from flipset.space.words import Decision, Words, write_number
from flipset.values.change import show, show_apart, threshold_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.results.data import ExplanationData
    from flipset.space.words import NumberFormat


def plain_words(e: ExplanationData) -> Words:
    """Return words that only repeat the data, for an explanation whose own words cannot be relied on.

    Columns have their names. Where the explanation has outcomes of its own, the decision is on one side of the
    threshold, and the opposite of it is "the other decision".
    """
    if e.words.decision == Decision():
        return Words()
    nouns = ("the other decision", "this decision") if e.decision else ("this decision", "the other decision")
    return Words(Decision(outcomes=("below the threshold", "at or above the threshold"), outcome_nouns=nouns))


def decision_text(e: ExplanationData) -> str:
    """Say the decision, its score, and the score that approval needs.

    The text reads "declined (score 14.6 %; approval needs at least 50 %)".
    """
    return f"{e.outcome} ({scores_text(e)})"


def scores_text(e: ExplanationData) -> str:
    """Say the score, and which scores the favorable outcome needs."""
    about = e.words.decision
    favorable = about.noun(about.favorable == "above")
    return f"{about.score_label} {score_text(e.score, e)}; {favorable} needs {needed_text(e)}"


def needed_text(e: ExplanationData) -> str:
    """Say which scores mean the favorable outcome: "at least 50 %", "more than 50 %" or "less than 10 %"."""
    form = score_format(e)
    below = threshold_below(e.threshold)
    if e.words.decision.favorable == "below":  # a score at the threshold is not favorable
        return f"less than {_written(e.threshold, form)}" if below is None else f"at most {_written(below, form)}"
    return f"at least {_written(e.threshold, form)}" if below is None else f"more than {_written(below, form)}"


def _written(score: float, form: NumberFormat) -> str:
    return write_number(show(float(score)), form)


def score_format(e: ExplanationData) -> NumberFormat:
    """Return how the scores of an explanation are written: as the space says, or by what they look like."""
    return e.words.decision.score_format or ("percent" if are_probabilities(e) else "plain")


def score_text(score: float, e: ExplanationData) -> str:
    """Write a score with 3 significant digits, or as many as it takes to see on which side of the threshold it is."""
    form = score_format(e)
    if form == "percent":
        return f"{show_apart(score * 100, e.threshold * 100)} %"
    return write_number(show_apart(float(score), e.threshold), form)


def are_probabilities(e: ExplanationData) -> bool:
    """Say whether the scores of an explanation read as probabilities.

    They do where all of them and the threshold lie between 0 and 1. Scores that are only 0 and 1 are labels.
    """
    return read_as_probabilities([e.score, *(one.score for _, one in e.all_counterfactuals)], e.threshold)


def read_as_probabilities(scores: Sequence[float], threshold: float) -> bool:
    """Say whether these scores read as probabilities, as `are_probabilities` has it."""
    is_label = all(score in (0, 1) for score in scores)
    return 0 < threshold < 1 and all(isfinite(score) and 0 <= score <= 1 for score in scores) and not is_label


def enough_text(e: ExplanationData) -> str:
    """Say how many changes are enough and how many options there are.

    The text reads "2 changes are enough; there are 6 options". Nobody wants to lose an approval, so what would lose it
    is no option: "2 changes would lose the approval; there are 6 such combinations".
    """
    sizes = sorted({len(names) for names in e.flipsets})
    # With weights, options of the same total weight may have different numbers of changes.
    changes = f"{sizes[0]:,} change" if sizes == [1] else f"{' or '.join(f'{size:,}' for size in sizes)} changes"
    if e.is_favorable:
        such = "change" if sizes == [1] else "combination"
        return f"{changes} would {losing_text(e)}; {_shown_text(e) or _there_are(e, f'such {such}')}"
    options = _shown_text(e) or _there_are(e, "option")
    return f"{changes} {'is' if sizes == [1] else 'are'} enough; {options}"


def _there_are(e: ExplanationData, noun: str) -> str:
    """Say how many smallest options there are: "there are 6 options"."""
    n = len(e.flipsets)
    if e.status == "incomplete":
        return f"there are more than {count(n, noun)}, and not all are listed"
    return f"there {'is' if n == 1 else 'are'} {count(n, noun)}"


def losing_text(e: ExplanationData) -> str:
    """Say what happens to a favorable decision: "lose the approval"; where outcomes have no nouns, "lead to “no”"."""
    noun = e.words.decision.noun(e.decision)
    takes_article = not noun.startswith(("“", "this ", "the "))
    return f"lose the {noun}" if takes_article else f"lead to {e.words.decision.noun(not e.decision)}"


def _shown_text(e: ExplanationData) -> str:
    """Say how many options are shown, where they are not all: "3 of 6 options shown"."""
    shown, n = len(e.counterfactuals), len(e.flipsets)
    if e.max_options is None or shown >= n:
        return ""
    total = f"more than {n:,}" if e.status == "incomplete" else f"{n:,}"
    return f"{shown:,} of {total} options shown{', chosen to share few features' if e.diverse else ''}"


def labels(words: Words, names: Sequence[str]) -> list[str]:
    """Return what people call columns and groups."""
    return [words.label(name) for name in names]


def held_names(e: ExplanationData) -> list[str]:
    """Return what people call the features that were held fixed, with the reason where it is the row's own value."""
    why = e.held_because
    return [f"{e.words.label(name)} ({why[name]})" if name in why else e.words.label(name) for name in e.held_fixed]


def joined(names: Sequence[str]) -> str:
    """List names as a sentence does.

    Examples
    --------
    >>> joined(["income"]), joined(["income", "debt"]), joined(["income", "debt", "age"])
    ('income', 'income and debt', 'income, debt and age')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def share_text(share: float) -> str:
    """Write the share of some rows with one decimal, so that the shares of a list can be compared."""
    return f"{share:.1%}".replace("%", " %")


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters, with an ellipsis in place of what is left out."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
