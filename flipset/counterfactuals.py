"""`find_counterfactuals`: the flip sets of one row, for a model on plain arrays and bounds on each feature.

First one query asks the model about the row itself. Its answer decides in which direction each feature helps. The
search then asks about sets of features moved to their best allowed values; features that cannot move are left out of
it, and put back into the result.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from flipset.drivers import run
from flipset.drivers.abandon import within
from flipset.errors import InputError, NotMonotone
from flipset.models.scores import at_own_precision, margins, read_scores
from flipset.proof import Proof
from flipset.protocol import ask, everything, flips_of
from flipset.search.guided import guided_search
from flipset.search.result import Flipsets, in_order
from flipset.search.solve import MAX_FLIPSETS, FindAll, Limits, solving
from flipset.search.wanted_reasons import REASONS, read_reasons
from flipset.space.reduction import Reduction, reduce_row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from flipset.protocol import Flips

    Model: TypeAlias = Callable[[NDArray[np.float64]], ArrayLike]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Counterfactuals(Flipsets):
    """`Flipsets` for the features of a row, with the rows that have the other decision.

    Attributes
    ----------
    decision, score, threshold
        The model's score for the row itself, the threshold, and the decision `score >= threshold`.
    rows
        For each flip set, the row with the features of the set at their best allowed values. Each of these rows has the
        other decision.
    held_fixed
        Features with direction 0, which were not moved.
    reduction
        The translation from sets of features to rows.
    """

    decision: bool
    score: float
    threshold: float
    rows: NDArray[np.float64]
    held_fixed: tuple[int, ...]
    reduction: Reduction

    def verify(self, model: Model) -> bool:
        """Check the proof without the model, then ask `model` all of its queries again."""

        def flips(sets: Sequence[frozenset[int]]) -> Sequence[float]:
            rows = self.reduction.rows_of_features([flips_of(features) for features in sets])
            return margins(_scores(model, rows, self.threshold), self.threshold, rise=not self.decision)

        check = self.proof.check_size if self.status == "incomplete" else self.proof.check
        return bool(check(len(self.reduction.x))) and self.proof.confirm(flips)


def find_counterfactuals(
    model: Model,
    x: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    directions: Iterable[int],
    threshold: float = 0.5,
    search: FindAll = guided_search,
    batch: int = 1,
    max_queries: int | None = None,
    max_seconds: float | None = None,
    reasons: bool | int | Literal["all"] = REASONS,
    max_flipsets: int | None = MAX_FLIPSETS,
) -> Counterfactuals:
    """Find all smallest sets of features whose change, within bounds, flips a monotone model's decision on a row.

    Parameters
    ----------
    model
        Takes rows (a 2-D array) and returns one score or label per row. The decision is `score >= threshold`.
    x, lower, upper
        The row, and the least and greatest value of each feature.
    directions
        For each feature +1 (a higher value raises the score), -1 (it lowers the score) or 0 (the score is not monotone
        in this feature, which is held fixed).
    threshold
        The score from which the decision is True.
    search, batch, max_queries, max_seconds, reasons, max_flipsets
        As for `find_flipsets`. The query about the row itself counts, and so does its time. If that query does not
        return in time, there is no result: `NotReturned` is raised.

    Raises
    ------
    InputError, OracleError, NotMonotone
        As for `find_flipsets`.

    Examples
    --------
    >>> model = lambda rows: rows[:, 0] - rows[:, 1] >= 4
    >>> result = find_counterfactuals(model, [1, 2, 0], [0, 0, 0], [5, 5, 5], directions=[+1, -1, +1])
    >>> result.decision, [sorted(s) for s in result.flipsets], result.rows.tolist()
    (False, [[0, 1]], [[5.0, 0.0, 0.0]])
    """
    limits = Limits(batch, max_queries, max_seconds, read_reasons(reasons), max_flipsets)
    if limits.max_queries == 0:
        raise InputError("max_queries must be at least 1: the first query is about the row itself")
    if not isinstance(threshold, (int, float)) or not math.isfinite(threshold):
        raise InputError(f"threshold must be a finite number, got {threshold!r}")
    signs = tuple(directions) if isinstance(directions, Iterable) else (directions,)
    # Which way features move depends on the decision, which is not known before the row is asked. Either way serves for
    # that query, since nothing is flipped in it.
    rising = reduce_row(x, lower, upper, signs, rise=True)
    began = time.monotonic()
    with within(limits.max_seconds, partial(_scores, model, threshold=threshold)) as scores:
        score = float(scores(rising.rows([0]))[0])  # a copy of the row: models may write into it
        decision = score >= threshold
        reduction = reduce_row(x, lower, upper, signs, rise=False) if decision else rising

        def oracle(batch: Sequence[Flips]) -> Sequence[float]:
            return margins(scores(reduction.rows(batch)).tolist(), threshold, rise=not decision)

        if limits.max_seconds is not None:
            limits = replace(limits, max_seconds=max(0.0, limits.max_seconds - (time.monotonic() - began)))
        flipsets = _search(reduction, search, limits, oracle)
    return Counterfactuals(
        **{field.name: getattr(flipsets, field.name) for field in fields(Flipsets)},
        decision=decision,
        score=score,
        threshold=threshold,
        rows=reduction.rows_of_features([flips_of(features) for features in flipsets.flipsets]),
        held_fixed=tuple(i for i, sign in enumerate(signs) if sign == 0),
        reduction=reduction,
    )


def _search(
    reduction: Reduction, search: FindAll, limits: Limits, oracle: Callable[[Sequence[Flips]], Sequence[float]]
) -> Flipsets:
    """Search over the features that can move, and return the result for all features of the row."""
    if not reduction.movable:
        return _nothing_can_move(len(reduction.x), limits)
    # The row itself was asked already: the empty set does not flip.
    flow = solving(len(reduction.movable), search, limits, answer=ask, answered={0: -1.0})
    try:
        flipsets = run(flow, oracle)
    except NotMonotone as error:
        raise NotMonotone(reduction.features(error.smaller), reduction.features(error.larger)) from None
    return _in_terms_of_the_row(flipsets, reduction)


def _in_terms_of_the_row(flipsets: Flipsets, reduction: Reduction) -> Flipsets:
    """Number the features as the row does. Features that cannot move join every zero, which changes nothing."""
    d = len(reduction.x)
    # They flip nothing, so a zero with them is still a zero, and without them the checker would find sets left open.
    idle = everything(d) & ~flips_of(reduction.movable)
    proof = Proof(
        d,
        tuple(reduction.spread(zero) | idle for zero in flipsets.proof.zeros),
        tuple(reduction.spread(one) for one in flipsets.proof.ones),
    )
    return replace(flipsets, flipsets=in_order(proof.ones), proof=proof)


def _nothing_can_move(d: int, limits: Limits) -> Flipsets:
    """Return the result for a row without movable features: no flip set exists, proved by the query about the row."""
    proof = Proof(d, (everything(d),), ())
    reported = None if limits.reasons else 0
    return Flipsets("none", None, None, None, (), queries=1, rounds=1, proof=proof, reasons=reported)


def _scores(model: Model, rows: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    return read_scores(lambda rows: at_own_precision(model(rows), threshold), rows)
