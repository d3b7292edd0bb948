"""A model that can only be asked, the space it is asked in, and where its decision turns: what every question needs."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError, Unavailable
from flipset.explain.batch_size import MOST_TRIED, settle_batch
from flipset.explain.defaults import space_of, threshold_of
from flipset.explain.row import BATCH, Request, check_request
from flipset.explain.table import MAX_ROWS, WIDTH, Piecework, Purse, calls_of
from flipset.journal import Journal
from flipset.models import identity_of, in_order_of, read_model, settle
from flipset.models.scores import read_scores
from flipset.models.tables import ask_rows
from flipset.space import Space
from flipset.space.identity import each_row_once
from flipset.space.reference import Reference
from flipset.space.rows import check_row, check_rows, read_rows
from flipset.values.costs import check_cost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from flipset.models.remote.endpoint import Endpoint
    from flipset.space.feature import Value
    from flipset.space.moves import Cells
    from flipset.space.rows import Row
    from flipset.values.costs import Measure


class Asked:
    """A model, a space and a threshold; `Explainer` says what each may be."""

    def __init__(
        self,
        model: Any,
        space: Space | Any,
        *,
        threshold: float | None = None,
        positive: Any = None,
        reference: Any = None,
        cost: Measure | Mapping[str, Callable[[Any, Any], float]] | None = None,
        journal: Journal | str | PathLike[str] | None = None,
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
        self._made_of = model, positive
        self.space = space
        self.threshold = threshold_of(threshold, scorer)
        self.cost = cost
        self.predict = in_order_of(settle(scorer, self.threshold), space.names)
        self.endpoint = scorer.endpoint
        if isinstance(journal, (str, PathLike)):
            journal = Journal(journal, model=identity_of(model, scorer))
        self.journal = journal
        if journal is not None:
            journal.bind(space, positive)
            self.predict = journal.before(_of_one_version(self.predict, self.endpoint, journal))

    def __reduce__(self) -> tuple[Any, ...]:
        model, positive = self._made_of
        return _again, (type(self), model, self.space, self.threshold, positive, self.cost, self.journal)

    def through(self, wrap: Callable[[Callable[[Any], Any]], Callable[[Any], Any]]) -> Self:
        """Return the same with its model behind something: a lock, a counter, a way to stop it."""
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
        rows = check_rows(self.space, read_rows(table, self.space.names))
        return self._ask([(row, ()) for row in rows]) if rows else []

    def _ask(self, rows: Sequence[tuple[Sequence[Value], Cells]]) -> list[float]:
        return ask_rows(each_row_once(self._call), len(self.space.names), self.space.reference, rows)

    def _call(self, table: Any) -> NDArray[np.float64]:
        """Call the model once."""
        return read_scores(self.predict, table)

    def _oracle(self, row: Sequence[Value]) -> Callable[[Sequence[Cells]], list[float]]:
        """Ask the model rows that differ from one in some cells."""
        return lambda changes: self._ask([(row, cells) for cells in changes])

    def _can_be_asked(self, row: Row) -> bool:
        try:
            check_row(self.space, row)
        except InputError:
            return False
        return True

    def _piecework(
        self,
        space: Space,
        request: Mapping[str, Any],
        rows: Sequence[Row],
        *,
        width: int = WIDTH,
        max_rows: int = MAX_ROWS,
        in_flight: int | None = None,
        purse: Purse | None = None,
    ) -> Piecework:
        """Return how to explain these rows; where nothing is said of `batch`, with what suits the model."""
        wanted = request_of(space, request)
        answered: dict[Row, float] = {}
        if self.endpoint is not None and request.get("batch") is None:
            some = 1 if purse is not None and purse.most is not None else MOST_TRIED
            tried = list(islice(filter(self._can_be_asked, rows), some))  # these are sure to be asked about
            answered, batch = settle_batch(self.endpoint, self.journal, self._ask, tried, len(rows))
            wanted = replace(wanted, batch=batch)
        given = self._call, answered, space, self.threshold, self.cost, wanted
        return Piecework(*given, width, max_rows, calls_of(self.endpoint, in_flight), purse or Purse())


def _of_one_version(predict: Callable[[Any], Any], endpoint: Endpoint | None, journal: Journal) -> Callable[[Any], Any]:
    """Refuse answers of another version of the model than those that a journal has."""
    if endpoint is None:
        return predict

    compared: str | None = None

    def ask(rows: Any) -> Any:
        nonlocal compared
        answers = predict(rows)
        version = endpoint.answered_as
        if version is not None and version != compared:
            if (kept := journal.keep("version", version)) != version:
                told = f"has answers of version {kept}, and {endpoint} now answers as version {version}"
                raise Unavailable(f"the journal {journal.path} {told}: use another file")
            compared = version
        return answers

    return ask


def request_of(space: Space, given: Mapping[str, Any]) -> Request:
    """Read what is wanted, and refuse what cannot be had in this space."""
    known = dict(given)
    if known.get("batch") is None:
        known["batch"] = BATCH
    request = Request(**known)
    check_request(space, request)
    return request


def _again(
    kind: type[Asked], model: Any, space: Space, threshold: float, positive: Any, cost: Any, journal: Journal | None
) -> Asked:
    return kind(model, space, threshold=threshold, positive=positive, cost=cost, journal=journal)
