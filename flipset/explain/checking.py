"""`CheckedModel`: checks on a model and on explanations of it: audits, verification, rechecks.

`Explainer` adds the explanations themselves.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from flipset.boundary.limits import MAX_BLOCK
from flipset.errors import InputError
from flipset.explain.audit import BUDGET, audit_rows
from flipset.explain.explanation import Explanation
from flipset.explain.monotonicity import DirectionBases
from flipset.explain.prepared import PreparedModel
from flipset.explain.recheck import recheck_table
from flipset.models import read_model
from flipset.proof import STEPS
from flipset.results.verifying import TOLERANCE, Terms, verify_by
from flipset.search.solve import read_count
from flipset.space.rows import read_rows, sort_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flipset.errors import FlipsetError
    from flipset.explain.audit_result import Audit
    from flipset.explain.rechecks import Rechecks
    from flipset.results.rechecks import Recheck
    from flipset.results.verification import Verification


class CheckedModel(PreparedModel):
    """A model, a space and a threshold, with checks; `Explainer` documents the arguments."""

    def verify(
        self,
        explanation: Explanation,
        *,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        within: Iterable[str] | None = None,
        max_rise: Mapping[str, Any] | None = None,
        max_fall: Mapping[str, Any] | None = None,
        tolerance: float = TOLERANCE,
        max_block: int = MAX_BLOCK,
        steps: int = STEPS,
        stop: Callable[[], bool] | None = None,
    ) -> Verification:
        """Check every field of an explanation, and repeat the queries of its proof.

        Parameters
        ----------
        explanation
            An explanation from `explain` or `Explanation.from_json`.
        fixed, bounds, within, max_rise, max_fall
            Those with which the row was explained.
        tolerance
            How much scores may differ, because some models score a row slightly differently in another batch.
            Decisions must be the same.
        max_block
            The most queries for one set of features, where features have several options.
        steps, stop
            The most steps of all checks together, and a function that is called now and then and returns True to stop.
            In either case the result is undecided.

        The features that could move, the grids, the costs and the words of every change are computed again from the
        space and the row, and compared. The proof does not show that values are the cheapest: the result lists what was
        not checked.

        Examples
        --------
        >>> from dataclasses import replace
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature("income", "integer", direction=+1, lower=0, upper=100)])
        >>> explainer = Explainer(lambda rows: rows[:, 0] >= 60, space)
        >>> e = explainer.explain([40])
        >>> bool(explainer.verify(e))
        True
        >>> explainer.verify(replace(e, held_fixed=("age",))).problems[0][:60]
        "held_fixed: the explanation has 'age', and the space nothing"
        """
        if not isinstance(explanation, Explanation):
            raise InputError(f"verify takes an Explanation, got {type(explanation).__name__}")
        space = self.space.with_changes(fixed, bounds, within=within, max_rise=max_rise, max_fall=max_fall)
        terms = Terms(
            space=space,
            cost=self.cost,
            threshold=self.threshold,
            monotonicity=self.monotonicity,
            contradicted=self.monotonicity.contradicted,
            own_model=self.own_fingerprints(),
            fingerprints=self._about(space),
            tolerance=tolerance,
            max_block=max_block,
            steps=steps,
            stop=stop,
        )
        return verify_by(explanation, self.predict, terms, self.space.reference)

    def recheck(
        self,
        explanations: Iterable[Explanation | FlipsetError],
        *,
        repair: bool = False,
        each: Callable[[Recheck], None] | None = None,
        **how: Any,
    ) -> Rechecks:
        """Recheck explanations on file against this model, which may be a newer one.

        Parameters
        ----------
        explanations
            Explanations of any model with the same columns: a list, `Explanations`, or `read_explanations(path)`. One
            that cannot be rechecked has its error in its place.
        repair
            True explains a row anew where its promise or its proof does not hold, or where the space no longer has the
            same limits for it. The search starts from the answers to the old proof. The new explanation has the flip
            sets, counterfactuals and reasons that `explain` finds; `Rechecks.write_explanations` writes them to a file.
        each
            A function that is called with each `Recheck` as soon as it is done, in any order.
        **how
            Arguments of `explain_table`, except `workers`: `progress`, limits for all rows, and for repairs what may
            change (`fixed`, `within`, `bounds`, `max_rise`, `max_fall`) and arguments of `explain`; the default of
            `batch` is 8. Unless `objective` or `max_changes` is given, both are those on file; with the objective
            "cost", no `max_changes`.

        A recheck takes one query for the row and, if the decision is unchanged, one for each counterfactual, zero and
        one on file. Where features have several options, a zero or a one takes a query for each combination of them.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature("income", "integer", direction=+1, lower=0, upper=100)])
        >>> on_file = Explainer(lambda rows: rows[:, 0] >= 60, space).explain_table([[40], [65], [70]])
        >>> rechecks = Explainer(lambda rows: rows[:, 0] >= 67, space).recheck(on_file, repair=True)
        >>> [one.holds for one in rechecks]
        [False, False, True]
        >>> print(rechecks[0].repaired.counterfactuals[0])
        income: 40 → at least 67
        """
        return self._recheck(explanations, repair=repair, each=each, **how)

    def _recheck(self, explanations: Iterable[Explanation | FlipsetError], **how: Any) -> Rechecks:
        bases = DirectionBases(self.space, self.monotonicity, partial(read_model, *self._given))
        how |= {"is_local": self.endpoint is None, "basis_of": bases.weakest}
        return recheck_table(self.space, self._job, explanations, **how)

    def audit(self, table: Any, *, budget: int = BUDGET, everything: bool = False) -> Audit:
        """Test whether the model follows the directions of the space, from the rows of a table.

        The audit makes at most `budget` queries. It lists the worst pair of rows in the wrong order for each feature.
        Features whose directions are proved from the model itself are left out, unless `everything` is True.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature("income", direction=+1, lower=0, upper=9)])
        >>> wavy = Explainer(lambda rows: rows[:, 0] % 4, space, threshold=2)
        >>> print(wavy.audit([[1.0], [6.0]]))
        12 queries: NOT MONOTONE
          income                     60.00 % of 10 pairs in order
            worst: income 2.25 → 4.5: the score falls from 2.25 to 0.5
          several together           50.00 % of 2 pairs in order
            worst: income 6.0 → 9: the score falls from 2 to 1
        """
        rows, errors = sort_out(self.space, read_rows(table, self.space.names))
        if not rows:
            raise errors[0] if errors else InputError("an audit needs at least one row to start from")
        proved = () if everything else self.monotonicity.names("proved")
        audit = audit_rows(self.space, rows, self._ask, read_count("budget", budget), proved)
        return replace(audit, left_out=tuple(map(str, errors)))
