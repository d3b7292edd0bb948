"""`Explainer`: a model, a space, and the explanation of one row's decision."""

from __future__ import annotations

from collections import deque
from copy import copy
from typing import TYPE_CHECKING, Any, Literal

from flipset.audit import BUDGET, audit_rows
from flipset.defaults import space_of, threshold_of
from flipset.drivers import run, stream
from flipset.errors import InputError, Interrupted
from flipset.explaining import (
    BATCH,
    MAX_BLOCK,
    VALUE_QUERIES,
    Request,
    check_request,
    explaining,
    going_through,
    tracing_frontier,
)
from flipset.explanations import Explanations
from flipset.flipsets import read_count
from flipset.known import Known
from flipset.layers import Tally
from flipset.models import in_order_of, read_model
from flipset.progress import reporting
from flipset.rows import ask_rows, check_row, read_row, read_rows
from flipset.scores import read_scores
from flipset.space import Space
from flipset.space.reference import Reference
from flipset.together import MAX_ROWS, WIDTH, Piecework
from flipset.values.costs import check_cost
from flipset.verifying import TOLERANCE, verifying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from flipset.audit import Audit
    from flipset.change import Frontier
    from flipset.errors import FlipsetError
    from flipset.explanation import Explanation
    from flipset.journal import Journal
    from flipset.moves import Cells
    from flipset.rows import Row
    from flipset.space.feature import Value
    from flipset.values.costs import Measure


def _again(
    model: Any, space: Space, threshold: float, positive: Any, cost: Any, journal: Journal | None = None
) -> Explainer:
    return Explainer(model, space, threshold=threshold, positive=positive, cost=cost, journal=journal)


class Explainer:
    """Explains decisions of a model that can only be asked.

    Parameters
    ----------
    model
        A function that takes rows and returns one score or label each; a fitted estimator of scikit-learn (pipelines
        too), XGBoost, LightGBM or CatBoost; a session of ONNX Runtime, a PyTorch module, or a pyfunc model of MLflow.
        Rows come as a frame like `reference`, types included, or, where there is none, as a two-dimensional array; a
        model that was fitted on named columns is given frames.
    space
        What may change. It must have a feature for each column that the model takes. A frame instead of a space is read
        with the directions that the model was fitted with: what has none is held fixed.
    threshold
        The decision is `score >= threshold`. By default 0.5, or for an estimator of two classes where its own decision
        turns; with more classes, more than half of the probability; a regressor needs one.
    positive
        For a classifier the class, or the classes, whose probability is the score; of two the second by default. For
        other models that return several columns the number of the one that is the score, and for one that returns
        labels the label that counts.
    reference
        A frame with the space's columns: the population for costs and grids, and the types of the columns. A space that
        was read off a frame has one already.
    cost
        What changes cost: `share_passed` (of the reference population; the default), `range_share`, or for some
        features a function of the value before and after.
    journal
        A `Journal`: every answer is written down before it is used, and what is in it is not asked again. Questions
        answered from it count as asked in explanations and budgets.

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
        model: Any,
        space: Space | Any,
        *,
        threshold: float | None = None,
        positive: Any = None,
        reference: Any = None,
        cost: Measure | Mapping[str, Callable[[Any, Any], float]] | None = None,
        journal: Journal | None = None,
    ) -> None:
        scorer = read_model(model, positive)
        if not isinstance(space, Space):
            space = space_of(space, scorer)
        if reference is not None:
            space = Space(space.features, space.groups, Reference.of(reference))
        if space.reference is not None and space.reference.names != space.names:
            strange = set(space.reference.names) ^ set(space.names)
            odd = f"{min(strange)!r} is in only one of them" if strange else "their order differs"
            raise InputError(f"the reference must have the columns of the space, in order: {odd}")
        check_cost(cost, space.names)
        self._made_of = model, positive, journal
        self.space = space
        self.threshold = threshold_of(threshold, scorer)
        self.cost = cost
        self.predict = in_order_of(scorer, space.names)
        if journal is not None:
            journal.bind(space, positive)
            self.predict = journal.before(self.predict)

    def __reduce__(self) -> tuple[Any, ...]:
        model, positive, journal = self._made_of
        return _again, (model, self.space, self.threshold, positive, self.cost, journal)

    def through(self, wrap: Callable[[Callable[[Any], Any]], Callable[[Any], Any]]) -> Explainer:
        """Return the same explainer with its model behind something: a lock, a counter, a way to stop it."""
        other = copy(self)
        other.predict = wrap(self.predict)
        return other

    def scores(self, table: Any) -> list[float]:
        """Return what the model says to the rows of a table, one score each.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature("income", direction=+1, lower=0, upper=9)])
        >>> Explainer(lambda rows: rows[:, 0] / 10, space).scores([[1.0], [6.0]])
        [0.1, 0.6]
        """
        rows = [check_row(self.space, row) for row in read_rows(table, self.space.names)]
        return self._ask([(row, ()) for row in rows]) if rows else []

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
        value_queries: int | None = VALUE_QUERIES,
        strict: bool = True,
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
        value_queries
            How many rows to look at for the values of one flip set. Where that is not enough, as may be from four
            features on, the counterfactual is the cheapest seen, and `cost_at_least` says what is proved. None: no end.
        strict
            False goes on where answers contradict the directions: what was said first stands, and the result is marked
            "unproved", with the rows in `contradictions`. True raises `NotMonotone` with the two rows.
        """
        space = self.space.with_changes(fixed, bounds)
        request = Request(
            max_changes=max_changes,
            objective=objective,
            max_queries=max_queries,
            max_seconds=max_seconds,
            batch=batch,
            max_block=max_block,
            reasons=reasons,
            values=values,
            value_queries=value_queries,
            strict=strict,
        )
        check_request(space, request)
        cells = read_row(row, space.names)
        scouted = self._piecework(space, request).scout_alone(cells)
        given = self.threshold, self.cost, request
        return run(explaining(space, cells, *given, scouted=scouted), self._oracle(cells))

    def iter_flipsets(
        self,
        row: Any,
        *,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        batch: int = BATCH,
        max_block: int = MAX_BLOCK,
    ) -> Iterator[tuple[str, ...]]:
        """Yield all minimal flip sets by name, smallest first, asking the model only as far as you read.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature(name, "binary", direction=+1) for name in "abc"])
        >>> explainer = Explainer(lambda rows: (rows[:, 0] == 1) | (rows[:, 1:].sum(axis=1) == 2), space)
        >>> list(explainer.iter_flipsets([0, 0, 0]))
        [('a',), ('b', 'c')]
        """
        space = self.space.with_changes(fixed, bounds)
        cells = read_row(row, space.names)
        found: deque[tuple[str, ...]] = deque()
        flow = going_through(space, cells, self.threshold, found.append, read_count("batch", batch), max_block)
        return stream(flow, self._oracle(cells), found)

    def verify(self, explanation: Explanation, *, tolerance: float = TOLERANCE) -> bool:
        """Check what is claimed against the proof, and ask the model the proof's questions again.

        Counterfactuals are asked again too. That their values are the cheapest is not part of the proof, and what could
        move, and how far, is taken from the explanation. Decisions must be the same, scores within the tolerance.
        """
        if explanation.threshold != self.threshold:
            return False
        row = read_row(explanation.row, self.space.names)
        return run(verifying(explanation, tolerance), self._oracle(row))

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
        cells = read_row(row, space.names)
        return run(
            tracing_frontier(space, cells, tuple(flipset), self.threshold, read_count("batch", batch)),
            self._oracle(cells),
        )

    def explain_table(
        self,
        table: Any,
        *,
        progress: bool | Callable[[int, int, int], None] = False,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        width: int = WIDTH,
        max_rows: int = MAX_ROWS,
        workers: int = 1,
        each: Callable[[int, Explanation | FlipsetError], None] | None = None,
        **request: Any,
    ) -> Explanations:
        """Explain the decisions on all rows of a table, in lock-step: every round is one call of the model.

        Parameters
        ----------
        table
            A frame with the space's columns, or an array with its columns in order.
        progress
            True shows a bar on standard error. A function is told the rows done, all rows, and the questions asked.
        fixed, bounds
            As in `explain`, for all rows.
        width
            How many rows are under way at a time.
        max_rows
            How many rows the model is given in one call.
        workers
            How many processes to use. The results are the same, in order; each process has its own copy of the model,
            on one thread where that can be set, so the model must be one that can be pickled.
        each
            A function to be given the number and the result of every row as soon as it is there, in any order.
        **request
            What `explain` takes beside: `max_changes`, `objective`, budgets for each row, `batch` and so on.

        Rows that are equal are explained once. A row that cannot be explained has its error in the result. An interrupt
        returns what is finished.
        """
        space = self.space.with_changes(fixed, bounds)
        wanted = Request(**request)
        check_request(space, wanted)
        piecework = self._piecework(space, wanted, read_count("width", width), read_count("max_rows", max_rows))
        places: dict[Row, list[int]] = {}
        for i, row in enumerate(read_rows(table, space.names)):
            places.setdefault(row, []).append(i)
        total = sum(map(len, places.values()))
        results: list[Explanation | FlipsetError] = [Interrupted(Known())] * total
        tally = Tally()
        with reporting(progress, total) as report:
            done = 0
            try:
                for row, result in piecework.all(list(places), read_count("workers", workers), tally):
                    for i in places[row]:
                        results[i] = result
                        if each is not None:
                            each(i, result)
                    done += len(places[row])
                    report(done, tally.queries)
            except KeyboardInterrupt:
                pass
        like = table if hasattr(table, "columns") else None
        return Explanations(tuple(results), space.names, tally.queries, tally.rounds, like)

    def audit(self, table: Any, *, budget: int = BUDGET) -> Audit:
        """Look for answers in the wrong order, from the rows of a table, with at most `budget` rows asked.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature("income", direction=+1, lower=0, upper=9)])
        >>> wavy = Explainer(lambda rows: rows[:, 0] % 4, space, threshold=2)
        >>> print(wavy.audit([[1.0], [6.0]]))
        16 rows asked: NOT MONOTONE
          income                     60.00% of 10 pairs in order
            worst: income 2.25 → 4.5: the score falls from 2.25 to 0.5
          several together           50.00% of 2 pairs in order
            worst: income 6.0 → 9: the score falls from 2 to 1
        """
        rows = [check_row(self.space, row) for row in read_rows(table, self.space.names)]
        if not rows:
            raise InputError("an audit needs at least one row to start from")
        return audit_rows(self.space, rows, self._ask, read_count("budget", budget))

    def _piecework(self, space: Space, request: Request, width: int = WIDTH, max_rows: int = MAX_ROWS) -> Piecework:
        return Piecework(self._ask, self._score, space, self.threshold, self.cost, request, width, max_rows)

    def _oracle(self, row: Sequence[Value]) -> Callable[[Sequence[Cells]], list[float]]:
        """Ask the model rows that differ from one in some cells."""
        return lambda changes: self._ask([(row, cells) for cells in changes])

    def _score(self, table: Any) -> NDArray[np.float64]:
        return read_scores(self.predict, table)

    def _ask(self, rows: Sequence[tuple[Sequence[Value], Cells]]) -> list[float]:
        return ask_rows(self.predict, len(self.space.names), self.space.reference, rows)
