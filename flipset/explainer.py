"""`Explainer`: a model, a space, and the explanation of one row's decision."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from flipset.clusters.frames import explain_dask, explain_spark
from flipset.drivers import arun, run, stream
from flipset.errors import InputError
from flipset.explain.audit import BUDGET, audit_rows
from flipset.explain.explanation import Explanation
from flipset.explain.explanations import Explanations
from flipset.explain.prepared import PreparedModel
from flipset.explain.progress import reporting
from flipset.explain.request import BATCH, VALUE_QUERIES, request_for
from flipset.explain.row import list_flipsets, trace_frontier
from flipset.explain.table import MAX_ROWS, WIDTH, TableBudget, TableJob, check_workers, explain_rows
from flipset.layers import Tally
from flipset.proof import STEPS
from flipset.results.verifying import TOLERANCE, Terms, verify_by
from flipset.search.solve import read_count
from flipset.space.moves import MAX_BLOCK
from flipset.space.rows import read_row, read_rows, sort_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from flipset.errors import FlipsetError
    from flipset.explain.audit import Audit
    from flipset.results.verification import Verification
    from flipset.space.rows import Row
    from flipset.values.change import Frontier


class Explainer(PreparedModel):
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
        The decision is `score >= threshold`, in the precision of the score: a float32 reaches 0.7 if it is the float32
        nearest to it. By default 0.5, or for an estimator of two classes where its own decision turns: there `predict`
        decides, at ties too; with more classes, more than half of the probability; a regressor needs one.
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
        A `Journal`, or, for a model in a file and for an endpoint, the name of one: every answer is written down before
        it is used, and what is in it is not asked again. Questions answered from it count as asked in explanations and
        budgets.

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
        batch: int | None = None,
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
            How many questions to ask together at most; by default 32, and for an endpoint as many as the time of a
            call suggests.
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
        request = request_for(
            space,
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
        cells = read_row(row, space.names)
        job = self._job(space, request, [cells])
        scorer = job.scorer()
        flow = job.one(cells)
        return run(flow, lambda changes: scorer.ask([(cells, change) for change in changes]))

    async def aexplain(
        self,
        row: Any,
        *,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        **request: Any,
    ) -> Explanation:
        """Explain the decision on one row, as `explain` does, to whoever awaits it.

        Examples
        --------
        >>> import asyncio
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature("income", "integer", direction=+1, lower=0, upper=9)])
        >>> explainer = Explainer(lambda rows: rows[:, 0] >= 7, space)
        >>> print(asyncio.run(explainer.aexplain([3])).counterfactuals[0])
        income: 3 → at least 7
        """
        space = self.space.with_changes(fixed, bounds)
        wanted = request_for(space, **request)
        cells = read_row(row, space.names)
        job = await self._ajob(space, wanted, [cells])
        scorer = job.scorer()
        flow = job.one(cells)
        return await arun(flow, lambda changes: self._in_a_coroutine(scorer, [(cells, change) for change in changes]))

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
        flow = list_flipsets(space, cells, self.threshold, found.append, read_count("batch", batch), max_block)
        return stream(flow, self._oracle(cells), found)

    def verify(
        self,
        explanation: Explanation,
        *,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        tolerance: float = TOLERANCE,
        max_block: int = MAX_BLOCK,
        steps: int = STEPS,
        stop: Callable[[], bool] | None = None,
    ) -> Verification:
        """Check every field of an explanation, and ask the model the proof's questions again.

        Parameters
        ----------
        explanation
            What `explain` returned, or `Explanation.from_json` read.
        fixed, bounds
            Those that the row was explained with.
        tolerance
            How much scores may differ, for some models answer a row by its batch. Decisions must be the same.
        max_block
            How many rows one question may be, where features have several options.
        steps, stop
            How many steps the check of the proof may take, and a function that is asked now and then whether to stop:
            then the result is not decided.

        What could move, grids, costs and the words of every change are recomputed from the space and the row, and
        compared. That values are the cheapest is not part of the proof: the result lists what was not checked.

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
        terms = Terms(
            space=self.space.with_changes(fixed, bounds),
            cost=self.cost,
            threshold=self.threshold,
            tolerance=tolerance,
            max_block=max_block,
            steps=steps,
            stop=stop,
        )
        return verify_by(explanation, self.predict, terms, self.space.reference)

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
            trace_frontier(space, cells, tuple(flipset), self.threshold, read_count("batch", batch)),
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
        in_flight: int | None = None,
        max_table_queries: int | None = None,
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
        in_flight
            How many calls of the model may be under way at a time, in threads; rows then go on each by itself. By
            default one, and for an endpoint as many as it says.
        max_table_queries
            Ask at most so many rows in all; rows for which that is not enough say what is proved by then. Where the
            model fails, rows are asked again to find out on which, and that counts.
        each
            A function to be given the number and the result of every row as soon as it is there, in any order.
        **request
            What `explain` takes beside: `max_changes`, `objective`, budgets for each row, `batch` and so on.

        Rows that are equal are explained once. A row that cannot be explained has its error in the result. An interrupt
        returns what is finished.
        """
        space = self.space.with_changes(fixed, bounds)
        wanted = request_for(space, **request)
        check_workers(read_count("workers", workers), self.endpoint, max_table_queries)
        limits = {"width": width, "max_rows": max_rows, "in_flight": in_flight, "max_table_queries": max_table_queries}
        how = {name: read_count(name, value) for name, value in limits.items() if value is not None}
        budget = TableBudget(how.pop("max_table_queries", None))
        rows = read_rows(table, space.names)
        tally = Tally()
        with reporting(progress, len(rows)) as report:

            def prepare(different: Sequence[Row]) -> TableJob:
                return self._job(space, wanted, different, budget=budget, **how)

            results = explain_rows(prepare, rows, workers, tally, each=each, report=report)
        like = table if hasattr(table, "columns") else None
        return Explanations(tuple(results), space.names, tally.queries, tally.rounds, like)

    def explain_spark(self, frame: Any, *, keys: Iterable[str] | None = None, **request: Any) -> Any:
        """Explain the rows of a Spark frame where they are; return a Spark frame with what `explain_table` has.

        Parameters
        ----------
        frame
            A frame of Spark, classic or Connect; it is only mapped, so nothing happens before the result is used.
        keys
            Columns to know rows by; by default all that the explainer does not take.
        **request
            As in `explain_table`.

        Each Python worker opens the model once: give `Explainer` the name of a file that all can read, or an address,
        or a model that can be pickled. A row that cannot be explained has its error in the column "error".
        `flipset.clusters.summarize_spark` sums the result up.
        """
        return explain_spark(self, frame, None if keys is None else tuple(keys), request)

    def explain_dask(self, frame: Any, *, keys: Iterable[str] | None = None, **request: Any) -> Any:
        """Explain the rows of a Dask frame where they are; return a Dask frame, with the same partitions and index.

        Parameters are those of `explain_spark`; `flipset.clusters.summarize_dask` sums the result up.
        """
        return explain_dask(self, frame, None if keys is None else tuple(keys), request)

    def audit(self, table: Any, *, budget: int = BUDGET) -> Audit:
        """Look for answers in the wrong order, from the rows of a table, with at most `budget` rows asked.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature("income", direction=+1, lower=0, upper=9)])
        >>> wavy = Explainer(lambda rows: rows[:, 0] % 4, space, threshold=2)
        >>> print(wavy.audit([[1.0], [6.0]]))
        12 rows asked: NOT MONOTONE
          income                     60.00% of 10 pairs in order
            worst: income 2.25 → 4.5: the score falls from 2.25 to 0.5
          several together           50.00% of 2 pairs in order
            worst: income 6.0 → 9: the score falls from 2 to 1
        """
        rows, errors = sort_out(self.space, read_rows(table, self.space.names))
        if not rows:
            raise errors[0] if errors else InputError("an audit needs at least one row to start from")
        found = audit_rows(self.space, rows, self._ask, read_count("budget", budget))
        return replace(found, left_out=tuple(map(str, errors)))
