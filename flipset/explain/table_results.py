"""The results of a table, row by row: equal rows are explained once, and answers in arrays become explanations.

Invariant: the results depend on the rows alone, not on the order in which they were done.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from operator import eq
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from flipset.errors import Fault, FlipsetError, InputError, Interrupted
from flipset.explain.answer_columns import AnswerRow
from flipset.explain.collecting import fewer_collections
from flipset.space.rows import about_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flipset.layers import Tally
    from flipset.space.ids import Ids
    from flipset.space.row_id import RowId
    from flipset.space.table_rows import TableRows


class RowsJob(Protocol):
    """A job that explains distinct rows and yields each with its result: that of one threshold, or of several."""

    def all(self, rows: TableRows, workers: int, tally: Tally) -> Iterator[tuple[int, Any]]:
        """Explain rows; yield the number and the result of each as soon as it is done."""


class TableResults(Sequence[Any]):
    """What is known about each row of a table: an explanation, its error, or one of either for each threshold.

    What is held of most rows is a line of `AnswerColumns`. The explanation is made when it is looked at, each time
    anew.
    """

    def __init__(self, held: list[Any], ids: Ids | None = None) -> None:
        self._held = held
        self._ids = ids

    def __len__(self) -> int:
        return len(self._held)

    @overload
    def __getitem__(self, i: int) -> Any: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, i: int | slice) -> Any:
        """Return the result of a row, or those of several as a tuple."""
        if isinstance(i, slice):
            return tuple(self[k] for k in range(*i.indices(len(self))))
        place = range(len(self))[i]
        return _about(place, self._held[place], None if self._ids is None else self._ids.of(place))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # like a list

    def __reduce__(self) -> tuple[Any, ...]:
        # Answers in arrays belong to a space and a whole table. Whoever gets the results gets explanations.
        return tuple, (list(self),)

    @property
    def queries(self) -> int:
        """The queries of all results; those of equal rows were made once."""
        return sum(queries for queries, _ in self._counts())

    @property
    def rounds(self) -> int:
        """The most rounds of a result: rows are explained together."""
        return max((rounds for _, rounds in self._counts()), default=0)

    def _counts(self) -> Iterator[tuple[int, int]]:
        # Equal rows hold the same object.
        for one in {id(one): one for one in self._held}.values():
            if isinstance(one, AnswerRow):
                yield int(one.answers.queries[one.line]), int(one.answers.rounds[one.line])
            elif not isinstance(one, FlipsetError):
                yield one.queries, one.rounds

    def of_threshold(self, k: int) -> TableResults:
        """Return the results for one of several thresholds; an error is that of all of them."""
        return TableResults([one[k] if isinstance(one, tuple) else one for one in self._held], self._ids)


def _about(i: int, result: Any, own: RowId | None) -> Any:
    """Return a result, or one for each threshold, that knows which row it is about."""
    if isinstance(result, tuple):
        return tuple(_about(i, one, own) for one in result)
    if isinstance(result, AnswerRow):
        result = result.explanation()
    if isinstance(result, InputError):
        result = about_row(i, result, own)
    if own is None:
        return result
    if not isinstance(result, FlipsetError):
        return replace(result, id=own)
    result = copy(result)  # equal rows share an error, too
    result.id = own
    return result


def explain_rows(
    prepare: Callable[[TableRows], RowsJob],
    rows: TableRows,
    workers: int,
    tally: Tally,
    *,
    each: Callable[[int, Any], None] | None,
    report: Callable[[int, int], None],
    ids: Ids | None = None,
) -> TableResults:
    """Explain rows, equal ones once, with the job that `prepare` returns for the distinct rows.

    A row that cannot be read, or that the space does not allow, has its error as its result. `each` is called with the
    place and the result of each row as it is done, and `report` with the rows done and the queries so far. `ids` are
    put on the explanations, and named in errors about rows. An interrupt
    ends the run, and so does a fault of the network or the disk. Rows without a result then have that error.
    """
    held: list[Any] = [None] * len(rows)
    results = TableResults(held, ids)
    done = 0

    def finish(i: int, result: Any) -> None:
        nonlocal done
        held[i] = result
        done += 1
        if each is not None:
            each(i, results[i])
        report(done, tally.queries)

    readable = rows.readable()
    if len(readable) < len(rows):
        for i in np.setdiff1d(np.arange(len(rows)), readable).tolist():
            finish(i, rows[i])
    distinct, further = _places(rows, readable)
    end: FlipsetError = Interrupted()
    try:
        with fewer_collections:
            different = rows if len(distinct) == len(rows) else rows.part(distinct)
            # Inside the `try`: choosing the batch asks the model already, and may meet a fault.
            job = prepare(different)
            numbers = distinct.tolist()
            for number, result in job.all(different, workers, tally):
                finish(numbers[number], result)
                for i in further.get(numbers[number], ()):
                    finish(i, result)
    except KeyboardInterrupt:
        pass
    except Fault as error:
        end = error
    if done < len(held):
        held[:] = [end if result is None else result for result in held]
    return results


def _places(rows: TableRows, readable: Any) -> tuple[Any, dict[int, list[int]]]:
    """Return the first of equal rows, and for each of these the further places where it stands."""
    first = rows.first_of_equal()[readable]
    is_first = first == readable
    further: dict[int, list[int]] = {}
    for i, place in zip(first[~is_first].tolist(), readable[~is_first].tolist(), strict=True):
        further.setdefault(i, []).append(place)
    return readable[is_first], further
