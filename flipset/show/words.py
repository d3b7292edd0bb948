"""The words that every output for people shares: outcomes, scores and thresholds, lists, shares.

Terminal, HTML report, plots, notebook and page take these texts from here, so that the same thing reads the same
everywhere. `OUTCOMES` is the one place that names the two decisions; the API and the JSON say True and False.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from flipset.values.change import show, show_apart, show_percent, threshold_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.results.data import ExplanationData


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The words for the two decisions, as adjectives and as nouns.

    Attributes
    ----------
    approved, declined
        The decision where the score reaches the threshold, and where it does not.
    approval, refusal
        The same as nouns: "No allowed change leads to approval".
    """

    approved: str = "approved"
    declined: str = "declined"
    approval: str = "approval"
    refusal: str = "refusal"

    def of(self, decision: bool) -> str:
        """Return the word for a decision."""
        return self.approved if decision else self.declined

    def other(self, decision: bool) -> str:
        """Return the noun for the decision that a row does not have."""
        return self.refusal if decision else self.approval


OUTCOMES = Outcomes()


def decision_text(e: ExplanationData) -> str:
    """Say the decision, its score, and the score that approval needs.

    The text reads "declined (score 14.6 %; approval needs at least 50 %)".
    """
    return f"{OUTCOMES.of(e.decision)} ({scores_text(e)})"


def scores_text(e: ExplanationData) -> str:
    """Say the score, and the score that approval needs."""
    return f"score {score_text(e.score, e)}; {OUTCOMES.approval} needs {needed_text(e)}"


def needed_text(e: ExplanationData) -> str:
    """Say which scores mean approval: "at least 50 %" or "more than 50 %"."""
    write = show_percent if are_probabilities(e) else show
    below = threshold_below(e.threshold)
    return f"at least {write(e.threshold)}" if below is None else f"more than {write(below)}"


def score_text(score: float, e: ExplanationData) -> str:
    """Write a score with 3 significant digits, or as many as it takes to see on which side of the threshold it is."""
    if are_probabilities(e):
        return f"{show_apart(score * 100, e.threshold * 100)} %"
    return show_apart(float(score), e.threshold)


def are_probabilities(e: ExplanationData) -> bool:
    """Say whether the scores of an explanation read as probabilities.

    They do where all of them and the threshold lie between 0 and 1. Scores that are only 0 and 1 are labels.
    """
    return read_as_probabilities([e.score, *(one.score for one in e.counterfactuals)], e.threshold)


def read_as_probabilities(scores: Sequence[float], threshold: float) -> bool:
    """Say whether these scores read as probabilities, as `are_probabilities` has it."""
    is_label = all(score in (0, 1) for score in scores)
    return 0 < threshold < 1 and all(isfinite(score) and 0 <= score <= 1 for score in scores) and not is_label


def enough_text(e: ExplanationData) -> str:
    """Say how many changes are enough and how many options there are: "2 changes are enough; there are 6 options"."""
    sizes = sorted({len(names) for names in e.flipsets})
    # With weights, options of the same total weight may have different numbers of changes.
    changes = f"{sizes[0]:,} change" if sizes == [1] else f"{' or '.join(f'{size:,}' for size in sizes)} changes"
    n = len(e.flipsets)
    options = "there is 1 option" if n == 1 else f"there are {n:,} options"
    return f"{changes} {'is' if sizes == [1] else 'are'} enough; {options}"


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
