"""`Explainer`: explains the decisions of a model, for one row, a table or a cluster; also audits and verifies."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Literal, overload

from flipset.boundary.limits import MAX_BLOCK
from flipset.clusters.frames import explain_dask, explain_spark
from flipset.drivers import arun, run, stream
from flipset.drivers.abandon import PatientCalls
from flipset.errors import InputError
from flipset.explain.by_threshold import ByThreshold, tables_by_threshold
from flipset.explain.checking import CheckedModel
from flipset.explain.defaults import check_reach
from flipset.explain.estimate import SAMPLE, estimate_table
from flipset.explain.explanations import Explanations, kinds_of_results, reserved_names
from flipset.explain.progress import reporting
from flipset.explain.request import BATCH, VALUE_QUERIES, request_for, wanted_decision
from flipset.explain.row import list_flipsets, trace_frontier
from flipset.explain.table import MAX_ROWS, WIDTH, check_workers
from flipset.explain.table_budget import table_budget
from flipset.explain.table_results import explain_rows
from flipset.explain.thresholds import ThresholdsJob
from flipset.explain.time_limits import Deadline
from flipset.layers import Tally, watch
from flipset.models.score_memo import ScoreMemo
from flipset.search.solve import MAX_FLIPSETS, read_count
from flipset.search.wanted_reasons import REASONS
from flipset.space.ids import read_ids, read_row_id
from flipset.space.rows import read_row
from flipset.space.table_rows import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from flipset.errors import FlipsetError
    from flipset.explain.explanation import Explanation
    from flipset.explain.request import Request
    from flipset.explain.table import TableJob
    from flipset.explain.table_results import RowsJob
    from flipset.results.estimates import TableEstimate
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.row_id import RowId
    from flipset.space.rows import Row
    from flipset.space.table_rows import TableRows
    from flipset.values.change import Frontier


class Explainer(CheckedModel):
    """Explains the decisions of a model.

    Explanations need only the model's scores. Where the model has trees or coefficients, these are read when the
    explainer is built, to show that the score follows the directions: see `monotonicity`.

    Parameters
    ----------
    model
        A function that takes rows and returns one score or label for each; a fitted estimator or pipeline of
        scikit-learn, XGBoost, LightGBM or CatBoost; an ONNX Runtime session, a PyTorch module or an MLflow pyfunc
        model; an `Endpoint`; or the name of a model file or the address of an endpoint. The model gets rows as a frame
        like `reference`, with the same types. Without a reference it gets a two-dimensional array, or a frame if it was
        fitted on named columns.
    space
        What may change: a `Space` with a feature for each column that the model takes. A frame is read as a space with
        the directions that the model was fitted with; columns without a direction are held fixed.
    threshold
        The decision is `score >= threshold`, in the precision of the score: the float32 nearest to 0.7 reaches a
        threshold of 0.7. The default is 0.5. For an estimator with two classes it is the point where the estimator's
        own `predict` changes its decision, ties included. With more classes it is more than half of the probability. A
        regressor has no default. A threshold in the space comes before these.
    positive
        For a classifier: the class, or the classes, whose probability is the score; of two classes, the second by
        default. For other models that return several columns: the number of the score's column. For a model that
        returns labels: the label that counts.
    decide
        For a model with several classes: "probability", where the score is the probability of the positive classes, or
        "argmax", where a row is decided for its most likely class. The score is then a margin, and the threshold 0.
    reference
        A frame with the columns of the space. It gives the population for costs, the grids of values, and the types of
        the columns. A space that was read from a frame already has one.
    decision
        The threshold and the words for the decision, instead of those of the space: see `Decision`. With
        `favorable="below"`, rows whose score is lower than the threshold are approved.
    cost
        What changes cost: `share_passed`, the share of the reference population that a change passes (the default);
        `range_share`; or a mapping from features to functions of the value before and after.
    journal
        A `Journal`; for a model file or an endpoint also the name of a journal file. Every answer is written to the
        journal before it is used, and a row in the journal is not scored again. Answers from the journal count as
        queries, in explanations and in budgets.
    isolate
        For the name of a model file: True opens and asks the model in a process of its own, which may die without this
        one. Formats that run no code can still crash their libraries when a file is damaged or hostile. An `Isolation`
        sets the limits of the process.
    identity
        What identifies the model in explanations, such as "loans, version 3". By default it is a hash of the model's
        file or of its content, or the name and version of an endpoint. A function has nothing like that.
    share_answers
        For a model that answers with its decision alone, 0 or 1, and is billed: True asks it only about rows of tables
        whose decision does not follow from that on another row. A row at least as good as an approved one, in all
        columns with a direction and equal in the others, is approved. The results are the same, queries included.
    audit
        The most queries of an audit that starts from rows of the reference: directions that are neither proved from the
        model itself nor declared by it are then "audited" rather than "assumed".

    Attributes
    ----------
    shared_answers
        With `share_answers`, the memory of decisions: `asked` and `followed` count rows of tables.
    monotonicity
        For each feature that may move, why the score is taken to follow its direction: "proved", "declared",
        "audited" or "assumed".

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

    @overload
    def explain(self, row: Any, *, thresholds: Iterable[float], **request: Any) -> ByThreshold[Explanation]: ...

    @overload
    def explain(self, row: Any, **request: Any) -> Explanation: ...

    def explain(  # type: ignore[misc]  # the keywords of the request are those listed here
        self,
        row: Any,
        *,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        within: Iterable[str] | None = None,
        max_rise: Mapping[str, Any] | None = None,
        max_fall: Mapping[str, Any] | None = None,
        max_changes: int | None = None,
        objective: Literal["size", "cost"] = "size",
        max_queries: int | None = None,
        max_seconds: float | None = None,
        batch: int | None = None,
        max_block: int = MAX_BLOCK,
        reasons: bool | int | Literal["all"] = REASONS,
        values: bool = True,
        exact: bool = False,
        value_queries: int | None = VALUE_QUERIES,
        strict: bool = True,
        id: Any = None,  # noqa: A002  # the word that users expect
        options: int | None = None,
        diverse: bool = False,
        more: int | None = None,
        curve: bool = False,
        thresholds: Iterable[float] | None = None,
        max_flipsets: int | None = MAX_FLIPSETS,
    ) -> Explanation | ByThreshold[Explanation]:
        """Explain the decision on one row.

        Parameters
        ----------
        row
            A mapping, a series, a list, an array, or a frame with one row.
        fixed, within
            Further features and groups to hold fixed, and the only ones that may change, for this row only.
        bounds
            Other bounds for some features, (lower, upper), for this row only; None leaves a side as it is. For a column
            of numbers, the name of a column of the row stands for the bound that the row has there.
        max_rise, max_fall
            How much some features may rise or fall at most, from where they are: an amount, such as 5000, or a share of
            the value, such as "20 %".
        max_changes
            The most features that may change.
        objective
            "size": find the cheapest values of every smallest flip set. "cost": find the cheapest counterfactual of
            all, with at most `max_changes` changes; by default, at most one more than the smallest number.
        max_queries, max_seconds
            Stop after this many queries, or this many seconds. The result then says what is proved so far. A call that
            does not return within these seconds and a grace of 2 is abandoned in a thread, with a warning.
        batch
            The most queries in one call of the model. The default is 32; for an endpoint it is chosen by how long calls
            take.
        max_block
            The most queries for one set of features, where features have several options.
        reasons
            The most reasons to report, by default 5. Each is minimal. They are chosen by a rule that depends only on
            the model and the row (`flipset.search.few_reasons`), and there are at most as many as a smallest flip set
            has features. "all": all those of the whole proof, which often takes several times the queries. False: none.
        values
            False saves the queries that find the cheapest values: every changed feature is then at its best value.
        exact
            True takes the values of columns without a step off their grid, to the last number that is enough: first
            the cheapest values on the grid, then one column after the other is taken back by bisection, as far as the
            decision still flips. It takes up to 64 queries for each change, or somewhat more in fewer calls.
        value_queries
            The most rows to look at for the values of one flip set. Where they are not enough, which may happen from
            four features on, the counterfactual is the cheapest one seen, and `cost_at_least` is what is proved. None
            means no limit. If not all flip sets are listed, the default is 20,000 for all of them together.
        strict
            True raises `NotMonotone`, with the two rows, when answers contradict the directions. False continues: the
            earlier answer counts, the status is "unproved", and the rows are in `contradictions`.
        id
            The identifier of the row, for the result: a text, a number, or a mapping from names to values. By default
            the label of a pandas series, or the index of a frame of one row, unless it is an unnamed whole number.
        options, diverse
            Return only this many counterfactuals: the cheapest, or with `diverse` the cheapest and others that share
            few features with those before. The flip sets and the proof stay complete.
        more
            Also find this many options that are larger than the smallest, in `larger`. Each is minimal: no part of it
            is enough. They are in order of size, then of cost.
        curve
            Also find the cheapest counterfactual with at most k changes, for one k after another, in `curve`: up to
            `max_changes`, by default 2 more than the smallest number, or until more changes cannot be cheaper.
        thresholds
            Several thresholds instead of the explainer's own, as for rating grades. The result has an explanation for
            each, as separate calls would return it. They share the scores of rows, and so take fewer queries.
        max_flipsets
            The most flip sets to list; None for all. If there are more, the size is still proved, and the status is
            "incomplete": the flip sets of the features with the greatest effects are listed, and not all.
        """
        space = self.space.with_changes(fixed, bounds, within=within, max_rise=max_rise, max_fall=max_fall)
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
            exact=exact,
            value_queries=value_queries,
            strict=strict,
            options=options,
            diverse=diverse,
            more=more,
            curve=curve,
            thresholds=thresholds,
            max_flipsets=max_flipsets,
        )
        cells = read_row(row, space.names, space.own_columns)
        own = read_row_id(row, id)
        if request.thresholds:
            return self._explain_thresholds(space, request, cells, own)
        return self._explain_one(self._job(space, request, [cells]), cells, own)

    def _explain_one(self, job: TableJob, cells: Row, own: RowId | None) -> Explanation:
        found = job.explain_one(cells)
        return found if own is None else replace(found, id=own)

    def _explain_thresholds(
        self, space: Space, request: Request, cells: Row, own: RowId | None
    ) -> ByThreshold[Explanation]:
        several = ThresholdsJob(self, space, replace(request, thresholds=()), request.thresholds, {})
        found = tuple(self._explain_one(job, cells, own) for job in several.jobs([cells]))
        return ByThreshold(request.thresholds, found, several.memo.asked, several.memo.calls)

    @overload
    async def aexplain(self, row: Any, *, thresholds: Iterable[float], **how: Any) -> ByThreshold[Explanation]: ...

    @overload
    async def aexplain(self, row: Any, **how: Any) -> Explanation: ...

    async def aexplain(
        self,
        row: Any,
        *,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        within: Iterable[str] | None = None,
        max_rise: Mapping[str, Any] | None = None,
        max_fall: Mapping[str, Any] | None = None,
        id: Any = None,  # noqa: A002  # the word that users expect
        **request: Any,
    ) -> Explanation | ByThreshold[Explanation]:
        """Explain the decision on one row, like `explain`, as a coroutine.

        Examples
        --------
        >>> import asyncio
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature("income", "integer", direction=+1, lower=0, upper=9)])
        >>> explainer = Explainer(lambda rows: rows[:, 0] >= 7, space)
        >>> print(asyncio.run(explainer.aexplain([3])).counterfactuals[0])
        income: 3 → at least 7
        """
        space = self.space.with_changes(fixed, bounds, within=within, max_rise=max_rise, max_fall=max_fall)
        wanted = request_for(space, **request)
        cells = read_row(row, space.names, space.own_columns)
        if wanted.thresholds:
            limits: dict[str, Any] = {"fixed": fixed, "bounds": bounds, "within": within}
            limits |= {"max_rise": max_rise, "max_fall": max_fall, "id": id}
            memo, alone = ScoreMemo(), request | {"thresholds": None}
            models = [self.at_threshold(threshold, memo) for threshold in wanted.thresholds]
            each = [await model.aexplain(row, **limits, **alone) for model in models]
            return ByThreshold(wanted.thresholds, tuple(each), memo.asked, memo.calls)
        job = await self._ajob(space, wanted, [cells])
        scorer, deadline = job.scorer(), Deadline(inf if wanted.max_seconds is None else wanted.max_seconds)

        async def ask(changes: Sequence[Cells]) -> list[float]:
            queries = [(cells, change) for change in changes]
            return await self._in_a_coroutine(scorer, queries, patient, deadline.left())

        own = read_row_id(row, id)
        with PatientCalls("flipset-call") as patient:
            found = await arun(job.one(cells), ask)
        return found if own is None else replace(found, id=own)

    def iter_flipsets(
        self,
        row: Any,
        *,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        within: Iterable[str] | None = None,
        max_rise: Mapping[str, Any] | None = None,
        max_fall: Mapping[str, Any] | None = None,
        batch: int = BATCH,
        max_block: int = MAX_BLOCK,
    ) -> Iterator[tuple[str, ...]]:
        """Yield all minimal flip sets by name, smallest first; the model is queried only as far as you read.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature(name, "binary", direction=+1) for name in "abc"])
        >>> explainer = Explainer(lambda rows: (rows[:, 0] == 1) | (rows[:, 1:].sum(axis=1) == 2), space)
        >>> list(explainer.iter_flipsets([0, 0, 0]))
        [('a',), ('b', 'c')]
        """
        space = self.space.with_changes(fixed, bounds, within=within, max_rise=max_rise, max_fall=max_fall)
        cells = read_row(row, space.names, space.own_columns)
        reported: deque[tuple[str, ...]] = deque()
        flow = list_flipsets(space, cells, self.threshold, reported.append, read_count("batch", batch), max_block)
        return stream(flow, self._oracle(cells), reported)

    def frontier(
        self,
        row: Any,
        flipset: Iterable[str],
        *,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        within: Iterable[str] | None = None,
        max_rise: Mapping[str, Any] | None = None,
        max_fall: Mapping[str, Any] | None = None,
        batch: int = BATCH,
    ) -> Frontier:
        """Return all least pairs of values of two features that flip the decision together: the staircase.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature(name, "integer", direction=+1, lower=0, upper=4) for name in "ab"])
        >>> explainer = Explainer(lambda rows: rows[:, 0] * rows[:, 1] >= 4, space)
        >>> explainer.frontier([0, 0], ["a", "b"]).points
        ((1, 4), (2, 2), (4, 1))
        """
        space = self.space.with_changes(fixed, bounds, within=within, max_rise=max_rise, max_fall=max_fall)
        cells = read_row(row, space.names, space.own_columns)
        flow = trace_frontier(space, cells, tuple(flipset), self.threshold, read_count("batch", batch))
        return run(flow if self.look is None else watch(flow, self.look), self._oracle(cells))

    @overload
    def explain_table(self, table: Any, *, thresholds: Iterable[float], **how: Any) -> ByThreshold[Explanations]: ...

    @overload
    def explain_table(self, table: Any, **how: Any) -> Explanations: ...

    def explain_table(
        self,
        table: Any,
        *,
        id: Any = None,  # noqa: A002  # the word that users expect
        only: str | None = None,
        progress: bool | Callable[[int, int, int], None] = False,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        within: Iterable[str] | None = None,
        max_rise: Mapping[str, Any] | None = None,
        max_fall: Mapping[str, Any] | None = None,
        width: int = WIDTH,
        max_rows: int = MAX_ROWS,
        workers: int = 1,
        in_flight: int | None = None,
        max_table_queries: int | None = None,
        max_table_seconds: float | None = None,
        audit: int | None = None,
        each: Callable[[int, Explanation | FlipsetError], None] | None = None,
        **request: Any,
    ) -> Explanations | ByThreshold[Explanations]:
        """Explain the decisions on all rows of a table, many rows in each call of the model.

        Parameters
        ----------
        table
            A frame with the columns of the space, or an array with these columns in order.
        id
            What identifies rows in every output: the name of a column that the model does not see, or one identifier
            for each row. By default the index of a pandas frame, unless it is the plain count from 0. Identifiers may
            be missing or occur more than once: the number of a row tells rows apart.
        only
            "declined" or "approved", or the words of the space: explain only rows with this decision. The others are
            scored, and have the status "not asked".
        progress
            True shows a progress bar on standard error. A function is called with the rows done, all rows, and the
            queries made.
        fixed, within, bounds, max_rise, max_fall
            As in `explain`, for all rows. A column that has each row's own bounds is not seen by the model.
        width
            How many rows are under way at a time.
        max_rows
            The most rows that the model is given in one call.
        workers
            How many processes to use. The results and their order are the same. Each process has its own copy of the
            model, on one thread where that can be set, so it must be possible to pickle the model.
        in_flight
            How many calls may be under way at a time. A local model is called in threads. By default one; for an
            endpoint, as many as the endpoint allows.
        max_table_queries
            The most queries for the whole table. Rows that it does not suffice for say what is proved so far. If a call
            fails, its rows are scored again to find out which of them fail, and that counts.
        max_table_seconds
            The most seconds for the whole table. Rows under way then say what is proved so far, and rows that were not
            begun have an error that says so. Limits for each row, in `request`, count that row's own work alone.
        audit
            The most queries of an audit that starts from rows of the table and is made first, as in `Explainer`.
        each
            A function that is called with the number and the result of each row as soon as it is done, in any order.
        **request
            Further arguments of `explain`: `max_changes`, `objective`, `batch`, limits for each row, and so on. With
            `thresholds`, the result has a table for each, and `each` gets a tuple with a result for each.

        Equal rows are explained once. A row that cannot be explained has its error as its result. An interrupt returns
        what is finished.
        """
        space = self.space.with_changes(fixed, bounds, within=within, max_rise=max_rise, max_fall=max_fall)
        wanted = replace(request_for(space, **request), only_decision=wanted_decision(space, only))
        check_workers(read_count("workers", workers), self.endpoint, max_table_queries)
        how: dict[str, Any] = {"width": read_count("width", width), "max_rows": read_count("max_rows", max_rows)}
        if in_flight is not None:
            how["in_flight"] = read_count("in_flight", in_flight)
        how["shares"] = True
        if self.shared_answers is not None and wanted.thresholds:
            raise InputError("share_answers is for decisions, which have one threshold: leave thresholds out")
        budget = table_budget(max_table_queries, max_table_seconds)
        rows = read_table(table, space.names, space.own_columns, space.reference)
        ids = read_ids(table, id, space.names, reserved_names(space.names), len(rows))
        model = self if audit is None else self._with_audit(rows, audit)
        how["budget"] = budget
        prepare: Callable[[TableRows], RowsJob] = partial(model._job, space, wanted, **how)
        if wanted.thresholds:
            alone = replace(wanted, thresholds=())
            prepare = lambda _: ThresholdsJob(model, space, alone, wanted.thresholds, how)  # noqa: E731
        tally = Tally()
        with reporting(progress, len(rows)) as report:
            results = explain_rows(prepare, rows, workers, tally, each=each, report=report, ids=ids)
        like = table if hasattr(table, "columns") else None  # the kind of frame that `to_frame` returns
        kinds = kinds_of_results(space, like)
        if wanted.thresholds:
            about = {"columns": space.names, "like": like, "ids": ids, "kinds": kinds}
            tables = tables_by_threshold(wanted.thresholds, results, tally, about)
            for one, threshold in zip(tables.results, tables.thresholds, strict=True):
                check_reach(one, threshold)
            return tables
        check_reach(results, self.threshold)
        return Explanations(results, space.names, tally.queries, tally.rounds, like, ids, kinds)

    def estimate_table(
        self,
        table: Any,
        *,
        sample: int = SAMPLE,
        id: Any = None,  # noqa: A002  # the word that users expect
        each: Callable[[int, Explanation | FlipsetError], None] | None = None,
        width: int = WIDTH,
        in_flight: int | None = None,
        **how: Any,
    ) -> TableEstimate:
        """Return what `explain_table` will take for a table: queries, calls, price and time, with intervals of 95 %.

        A sample of the rows is explained for that. With a journal, its answers are not sent again by the run that
        follows.

        Parameters
        ----------
        sample
            How many different rows to explain: those whose cells have the least hashes, so that they are the same in
            every run, in whatever order the rows are.
        each
            A function that is called with the place and the result of each row of the sample, and of the rows that are
            equal to it.
        id, width, in_flight, **how
            The other arguments of `explain_table` for the run that is estimated, without `thresholds`, `audit` and
            limits for the whole table.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature(name, "integer", direction=+1, lower=0, upper=99) for name in ("income", "savings")])
        >>> explainer = Explainer(lambda rows: rows.sum(axis=1) >= 120, space)
        >>> table = [[i % 97, i % 89] for i in range(2_000)]
        >>> estimate = explainer.estimate_table(table, sample=100)
        >>> estimate.queries.low <= explainer.explain_table(table).queries <= estimate.queries.high
        True
        """
        how |= {"id": id, "width": width, "in_flight": in_flight}
        return estimate_table(self, table, sample, each, how)

    def explain_spark(self, frame: Any, *, keys: Iterable[str] | None = None, **request: Any) -> Any:
        """Explain the rows of a Spark frame on the cluster; return a Spark frame with the columns of `explain_table`.

        Parameters
        ----------
        frame
            A Spark frame, classic or Connect. It is only mapped, so nothing is computed before the result is used.
        keys
            Columns that identify rows; by default all columns that the explainer does not take.
        **request
            As in `explain_table`.

        Each Python worker opens the model once. So give `Explainer` the name of a file that all workers can read, an
        address, or a model that can be pickled. A row that cannot be explained has its error in the column "error".
        `flipset.clusters.summarize_spark` summarizes the result.
        """
        return explain_spark(self, frame, None if keys is None else tuple(keys), request)

    def explain_dask(self, frame: Any, *, keys: Iterable[str] | None = None, **request: Any) -> Any:
        """Explain the rows of a Dask frame on the cluster; return a Dask frame with the same partitions and index.

        The parameters are those of `explain_spark`. `flipset.clusters.summarize_dask` summarizes the result.
        """
        return explain_dask(self, frame, None if keys is None else tuple(keys), request)
