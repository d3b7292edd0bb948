"""The results of a recheck as data: what became of each explanation on file under another model, and their summary.

A **promise holds** when the decision on the row is unchanged and every counterfactual on file still flips it. Otherwise
the person **needs a new letter**. Whether the answer is still the smallest is a separate question: a promise may hold
although its proof does not, because the new model also flips a set that the proof says does not flip.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from flipset.results.summary import write_sets
from flipset.results.to_json import dump

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flipset.results.data import ExplanationData
    from flipset.values.change import Change

FORMAT = "flipset-recheck/1"

Sets = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class RecheckedCounterfactual:
    """A counterfactual on file, and what the model says about it now.

    Attributes
    ----------
    flipset, changes
        The features that it changes, and how.
    score_before
        Its score on file.
    score
        Its score now; None if it was not asked, because the decision on the row itself has changed.
    margin
        How far the score now lies beyond the threshold, in the promised direction; negative if it falls short.
    holds
        Whether it flips the decision now; None if it was not asked.
    """

    flipset: tuple[str, ...]
    changes: tuple[Change, ...]
    score_before: float
    score: float | None = None
    margin: float | None = None
    holds: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recheck:
    """What became of one explanation on file.

    Attributes
    ----------
    row
        The number of the explanation, counted from 0.
    decision_before, score_before, threshold_before
        Those on file.
    decision, score, threshold
        Those of the model now. Everything is compared by this threshold, also where the one on file was another.
    counterfactuals
        The counterfactuals on file, in their order.
    proof_holds
        Whether every zero and every one of the proof is answered as before: then the size is proved, and that the flip
        sets are all. None if the proof was not asked, because the decision has changed or because there is none.
    size_holds
        Whether the size is still proved: every zero is answered as before, and some flip set still flips. If the
        status on file is "none", whether that is still proved; if it is "stopped", whether its lower bound is.
    changed_zeros, changed_ones
        Sets of the proof that did not flip and now do, and sets that flipped and now do not, by name.
    repaired
        The new explanation, if it was wanted and needed.
    queries
        How many queries the recheck took, those of the new explanation included.
    error
        Why the explanation could not be rechecked, or not repaired.
    """

    row: int
    threshold: float
    decision_before: bool | None = None
    score_before: float | None = None
    threshold_before: float | None = None
    decision: bool | None = None
    score: float | None = None
    counterfactuals: tuple[RecheckedCounterfactual, ...] = ()
    proof_holds: bool | None = None
    size_holds: bool | None = None
    changed_zeros: Sets = ()
    changed_ones: Sets = ()
    repaired: ExplanationData | None = None
    queries: int = 0
    error: str | None = None

    @property
    def is_checked(self) -> bool:
        """Whether the explanation could be rechecked."""
        return self.decision is not None

    @property
    def broken(self) -> tuple[RecheckedCounterfactual, ...]:
        """The counterfactuals that no longer flip the decision."""
        return tuple(one for one in self.counterfactuals if one.holds is False)

    @property
    def holds(self) -> bool:
        """Whether the promise holds: the decision is unchanged, and every counterfactual still flips it."""
        return self.is_checked and self.decision == self.decision_before and not self.broken

    @property
    def needs_new_letter(self) -> bool:
        """Whether the decision has changed, or a counterfactual no longer flips it."""
        return self.is_checked and not self.holds

    @property
    def least_margin(self) -> float | None:
        """The least margin of its counterfactuals; None if there are none, or if they were not asked."""
        return min((one.margin for one in self.counterfactuals if one.margin is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecheckSummary:
    """The summary of a recheck.

    Attributes
    ----------
    rows, errors
        The number of explanations, and of those that could not be rechecked.
    hold, new_letters
        How many promises hold, and how many people need a new letter. The two add up to `rows - errors`.
    decisions_changed
        How many of the decisions have changed.
    not_proved
        How many of the promises that hold are no longer proved to be the smallest: the new model answers some query of
        the proof differently.
    counterfactuals, broken
        How many counterfactuals were asked again, and how many of them no longer flip.
    other_thresholds
        How many explanations were made with another threshold.
    threshold
        The threshold that all are compared by; None without rows.
    repaired, not_repaired
        How many new explanations there are, and how many could not be made.
    """

    rows: int = 0
    errors: int = 0
    hold: int = 0
    new_letters: int = 0
    decisions_changed: int = 0
    not_proved: int = 0
    counterfactuals: int = 0
    broken: int = 0
    other_thresholds: int = 0
    threshold: float | None = None
    repaired: int = 0
    not_repaired: int = 0


def summarize_rechecks(rechecks: Iterable[Recheck]) -> RecheckSummary:
    """Count the results of a recheck."""
    all_ = list(rechecks)
    checked = [one for one in all_ if one.is_checked]
    asked = [one.holds for recheck in checked for one in recheck.counterfactuals if one.holds is not None]
    return RecheckSummary(
        rows=len(all_),
        errors=len(all_) - len(checked),
        hold=sum(one.holds for one in checked),
        new_letters=sum(one.needs_new_letter for one in checked),
        decisions_changed=sum(one.decision != one.decision_before for one in checked),
        not_proved=sum(one.holds and one.proof_holds is False for one in checked),
        counterfactuals=len(asked),
        broken=asked.count(False),
        other_thresholds=sum(one.threshold_before != one.threshold for one in checked),
        threshold=all_[0].threshold if all_ else None,
        repaired=sum(one.repaired is not None for one in checked),
        not_repaired=sum(one.error is not None for one in checked),
    )


COLUMNS = (
    "row", "holds", "needs_new_letter", "decision_before", "decision", "score_before", "score", "threshold_before",
    "threshold", "counterfactuals", "broken", "broken_flipsets", "least_margin", "proof_holds", "size_holds",
    "changed_zeros", "changed_ones", "repaired", "new_flipsets", "new_advice", "queries", "error",
)  # fmt: skip
"""The columns of a table of rechecks."""


def recheck_cells(one: Recheck) -> list[Any]:
    """Return the line of a recheck in a table, with the cells of `COLUMNS`."""
    asked = one.is_checked
    new = one.repaired
    advice = None if new is None or not new.counterfactuals else str(new.counterfactuals[0])
    return [
        one.row,
        one.holds if asked else None,
        one.needs_new_letter if asked else None,
        one.decision_before,
        one.decision,
        one.score_before,
        one.score,
        one.threshold_before,
        one.threshold,
        len(one.counterfactuals) if asked else None,
        len(one.broken) if asked else None,
        write_sets(counterfactual.flipset for counterfactual in one.broken),
        one.least_margin,
        one.proof_holds,
        one.size_holds,
        write_sets(one.changed_zeros),
        write_sets(one.changed_ones),
        new is not None,
        None if new is None else write_sets(new.flipsets),
        advice,
        one.queries,
        one.error,
    ]


def recheck_columns(rechecks: Iterable[Recheck]) -> dict[str, list[Any]]:
    """Return one line for each recheck, as columns."""
    lines = [recheck_cells(one) for one in rechecks]
    return {name: [line[i] for line in lines] for i, name in enumerate(COLUMNS)}


def dump_recheck(one: Recheck) -> dict[str, Any]:
    """Return a recheck as JSON holds it; the new explanation is as `Explanation.to_dict` returns it."""
    return {
        "format": FORMAT,
        "row": one.row,
        "holds": one.holds if one.is_checked else None,
        "needs_new_letter": one.needs_new_letter if one.is_checked else None,
        "decision_before": one.decision_before,
        "decision": one.decision,
        "score_before": _number(one.score_before),
        "score": _number(one.score),
        "threshold_before": one.threshold_before,
        "threshold": one.threshold,
        "counterfactuals": [_dump_counterfactual(counterfactual) for counterfactual in one.counterfactuals],
        "proof_holds": one.proof_holds,
        "size_holds": one.size_holds,
        "changed_zeros": [list(names) for names in one.changed_zeros],
        "changed_ones": [list(names) for names in one.changed_ones],
        "repaired": None if one.repaired is None else dump(one.repaired),
        "queries": one.queries,
        "error": one.error,
    }


def _dump_counterfactual(one: RecheckedCounterfactual) -> Mapping[str, Any]:
    return {
        "flipset": list(one.flipset),
        "changes": [str(change) for change in one.changes],
        "score_before": _number(one.score_before),
        "score": _number(one.score),
        "margin": _number(one.margin),
        "holds": one.holds,
    }


def _number(number: float | None) -> float | str | None:
    """Return a number as JSON has it; JSON has no infinite ones."""
    return number if number is None or isfinite(number) else str(number)
