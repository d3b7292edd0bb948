"""`Explainer`: a model, a space, and the explanation of one row's decision."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from flipset.advice import Advisor
from flipset.asking import Asking
from flipset.engine import guided_search
from flipset.errors import InputError, NotMonotone
from flipset.explanation import Explanation, Frontier
from flipset.flipsets import Limits, read_count, solve
from flipset.moves import Moves, find_moves, in_order
from flipset.proof import Proof
from flipset.protocol import flips_of
from flipset.result import Flipsets
from flipset.rows import read_row
from flipset.space import Space
from flipset.space.reference import Reference
from flipset.values.costs import check_cost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flipset.values.costs import Measure

BATCH = 16
"""Rows asked together unless told otherwise: a model answers a few rows nearly as fast as one."""

MAX_BLOCK = 4_096
"""Rows that one question may be, where features have several options."""


class Explainer:
    """Explains decisions of a model that can only be asked.

    Parameters
    ----------
    predict
        Takes rows and returns one score or label each. Rows come as a frame like `reference`, types included, or,
        where there is none, as a two-dimensional array. The decision is `score >= threshold`.
    space
        What may change. It must have a feature for each column that `predict` takes, in order.
    threshold
        Where the decision turns.
    reference
        A frame with the space's columns: the population for costs and grids, and the types of the columns. A space that
        was read off a frame has one already.
    cost
        What changes cost: `share_passed` (of the reference population; the default), `range_share`, or for some
        features a function of the value before and after.

    Examples
    --------
    >>> from flipset import Explainer, Feature, Space
    >>> space = Space([
    ...     Feature("income", "integer", direction=+1, lower=0, upper=100),
    ...     Feature("debt", "integer", direction=-1, lower=0, upper=100),
    ...     Feature("age", fixed=True),
    ... ])
    >>> explainer = Explainer(lambda rows: rows[:, 0] - rows[:, 1] >= 60, space)
    >>> e = explainer.explain([40, 30, 50])
    >>> e.decision, e.flipsets
    (False, (('income',),))
    >>> print(e.counterfactuals[0])
    income: 40 → at least 90
    """

    def __init__(
        self,
        predict: Callable[[Any], Any],
        space: Space,
        *,
        threshold: float = 0.5,
        reference: Any = None,
        cost: Measure | Mapping[str, Callable[[Any, Any], float]] | None = None,
    ) -> None:
        if not callable(predict):
            raise InputError(f"predict must be a function of rows, got {type(predict).__name__}")
        if not isinstance(space, Space):
            raise InputError(f"space must be a flipset.Space, got {type(space).__name__}")
        if not isinstance(threshold, (int, float)) or not math.isfinite(threshold):
            raise InputError(f"threshold must be a finite number, got {threshold!r}")
        if reference is not None:
            space = Space(space.features, space.groups, Reference.of(reference))
        if space.reference is not None and space.reference.names != space.names:
            strange = set(space.reference.names) ^ set(space.names)
            odd = f"{min(strange)!r} is in only one of them" if strange else "their order differs"
            raise InputError(f"the reference must have the columns of the space, in order: {odd}")
        check_cost(cost, space.names)
        self.predict = predict
        self.space = space
        self.threshold = threshold
        self.cost = cost

    def explain(
        self,
        row: Any,
        *,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        max_changes: int | None = None,
        objective: Literal["size", "cost"] = "size",
        max_queries: int | None = None,
        max_seconds: float | None = None,
        batch: int = BATCH,
        max_block: int = MAX_BLOCK,
        reasons: bool = True,
        values: bool = True,
    ) -> Explanation:
        """Explain the decision on one row.

        Parameters
        ----------
        row
            A mapping, a series, a list, an array, or a frame of one row.
        fixed, bounds
            Features to hold fixed, and bounds for some, for this row only.
        max_changes
            Leave sets of more features alone.
        objective
            "size": the cheapest values for every smallest flip set. "cost": the cheapest values of all, with at most
            `max_changes` changes, or one more than the smallest number where that is not given.
        max_queries, max_seconds
            Stop after so many rows asked, or so long; the result says what is proved by then.
        batch
            How many questions to ask together at most.
        max_block
            How many rows one question may be, where features have several options.
        reasons
            False saves the questions that make every reason minimal.
        values
            False saves the questions that find the least values: features then stand at their best ones.
        """
        space = self.space.with_changes(fixed, bounds)
        limits = Limits(batch, max_queries, max_seconds, reasons)
        if max_changes is not None:
            max_changes = read_count("max_changes", max_changes)
        if objective not in ("size", "cost"):
            raise InputError(f'objective must be "size" or "cost", got {objective!r}')
        asking = Asking(
            self.predict,
            space,
            read_row(row, space.names),
            self.threshold,
            max_queries=max_queries,
            max_seconds=max_seconds,
        )
        moves = find_moves(space, asking.row, raise_score=not asking.decision)
        moves.check_block(max_block)
        found = _find_sets(asking, moves, limits, max_changes)
        advisor = Advisor(asking, moves, self.cost, batch)
        minimal = found.status == "optimal"
        advise = advisor.for_flipset if values else advisor.at_the_ends
        advice = [advise(flips_of(flipset), minimal=minimal) for flipset in found.flipsets]
        if objective == "cost" and found.status == "optimal":
            most = len(found.flipsets[0]) + 1 if max_changes is None else max_changes
            advice = [advisor.cheapest(most, advice)]
        return Explanation(
            decision=asking.decision,
            score=asking.score,
            threshold=self.threshold,
            status=found.status,
            size=found.size,
            lower=found.lower,
            upper=found.upper,
            flipsets=tuple(moves.names(flips_of(flipset)) for flipset in found.flipsets),
            reasons=tuple(moves.names(flips_of(reason)) for reason in found.certificates),
            counterfactuals=tuple(map(advisor.tell, advice)),
            held_fixed=moves.held_fixed,
            grids=advisor.grids(advice),
            row=dict(zip(space.names, asking.row, strict=True)),
            queries=len(asking.scores),
            rounds=asking.rounds,
            proof=found.proof,
            moves=moves,
        )

    def verify(self, explanation: Explanation) -> bool:
        """Check the proof by combinatorics, then ask the model its questions again, and all counterfactuals.

        That the values are the cheapest is not part of the proof.
        """
        row = tuple(explanation.row.values())
        asking = Asking(self.predict, self.space, row, self.threshold)
        proof, moves = explanation.proof, explanation.moves

        def flips(sets: Sequence[frozenset[int]]) -> list[float]:
            return asking.blocks(moves, [flips_of(features) for features in sets])

        whole = explanation.status != "stopped" and (explanation.flipsets or explanation.lower is None)
        proved = proof.check() if whole else _at_least(explanation.lower, proof.lower())
        others = [
            in_order([(i, c.row[name]) for i, name in enumerate(self.space.names) if c.row[name] != row[i]])
            for c in explanation.counterfactuals
        ]
        return (
            proved
            and asking.decision == explanation.decision
            and (not moves.units or proof.confirm(flips))
            and all(margin >= 0 for margin in (asking.margins(others) if others else ()))
        )

    def frontier(
        self,
        row: Any,
        flipset: Iterable[str],
        *,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        batch: int = BATCH,
    ) -> Frontier:
        """Return all least pairs of values for two features that flip the decision together: the staircase.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature(name, "integer", direction=+1, lower=0, upper=4) for name in "ab"])
        >>> explainer = Explainer(lambda rows: rows[:, 0] * rows[:, 1] >= 4, space)
        >>> explainer.frontier([0, 0], ["a", "b"]).points
        ((1, 4), (2, 2), (4, 1))
        """
        space = self.space.with_changes(fixed, bounds)
        asking = Asking(self.predict, space, read_row(row, space.names), self.threshold)
        moves = find_moves(space, asking.row, raise_score=not asking.decision)
        names = tuple(flipset)
        flips = moves.flips(names)
        if asking.blocks(moves, [flips])[0] < 0:
            raise InputError(f"changing {' and '.join(map(repr, names))} does not change the decision on this row")
        choice, points = Advisor(asking, moves, self.cost, batch).frontier(flips)
        return Frontier(
            features=tuple(path.feature.name for _, path in choice.paths),
            before=tuple(path.before for _, path in choice.paths),
            points=tuple(tuple(value for _, value in choice.row(point)) for point in points),
            queries=len(asking.scores),
        )


def _find_sets(asking: Asking, moves: Moves, limits: Limits, max_changes: int | None) -> Flipsets:
    """Find the smallest sets of units, in their numbers."""
    d = len(moves.units)
    if d == 0:
        proof = Proof(1, (1,), ())
        return Flipsets("none", None, None, None, (), (), queries=1, rounds=1, proof=proof)
    weights = [unit.weight for unit in moves.units]
    weighted = len(set(weights)) > 1
    if weighted and max_changes is not None:
        raise InputError("max_changes counts changes and weights weigh them: use one of the two")
    try:
        return solve(
            partial(asking.blocks, moves),
            d,
            partial(guided_search, at_most=max_changes),
            Limits(limits.batch, reasons=limits.reasons),
            weights=weights if weighted else None,
            answered={0: -1.0},
            at_most=max_changes,
        )
    except NotMonotone as error:
        smaller, larger = (moves.names(flips_of(side)) for side in (error.smaller, error.larger))
        raise NotMonotone(frozenset(smaller), frozenset(larger)) from None


def _at_least(claimed: float | None, proved: float | None) -> bool:
    """Say whether what a partial proof shows about the size is as much as was claimed."""
    return claimed is None or (proved is not None and proved >= claimed)
