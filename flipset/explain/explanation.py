"""`Explanation`, the result of `Explainer.explain`: the decision, the smallest flip sets, the reasons, the proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flipset.boundary.limits import MAX_BLOCK
from flipset.errors import InputError
from flipset.explain.monotonicity import read_for_moves, read_with_witnesses
from flipset.models import in_order_of, read_model, settle
from flipset.models.fingerprints import model_fingerprints
from flipset.models.most_likely import deciding_classes
from flipset.proof import STEPS
from flipset.results.basis import Fingerprints
from flipset.results.data import ExplanationData
from flipset.results.from_json import load
from flipset.results.to_json import dump, write
from flipset.results.verifying import TOLERANCE, Terms, verify_by
from flipset.show.html import fragment
from flipset.show.plots import ChangesDisplay
from flipset.show.report import explanation_html
from flipset.show.text import tell
from flipset.space import Space
from flipset.space.fingerprints import space_fingerprint
from flipset.space.reference import Reference
from flipset.values.change import show_threshold
from flipset.values.costs import check_cost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flipset.results.verification import Verification
    from flipset.values.costs import Measure


@dataclass(frozen=True, slots=True)
class Explanation(ExplanationData):
    """One decision, explained.

    Attributes
    ----------
    decision, score, threshold
        The model's score of the row, and its decision: `score >= threshold`.
    status
        "optimal": these are all smallest flip sets, proved. "none": no allowed change flips the decision, or none with
        at most `max_changes` changes, proved. "incomplete": the size is proved, but there are more flip sets of that
        size than `max_flipsets`, and not all are listed. "stopped": a budget ran out. "unproved", with `strict=False`
        only: the model contradicts the directions; the flip sets do flip, but others may be as small or smaller. "not
        asked": `only` left out this row of a table, and it was only scored.
    size
        The number of changes needed, or their weight if features have weights; None unless the status is "optimal"
        or "incomplete".
    lower, upper
        The proved bounds of the size.
    flipsets
        All smallest sets of features and groups whose change flips the decision, by name; `listed_all` says whether
        they are all. If not, those of the features with the greatest effects are listed.
    reasons
        Sets of features. Each set alone is enough to keep the decision, whatever else changes. At most as many as were
        asked for, by default 5, and at most as many as the smallest flip set has features. With `reasons="all"` those
        of the whole proof: at most 500, unless `max_flipsets=None` was given, and 100 if not all flip sets are listed.
    counterfactuals
        The cheapest row of each flip set; with `objective="cost"`, the cheapest of all with at most `max_changes`
        changes. The cheapest comes first; rows of the same cost are in the order of their flip sets.
    held_fixed
        The features and groups that were held fixed: declared so, or without direction and options, or because of the
        row's own value.
    held_because
        Those that were held fixed because of the row's own value, with the reason: "missing", "special code",
        "unknown value", or "missing input" for a column of a formula that lacks another input.
    grids
        For each column that changes in a counterfactual, the values that were considered.
    row
        The row explained.
    own_bounds
        The bounds of the row's own, by the column of the table that gave them.
    queries, rounds
        How many queries the explanation took, in how many calls of the model.
    proof
        Zeros and ones over `features`, to be checked and replayed.
    contradictions
        If unproved: pairs of rows that contradict the directions. The second row of a pair is at least as far in every
        direction as the first, and yet its score is further from the other decision.
    max_changes
        The most changes that were considered; None for no limit.
    objective
        "size" or "cost", as requested; None if a file does not say.
    basis
        For each of `features`, why the score is taken to follow its direction: "proved", "declared", "audited" or
        "assumed". The proof is complete given that it does.
    audited_pairs
        How many pairs of rows the audit compared; None unless a basis is "audited".
    contradicted
        Those of `features` whose directions the model is known not to follow: rows were found that show it. The proof
        then rests on a condition that does not hold everywhere.
    fingerprints
        What identifies the model, the space and the reference table, and the version of flipset.
    words
        What people call the columns, their values, the score and the outcomes, as the space has it.
    id
        The identifier of the row: its cells by the names of their columns; None if it has none. Explanations of equal
        answers are equal, whoever they are about.
    max_options, diverse
        The most counterfactuals that were wanted, and whether they were chosen to share few features; None for all.
    more, larger, larger_end
        How many options beyond the smallest were wanted, and those found, in order of size and then of cost. Each is
        minimal: no part of it is enough. The list ends because it has "enough", because these are "all" minimal options
        (with at most `max_changes` changes), or because a limit "stopped" it.
    curve, curve_end
        The cheapest counterfactual with at most so many changes, one number after another. The curve ends because more
        changes are "proved" not to be cheaper, at "max_changes", or because a limit "stopped" it.
    rules
        The constraints and the computed columns of the space, which of the constraints the row itself breaks, and where
        columns may stop that constraints name; None where the space has no rules.
    is_favorable, outcome
        Whether the decision is the favorable one, and the word for it.
    """

    def __repr__(self) -> str:
        size = "" if self.size is None else f", size={self.size}"
        return (
            f"<Explanation: decision={self.decision}, score={self.score:.4g}, "
            f"threshold={show_threshold(self.threshold)}, status={self.status!r}{size}, "
            f"flip sets: {len(self.flipsets):,}, reasons: {len(self.reasons):,}>"
        )

    def __str__(self) -> str:
        return "\n".join(tell(self))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists, numbers and strings; docs/explanation-json.md lists the fields."""
        return dump(self)

    def to_json(self) -> str:
        """Write everything as JSON; an explanation beyond the limits of `from_json` is an `InputError`."""
        return write(self)

    @classmethod
    def from_json(cls, text: str, *, stop: Callable[[], bool] | None = None) -> Explanation:
        """Read an explanation that `to_json` has written.

        `stop` is a function that is called now and then; when it returns True, reading ends with `NotDecided`.
        """
        return cls(**load(text, stop))

    def verify(
        self,
        model: Any,
        *,
        space: Space | None = None,
        threshold: float | None = None,
        positive: Any = None,
        decide: Literal["probability", "argmax"] = "probability",
        cost: Measure | Mapping[str, Callable[[Any, Any], float]] | None = None,
        reference: Any = None,
        identity: str | None = None,
        tolerance: float = TOLERANCE,
        max_block: int = MAX_BLOCK,
        steps: int = STEPS,
        stop: Callable[[], bool] | None = None,
    ) -> Verification:
        """Check every field, and repeat the queries of the proof; return what was checked and what is wrong.

        Parameters
        ----------
        model, positive, decide
            The model, as `Explainer` takes it. It is given arrays, or frames if it knows its columns by name.
        space
            What may change. Without it, the features that could move, the costs and the grids are taken from the
            explanation, and the result lists them as not checked. If the row was explained with `fixed` or `bounds`,
            give `space.with_changes(fixed, bounds)`, and so for `within`, `max_rise` and `max_fall`.
        threshold
            The threshold of the decision; by default the model's own. A model without one, such as a function, leaves
            the threshold unchecked.
        cost, reference, identity
            As `Explainer` takes them: what changes cost, a frame with the population and the types of the columns, and
            what identifies the model where nothing else does.
        tolerance
            How much scores may differ, because some models score a row slightly differently in another batch.
            Decisions must be the same.
        max_block
            The most queries for one set of features, where features have several options.
        steps, stop
            The most steps of all checks together, and a function that is called now and then and returns True to stop.
            In either case the result is undecided.

        Examples
        --------
        >>> from flipset import Explainer, Explanation, Feature, Space
        >>> space = Space([Feature("income", "integer", direction=+1, lower=0, upper=100)])
        >>> def approve(rows):
        ...     return rows[:, 0] >= 60
        >>> sent = Explanation.from_json(Explainer(approve, space).explain([40]).to_json())
        >>> bool(sent.verify(approve, space=space, threshold=0.5))
        True
        >>> other = sent.verify(lambda rows: rows[:, 0] >= 70, space=space)
        >>> bool(other), other.problems
        (False, ('counterfactuals[0].score: it is 1.0, and the model says 0.0', \
'counterfactuals[0].row: it does not flip the decision'))
        """
        names = tuple(self.row)
        # Scores near the threshold are put on the same side as they were for the explanation.
        positive = deciding_classes(positive, decide)
        scorer = settle(read_model(model, positive), self.threshold)
        own = threshold if threshold is not None else scorer.threshold if scorer.has_own_threshold else None
        table = None if reference is None else Reference.of(reference)
        if space is not None:
            if not isinstance(space, Space):
                raise InputError(f"space must be a flipset.Space, got {type(space).__name__}")
            space = space if table is None else space.with_reference(table)
            table = space.reference
            check_cost(cost, space.names)
        known = None if space is None else read_with_witnesses(space, scorer)
        terms = Terms(
            space=space,
            cost=cost,
            threshold=own,
            whose="the model has" if threshold is None else "threshold= says",
            monotonicity=read_for_moves(self, scorer) if known is None else known,
            contradicted=None if known is None else known.contradicted,
            own_model=model_fingerprints(scorer.endpoint or model, positive, identity),
            fingerprints=Fingerprints(
                space=None if space is None else space_fingerprint(space),
                reference=None if space is None or table is None else table.fingerprint,
            ),
            tolerance=tolerance,
            max_block=max_block,
            steps=steps,
            stop=stop,
        )
        return verify_by(self, in_order_of(scorer, names if space is None else space.names), terms, table)

    def plot(self, *, space: Space | None = None, ax: Any = None) -> ChangesDisplay:
        """Draw how far each feature moves; with the space, on its whole scale and over the population."""
        return ChangesDisplay.from_explanation(self, space).plot(ax)

    def _repr_html_(self) -> str:
        return fragment(explanation_html(self))

    def to_frame(self) -> Any:
        """Return the counterfactuals as a pandas frame, one row each: flip set, cost, score, and the new values."""
        import pandas as pd

        columns: dict[str, list[Any]] = {
            "flipset": [", ".join(one.flipset) for one in self.counterfactuals],
            "cost": [one.cost for one in self.counterfactuals],
            "score": [one.score for one in self.counterfactuals],
        }
        for name in self.row:
            columns[name] = [one.row[name] for one in self.counterfactuals]
        return pd.DataFrame(columns)
