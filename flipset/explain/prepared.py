"""`PreparedModel`: a model, a space and a threshold, checked and ready to score rows. `Explainer` is built on it.

It puts together what other modules offer: the scorer of the model, the journal that keeps its answers, and the job that
explains rows.
"""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import islice
from math import inf
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from flipset.drivers.abandon import PatientCalls
from flipset.drivers.drive import adrive, drive
from flipset.errors import InputError, NotMonotoneWarning, Unavailable
from flipset.explain.audit import audit_rows
from flipset.explain.batch_size import MOST_TRIED, choose_batch
from flipset.explain.defaults import space_of, threshold_of
from flipset.explain.monotonicity import find_witnesses, read_monotonicity
from flipset.explain.request import BATCH
from flipset.explain.scoring import RowScorer
from flipset.explain.table import MAX_ROWS, WIDTH, TableJob, pool_for
from flipset.explain.table_budget import TableBudget
from flipset.journal import AnswerStore, Journal
from flipset.journal.store import blaming_the_store
from flipset.models import awaited_in_order_of, identity_of, in_order_of, read_model, settle
from flipset.models.fingerprints import model_fingerprint, model_fingerprints
from flipset.models.most_likely import deciding_classes
from flipset.models.scores import await_scores, read_scores
from flipset.models.shared_answers import SharedAnswers, moving_columns
from flipset.results.basis import Fingerprints, Grounds
from flipset.search.solve import read_count
from flipset.space import Space
from flipset.space.fingerprints import space_fingerprint
from flipset.space.rows import check_row, check_rows, read_rows, sort_out
from flipset.values.costs import check_cost
from flipset.values.space_costs import SpaceCosts
from flipset.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from flipset.explain.monotonicity import Monotonicity
    from flipset.explain.request import Request
    from flipset.models import Isolation
    from flipset.models.remote.remote_model import RemoteModel
    from flipset.models.score_memo import ScoreMemo
    from flipset.models.scorer import Scorer
    from flipset.models.tables import RowQuery
    from flipset.space.cells import Cells
    from flipset.space.feature import Value
    from flipset.space.rows import Row
    from flipset.space.words import Decision
    from flipset.values.costs import Measure


class PreparedModel:
    """A model, a space and a threshold; `Explainer` documents the arguments."""

    def __init__(
        self,
        model: Any,
        space: Space | Any,
        *,
        threshold: float | None = None,
        positive: Any = None,
        decide: Literal["probability", "argmax"] = "probability",
        reference: Any = None,
        decision: Decision | None = None,
        cost: Measure | Mapping[str, Callable[[Any, Any], float]] | None = None,
        journal: AnswerStore | str | PathLike[str] | None = None,
        isolate: bool | Isolation = False,
        audit: int | None = None,
        identity: str | None = None,
        share_answers: bool = False,
    ) -> None:
        positive = deciding_classes(positive, decide)
        scorer = read_model(model, positive, isolate)
        if not isinstance(space, Space):
            space = space_of(space, scorer)
        if reference is not None:
            space = space.with_reference(reference)
        if decision is not None:
            space = space.with_decision(decision)
        # Frames for the model are made like the reference, so their columns must be those of the space.
        if space.reference is not None and space.reference.names != space.names:
            strange = set(space.reference.names) ^ set(space.names)
            odd = f"{min(strange)!r} is in only one of them" if strange else "their order differs"
            raise InputError(f"the reference must have the columns of the space, in order: {odd}")
        check_cost(cost, space.names)
        self.look: Callable[[], None] | None = None  # called at the checkpoints of searches
        self._scorer = scorer
        self._wrap: Callable[[Callable[[Any], Any]], Callable[[Any], Any]] | None = None
        self._whole = 0  # the rows of the table of which a sample is explained
        self._given = model, positive, isolate  # a model file is opened again by the process that unpickles this
        self.space = space
        self.threshold = threshold_of(space.decision.threshold if threshold is None else threshold, scorer)
        self.cost = cost
        self.endpoint = scorer.endpoint
        self._identity = identity
        self._own_model: str | None = None  # these two are found when they are first needed; "" if there is nothing
        self._own_space: Fingerprints | None = None
        self.monotonicity = read_monotonicity(space, scorer)
        settled = settle(scorer, self.threshold)
        self.predict = in_order_of(settled, space.names)
        self.apredict = awaited_in_order_of(settled, space.names)  # None if the model cannot be awaited
        self.journal = _open_journal(journal, model, scorer)
        if self.journal is not None:
            self.journal.bind(space, positive)
            self._put_behind(self.journal)
        self.monotonicity = find_witnesses(space, self.monotonicity, self._ask)
        if audit is not None:
            self.monotonicity = self._audited(_some_rows(space, read_count("audit", audit)), audit)
        self.shared_answers = self._shared_answers() if share_answers else None
        if self.monotonicity.contradicted:
            warnings.warn(NotMonotoneWarning(self.monotonicity.contradicted), stacklevel=2)

    def _shared_answers(self) -> SharedAnswers:
        """Return a memory of decisions for the rows of tables."""
        if not 0.0 < self.threshold <= 1.0:
            raise InputError(
                f"share_answers needs a model that answers 0 or 1, and the threshold {self.threshold:g} does not lie "
                "between them: give threshold=0.5, or leave share_answers out"
            )
        name = "the model" if self.endpoint is None else str(self.endpoint)
        return SharedAnswers(self.space, moving_columns(self.space, self.monotonicity.contradicted), name)

    def _put_behind(self, journal: AnswerStore) -> None:
        """Put the model behind a journal: only rows that are not in it are scored."""
        # The scores are read before the journal sees them. So every error of the model is one of flipset's by then, and
        # any other that comes out of the journal is the journal's own.
        check = _version_check(self.endpoint, journal)
        predict, apredict = self.predict, self.apredict

        def checked(rows: Any) -> Any:
            answers = read_scores(predict, rows)
            check()
            return answers

        async def checked_awaited(rows: Any) -> Any:
            assert apredict is not None, "used only where the model can be awaited"
            answers = await await_scores(apredict, rows)
            check()
            return answers

        before = journal.before(checked)

        def stored(rows: Any) -> Any:
            with blaming_the_store(journal):
                return before(rows)

        self.predict = stored
        # A store of another kind may not offer `abefore`; the model is then called in threads.
        make = getattr(journal, "abefore", None)
        abefore = None if make is None or apredict is None else make(checked_awaited)

        async def stored_awaited(rows: Any) -> Any:
            assert abefore is not None, "used only where the model and the journal can be awaited"
            with blaming_the_store(journal):
                return await abefore(rows)

        self.apredict = None if abefore is None else stored_awaited

    def __reduce__(self) -> tuple[Any, ...]:
        model, positive, isolate = self._given
        given = model, self.space, self.threshold, positive, self.cost, self.journal, isolate, self._identity
        return _again, (type(self), *given, self.monotonicity, self.shared_answers)

    def through(
        self, wrap: Callable[[Callable[[Any], Any]], Callable[[Any], Any]], look: Callable[[], None] | None = None
    ) -> Self:
        """Return a copy whose model is wrapped in a blocking function: a lock, a counter, a way to stop it.

        `look` is called whenever a search computes for some milliseconds without the model; it may raise to end it.
        """
        other = copy(self)
        other.look = look
        other.predict = wrap(self.predict)
        other.apredict = None  # awaiting the model would bypass the wrapper
        other._wrap = wrap
        return other

    def at_threshold(self, threshold: float, memo: ScoreMemo) -> Self:
        """Return a copy with another threshold, which asks the model only about rows that are not in the memo."""
        other = copy(self)
        other.threshold = threshold_of(threshold, self._scorer)
        settled = settle(memo.around(self._scorer), other.threshold)
        other.predict = in_order_of(settled, self.space.names)
        other.apredict = awaited_in_order_of(settled, self.space.names)
        if self.journal is not None:
            other._put_behind(self.journal)
        if self._wrap is not None:
            other.predict, other.apredict = self._wrap(other.predict), None
        return other

    def for_sample_of(self, rows: int) -> Self:
        """Return a copy that explains a sample of a table of so many rows: with the same queries as in the table."""
        other = copy(self)
        other._whole = rows
        return other

    def scores(self, table: Any) -> list[float]:
        """Return the model's score of each row of a table.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature("income", direction=+1, lower=0, upper=9)])
        >>> Explainer(lambda rows: rows[:, 0] / 10, space).scores([[1.0], [6.0]])
        [0.1, 0.6]
        """
        rows = check_rows(self.space, read_rows(table, self.space.names))
        return self._ask([(row, ()) for row in rows]) if rows else []

    def _ask(self, queries: Sequence[RowQuery]) -> list[float]:
        return RowScorer(self._call, self.space).ask(queries)

    def _call(self, table: Any) -> NDArray[np.float64]:
        """Call the model once."""
        return read_scores(self.predict, table)

    async def _acall(self, table: Any) -> NDArray[np.float64]:
        """Await the model once."""
        assert self.apredict is not None, "used only where the model can be awaited"
        return await await_scores(self.apredict, table)

    def _with_audit(self, rows: Sequence[Row | InputError], queries: int) -> Self:
        """Return a copy that knows what an audit from these rows found."""
        other = copy(self)
        other.monotonicity = self._audited(sort_out(self.space, rows)[0], queries)
        # Without the directions that the audit has refuted.
        other.shared_answers = None if self.shared_answers is None else other._shared_answers()
        if new := [name for name in other.monotonicity.contradicted if name not in self.monotonicity.contradicted]:
            warnings.warn(NotMonotoneWarning(new), stacklevel=3)
        return other

    def _audited(self, rows: Sequence[Row], queries: int) -> Monotonicity:
        """Return what is known about the directions after an audit from these rows."""
        proved = self.monotonicity.names("proved")
        return self.monotonicity.audited(audit_rows(self.space, rows, self._ask, read_count("audit", queries), proved))

    def _about(self, space: Space) -> Fingerprints:
        """Return what identifies a space and its table; that of the explainer's own space is found once."""
        if space is self.space and self._own_space is not None:
            return self._own_space
        table = None if space.reference is None else space.reference.fingerprint
        about = Fingerprints(None, space_fingerprint(space), table, __version__)
        if space is self.space:
            self._own_space = about
        return about

    def _grounds(self, about: Fingerprints) -> Grounds:
        """Return what the answers for a space rest on; an endpoint names its version only with its answers."""
        model = self._fingerprint()
        about = about if model is None else replace(about, model=model)
        known = self.monotonicity
        return Grounds(known, known.audited_pairs, frozenset(known.contradicted), about)

    def _fingerprint(self) -> str | None:
        """Return what identifies the model; it is found once, but the version of an endpoint may come later."""
        if self._own_model is None:
            model, positive, _ = self._given
            self._own_model = model_fingerprint(self.endpoint or model, positive, self._identity) or ""
        found = self._own_model or None
        if self.endpoint is not None:
            self._own_model = None
        return found

    def own_fingerprints(self) -> tuple[str, ...]:
        """Return all fingerprints of the model, by which an explanation of it is recognised."""
        model, positive, _ = self._given
        return model_fingerprints(self.endpoint or model, positive, self._identity)

    def _oracle(self, row: Sequence[Value]) -> Callable[[Sequence[Cells]], list[float]]:
        """Return the function that scores changes of one row, given by their cells."""
        return lambda changes: self._ask([(row, cells) for cells in changes])

    async def _in_a_coroutine(
        self, scorer: RowScorer, queries: Sequence[RowQuery], patient: PatientCalls, seconds: float = inf
    ) -> list[float]:
        """Score rows without blocking the event loop, and give up after some seconds.

        An endpoint is awaited. Local models are called in a thread, and so are journals, which wait for a disk.
        """
        if self.apredict is None or self.journal is not None:
            return await patient.acall(seconds, scorer.ask, queries)
        return await patient.await_call(seconds, scorer.aask(queries))

    def _is_allowed(self, row: Row) -> bool:
        try:
            check_row(self.space, row)
        except InputError:
            return False
        return True

    def _job(self, space: Space, request: Request, rows: Sequence[Row], **how: Any) -> TableJob:
        """Return the job that explains these rows; the calls that choose `batch` are made first."""
        return drive(self._preparing(space, request, rows, **how), self._ask)

    async def _ajob(self, space: Space, request: Request, rows: Sequence[Row]) -> TableJob:
        """Return the job that explains these rows, as a coroutine."""
        scorer = RowScorer(self._call, self.space, self._acall)
        with PatientCalls("flipset-call") as patient:
            return await adrive(
                self._preparing(space, request, rows),
                lambda queries: self._in_a_coroutine(scorer, queries, patient),
            )

    def _preparing(
        self,
        space: Space,
        request: Request,
        rows: Sequence[Row],
        *,
        width: int = WIDTH,
        max_rows: int = MAX_ROWS,
        in_flight: int | None = None,
        budget: TableBudget | None = None,
        shares: bool = False,
    ) -> Generator[list[RowQuery], list[float], TableJob]:
        """Return the job that explains these rows; choose `batch` for the model if the request leaves it open.

        The generator yields the queries that this takes and is sent their scores. With `shares`, answers that follow
        from those about other rows are not asked, if the explainer shares answers.
        """
        answered: dict[Row, float] = {}
        if request.batch is None:
            batch = BATCH
            if self.endpoint is not None:
                # Only rows that will be queried anyway are tried. Under a budget for the table, only the first is sure.
                some = 1 if budget is not None and budget.most is not None else MOST_TRIED
                tried = list(islice(filter(self._is_allowed, rows), some))
                answered, batch = yield from choose_batch(
                    self.endpoint, self.journal, tried, max(len(rows), self._whole)
                )
            request = replace(request, batch=batch)
        call, acall = self._call, None if self.apredict is None else self._acall
        # Only here, where rows are explained: an audit, a check and a recheck are about what the model answers.
        if shares and self.shared_answers is not None:
            call = partial(self.shared_answers.ask, call)
            acall = None if acall is None else partial(self.shared_answers.aask, acall)
        return TableJob(
            call,
            acall,
            answered,
            space,
            self.threshold,
            SpaceCosts(space, self.cost),
            request,
            width,
            max_rows,
            pool_for(self.endpoint, in_flight, keeps_answers=self.journal is not None),
            budget or TableBudget(),
            look=self.look,
            grounds=partial(self._grounds, self._about(space)),
        )


def _some_rows(space: Space, most: int) -> list[Row]:
    """Return rows of the reference from which an audit of so many queries starts, spread over the whole table."""
    if space.reference is None:
        raise InputError("audit needs rows to start from: give reference=, a frame with the columns of the space")
    frame = space.reference.frame
    apart = max(1, len(frame) // most)  # every row takes at least one query
    return sort_out(space, read_rows(frame.gather_every(apart).to_native(), space.names))[0]


def _open_journal(journal: Any, model: Any, scorer: Scorer) -> AnswerStore | None:
    """Return the journal that was given, by its file name or as an object."""
    if isinstance(journal, (str, PathLike)):
        return Journal(journal, model=identity_of(model, scorer))
    if journal is None or isinstance(journal, AnswerStore):
        return journal
    raise InputError(f"journal must be a Journal or the name of a file, got {type(journal).__name__}")


def _version_check(endpoint: RemoteModel | None, journal: AnswerStore) -> Callable[[], None]:
    """Return a check for after each call: that the endpoint still answers with the journal's version of the model."""
    compared: str | None = None  # the version that was compared with the journal already

    def check() -> None:
        nonlocal compared
        version = None if endpoint is None else endpoint.answered_as
        if version is not None and version != compared:
            if (kept := journal.keep("version", version)) != version:
                problem = f"has answers of version {kept}, and {endpoint} now answers as version {version}"
                raise Unavailable(f"the journal {getattr(journal, 'path', '')} {problem}: use another file")
            compared = version

    return check


def _again(
    kind: type[PreparedModel],
    model: Any,
    space: Space,
    threshold: float,
    positive: Any,
    cost: Any,
    journal: AnswerStore | None,
    isolate: bool | Isolation,
    identity: str | None,
    monotonicity: Monotonicity,
    shared_answers: SharedAnswers | None,
) -> PreparedModel:
    given = {"positive": positive, "cost": cost, "journal": journal, "isolate": isolate, "identity": identity}
    made = kind(model, space, threshold=threshold, **given)
    made.monotonicity = monotonicity  # an audit is not repeated
    made.shared_answers = shared_answers
    return made
