"""The results of a recheck as data: what became of each explanation on file under another model, and their summary.

A **promise holds** when the decision on the row is unchanged and every counterfactual on file still flips it. Otherwise
the person **needs a new letter**, with one exception: for a row that was approved and still is, the counterfactuals say
what would lose the approval. If they no longer do, the explanation is out of date, and nobody was promised anything.

Two questions are separate. Whether the answer is still the smallest: a promise may hold although its proof does not,
because the new model also flips a set that the proof says does not flip. And whether the space of today still allows
what the counterfactuals change: the model may accept what nobody may be told any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from flipset.plural import count
from flipset.results.basis import BASES, Basis
from flipset.results.summary import write_sets
from flipset.results.to_json import dump, dump_id
from flipset.space.row_id import place_text
from flipset.space.words import Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flipset.results.data import ExplanationData
    from flipset.space.row_id import RowId
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
    not_allowed
        Why the space no longer allows it, such as "income is held fixed"; "" if it does, or if no space was given.
    """

    flipset: tuple[str, ...]
    changes: tuple[Change, ...]
    score_before: float
    score: float | None = None
    margin: float | None = None
    holds: bool | None = None
    not_allowed: str = ""


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
    basis
        Where the proof holds, the weakest basis on which the new model is taken to follow the directions that the proof
        needs; None if the proof does not hold, or needs none.
    same_moves
        Whether the space lets the same features move, to the same best values, as when the explanation was made. None
        if no space was given, or if the decision has changed.
    repaired
        The new explanation, if it was wanted and needed.
    queries
        How many queries the recheck took, those of the new explanation included.
    error
        Why the explanation could not be rechecked, or not repaired.
    words
        What people call the columns and the outcomes.
    id
        The identifier of the row, if the file has it.
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
    basis: Basis | None = None
    same_moves: bool | None = None
    repaired: ExplanationData | None = None
    queries: int = 0
    error: str | None = None
    words: Words = field(default_factory=Words, compare=False, repr=False)
    id: RowId | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"<Recheck: {self}>"

    def __str__(self) -> str:
        """Say what became of the explanation, in one line."""
        name = place_text(self.row, self.id)
        if not self.is_checked:
            return f"{name}: {self.error}"
        error = "" if self.error is None else f"; {self.error}"
        if self.decision != self.decision_before:
            before, now = self.outcome(self.decision_before), self.outcome(self.decision)
            return f"{name}: a new letter is needed, because the decision changed: {before} → {now}{error}"
        if self.broken:
            broken = f"{len(self.broken):,} of {count(len(self.counterfactuals), 'option')}"
            return f"{name}: a new letter is needed, because {broken} no longer lead to the other decision{error}"
        proof = "; it is no longer proved" if self.proof_holds is False else ""
        return f"{name}: the promise holds{proof}{error}"

    def outcome(self, decision: bool | None) -> str:
        """Return the word for a decision, before or now."""
        return self.words.decision.outcome(bool(decision))

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
        """Whether the decision has changed, or a counterfactual of a declined row no longer flips it."""
        return self.is_checked and not self.holds and not self.is_out_of_date

    @property
    def is_out_of_date(self) -> bool:
        """Whether the row was approved and still is, and a counterfactual no longer loses the approval."""
        return bool(self.decision_before and self.decision and self.broken)

    @property
    def disallowed(self) -> tuple[RecheckedCounterfactual, ...]:
        """The counterfactuals that the space no longer allows."""
        return tuple(one for one in self.counterfactuals if one.not_allowed)

    @property
    def needs_attention(self) -> bool:
        """Whether anything about this explanation is not as it was."""
        return not self.holds or self.proof_holds is False or bool(self.disallowed) or self.error is not None

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
    hold, new_letters, out_of_date
        How many promises hold, how many people need a new letter, and how many explanations of approved rows no longer
        hold although the rows are still approved. The three add up to `rows - errors`.
    decisions_changed
        How many of the decisions have changed.
    not_proved
        How many of the promises that hold are no longer proved to be the smallest: the new model answers some query of
        the proof differently.
    bases
        The number of promises that hold and are still proved, by the weakest basis of the new model's directions.
    counterfactuals, broken
        How many counterfactuals were asked again, and how many of them no longer flip.
    disallowed, disallowed_rows
        How many counterfactuals the space no longer allows, and how many explanations have such.
    other_moves
        How many explanations were made with other limits on what may change.
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
    out_of_date: int = 0
    decisions_changed: int = 0
    not_proved: int = 0
    bases: Mapping[Basis, int] = field(default_factory=dict)
    counterfactuals: int = 0
    broken: int = 0
    disallowed: int = 0
    disallowed_rows: int = 0
    other_moves: int = 0
    other_thresholds: int = 0
    threshold: float | None = None
    repaired: int = 0
    not_repaired: int = 0


def summarize_rechecks(rechecks: Iterable[Recheck]) -> RecheckSummary:
    """Count the results of a recheck."""
    all_ = list(rechecks)
    checked = [one for one in all_ if one.is_checked]
    proved = [one.basis for one in checked if one.holds and one.proof_holds]
    asked = [one.holds for recheck in checked for one in recheck.counterfactuals if one.holds is not None]
    return RecheckSummary(
        rows=len(all_),
        errors=len(all_) - len(checked),
        hold=sum(one.holds for one in checked),
        new_letters=sum(one.needs_new_letter for one in checked),
        out_of_date=sum(one.is_out_of_date for one in checked),
        decisions_changed=sum(one.decision != one.decision_before for one in checked),
        not_proved=sum(one.holds and one.proof_holds is False for one in checked),
        bases={basis: proved.count(basis) for basis in BASES if basis in proved},
        counterfactuals=len(asked),
        broken=asked.count(False),
        disallowed=sum(len(one.disallowed) for one in checked),
        disallowed_rows=sum(bool(one.disallowed) for one in checked),
        other_moves=sum(one.same_moves is False for one in checked),
        other_thresholds=sum(one.threshold_before != one.threshold for one in checked),
        threshold=all_[0].threshold if all_ else None,
        repaired=sum(one.repaired is not None for one in checked),
        not_repaired=sum(one.error is not None for one in checked),
    )


COLUMNS = (
    "row", "holds", "needs_new_letter", "decision_before", "decision", "score_before", "score", "threshold_before",
    "threshold", "counterfactuals", "broken", "broken_flipsets", "least_margin", "disallowed", "disallowed_why",
    "same_moves", "proof_holds", "size_holds", "basis", "changed_zeros", "changed_ones", "repaired",
    "new_flipsets", "new_advice", "queries", "error",
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
        len(one.disallowed) if asked else None,
        "; ".join(dict.fromkeys(counterfactual.not_allowed for counterfactual in one.disallowed)),
        one.same_moves,
        one.proof_holds,
        one.size_holds,
        one.basis,
        write_sets(one.changed_zeros),
        write_sets(one.changed_ones),
        new is not None,
        None if new is None else write_sets(new.flipsets),
        advice,
        one.queries,
        one.error,
    ]


def id_names(rechecks: Iterable[Recheck]) -> tuple[str, ...]:
    """Return the names of the columns that identify rows, in a table of rechecks."""
    names = dict.fromkeys(name for one in rechecks if one.id is not None for name in one.id)
    # Somebody else's file may have any name; a column of the table comes first.
    return tuple(name for name in names if name not in COLUMNS)


def recheck_names(ids: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a table of rechecks; identifiers follow the number of the row."""
    return COLUMNS[0], *ids, *COLUMNS[1:]


def recheck_lines(rechecks: Iterable[Recheck], ids: Sequence[str]) -> Iterator[list[Any]]:
    """Yield the lines of a table of rechecks."""
    for one in rechecks:
        number, *cells = recheck_cells(one)
        own = one.id or {}
        yield [number, *(own.get(name) for name in ids), *cells]


def recheck_columns(rechecks: Sequence[Recheck]) -> dict[str, list[Any]]:
    """Return one line for each recheck, as columns."""
    ids = id_names(rechecks)
    lines = list(recheck_lines(rechecks, ids))
    return {name: [line[i] for line in lines] for i, name in enumerate(recheck_names(ids))}


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
        "basis": one.basis,
        "same_moves": one.same_moves,
        "changed_zeros": [list(names) for names in one.changed_zeros],
        "changed_ones": [list(names) for names in one.changed_ones],
        "repaired": None if one.repaired is None else dump(one.repaired),
        "queries": one.queries,
        "error": one.error,
        **({} if one.id is None else {"id": dump_id(one.id)}),
    }


def _dump_counterfactual(one: RecheckedCounterfactual) -> Mapping[str, Any]:
    return {
        "flipset": list(one.flipset),
        "changes": [str(change) for change in one.changes],
        "score_before": _number(one.score_before),
        "score": _number(one.score),
        "margin": _number(one.margin),
        "holds": one.holds,
        "not_allowed": one.not_allowed or None,
    }


def _number(number: float | None) -> float | str | None:
    """Return a number as JSON has it; JSON has no infinite ones."""
    return number if number is None or isfinite(number) else str(number)
