"""The background work of the page: a thread that scores all rows and then explains them, viewed rows first.

What it finds goes into `RowResults`, which answers what the page asks about the table.

The work has budgets. A number of rows is explained without being viewed. Rows are explained in chunks by the fast
search for many rows; a chunk that needs too many queries is given up, and its remaining rows are explained with a limit
of queries for each. People can stop the background work: then only rows that they view are explained.
"""

from __future__ import annotations

from functools import partial
from sys import maxsize
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.boundary.limits import BACKGROUND_QUERIES, BACKGROUND_ROWS
from flipset.errors import BudgetExhausted, Fault, FlipsetError, InputError, Interrupted
from flipset.explain.threads import keep_thread_on_one_thread
from flipset.serve.calls import CALL_ROWS, Gone, Rank
from flipset.serve.row_results import RowResults

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.explainer import Explainer
    from flipset.serve.calls import ModelAccess
    from flipset.serve.row_results import Ints

CHUNK = 256
"""Rows explained at a time."""

SCORED = CALL_ROWS
"""Rows scored at a time."""

NO_ROWS = np.array([], dtype=np.intp)


class _Spent(BaseException):
    """The queries of a chunk are spent. A BaseException, so that nothing handles it as an error of the model."""


class BackgroundTable:
    """A table whose rows are scored and explained in the background."""

    def __init__(self, explainer: Explainer, frame: Any, model: ModelAccess, *, eager: bool = True) -> None:
        self.may_be_eager = self.eager = eager
        self.model = model
        self.explainer = explainer.through(self._limited, self._look)
        units = dict.fromkeys(feature.group or feature.name for feature in explainer.space.features)
        self.results = RowResults(frame, list(units), explainer.threshold, explainer.space.decision)
        self.queries = 0  # of finished chunks
        self.scored = 0
        self.failure = ""  # the error that ended the background work, if any
        self._wanted = NO_ROWS
        self._closed = False
        self._cancelled = False  # the chunk under way is to be given up
        self._left = 0  # queries that the chunk under way may still make
        self._next = 0  # all rows before this one, and before `_end`, have a result
        self._change = Condition()
        self._thread = Thread(target=self._run, name="flipset-table", daemon=True)

    # --- in the background ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the background work."""
        self._thread.start()

    def close(self) -> None:
        """Stop waiting for rows to explain."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    def join(self) -> None:
        """Wait until the background work ends."""
        if self._thread.is_alive():
            self._thread.join()

    def want(self, rows: Sequence[int]) -> None:
        """Explain these rows next, because they are viewed."""
        with self._change:
            self._wanted = np.array(rows, dtype=np.intp)  # not added to those before: they are out of view
            self._change.notify_all()

    def explain_all(self, wanted: bool) -> None:
        """Explain all rows in the background, up to the limit, or stop that and explain only viewed rows."""
        if wanted and not self.may_be_eager:
            raise InputError("the page was started to explain only rows that are viewed: use --everything")
        with self._change:
            self._cancelled = self.eager and not wanted
            self.eager = wanted
            self.results.version += 1
            self._change.notify_all()
        # A call of the background may be waiting there for its turn, and must see that it is over.
        self.model.wake()

    def progress(self) -> dict[str, Any]:
        """Return the progress of the background work."""
        known = self.results.known.copy()  # one moment: a report that counts all rows also says that none is left
        left = not known[: self._end].all()
        return {
            "rows": len(self.results),
            "scored": self.scored,
            "explained": int(known.sum()),
            "questions": self.queries,
            "version": self.results.version,
            "failure": self.failure,
            "background": self.eager and left,
            "may_explain_all": self.may_be_eager and left,
        }

    # --- the model, for this work ---------------------------------------------------------------------------------

    @property
    def _end(self) -> int:
        """The number of rows that are explained without being viewed."""
        return min(len(self.results), BACKGROUND_ROWS)

    def _limited(self, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
        ask = self.model.for_work(predict, Rank.BACKGROUND, self._is_over)

        def limited(rows: Any) -> Any:
            with self._change:
                # Counted before the call: afterwards, a chunk could exceed its budget by a whole call.
                self._left -= len(rows)
                if self._left < 0:
                    raise _Spent
            return ask(rows)

        return limited

    def _is_over(self) -> bool:
        return self._closed or self._cancelled

    def _look(self) -> None:
        if self._is_over() or self.model.is_closed:
            raise Gone

    # --- the thread -----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        keep_thread_on_one_thread()
        try:
            self._until_cancelled(self._score_all)
            while (rows := self._take()).size:
                self._until_cancelled(partial(self._explain, rows))
        except Gone:
            return
        except BaseException as error:  # shown on the page, since a thread has no caller to raise it to
            self.failure = f"{type(error).__name__}: {error}"
            self.results.version += 1

    def _until_cancelled(self, work: Callable[[], None]) -> None:
        """Do some work; if somebody stops it, go on with viewed rows."""
        try:
            work()
        except Gone:
            with self._change:
                if self._closed or self.model.is_closed:
                    raise
                self._cancelled = False
            self.results.version += 1

    def _score_all(self) -> None:
        for start in range(0, len(self.results) if self.eager else 0, SCORED):
            stop = min(start + SCORED, len(self.results))
            self._left = maxsize  # each row is asked once, or a few times where the model fails
            self._score(start, stop)
            self.scored = stop
            self.results.version += 1

    def _score(self, start: int, stop: int) -> None:
        """Score some rows; if the model fails, halve them until only the rows that make it fail are left out."""
        try:
            self.results.scores[start:stop] = self.explainer.scores(self._cells(slice(start, stop)))
        except Fault:
            raise
        except FlipsetError:
            if stop - start > 1:  # the error of a single row is reported when it is explained
                middle = (start + stop) // 2
                self._score(start, middle)
                self._score(middle, stop)

    def _cells(self, rows: Ints | slice) -> Any:
        """Return what the model is given of some rows; rows are taken first, so that no column is copied whole."""
        return self.results.frame.iloc[rows][list(self.explainer.space.table_columns)]

    def _take(self) -> Ints:
        """Return the next rows to explain: viewed rows, or the next in order; wait until there are some."""
        with self._change:
            while not self._closed:
                # Whoever cancelled, cancelled the chunk before. The next one is new work.
                self._cancelled = False
                viewed = self.results.waiting(self._wanted)[:CHUNK]
                self._wanted = NO_ROWS
                rows = viewed if viewed.size else self._in_order()
                # Without rows the thread ends if nothing is left to explain. Else it waits for a view.
                if rows.size or self.is_done():
                    return rows
                self._change.wait()
        return NO_ROWS

    def _in_order(self) -> Ints:
        """Return the next rows that nobody has viewed; none if only viewed rows are explained."""
        while self.eager and self._next < self._end:
            part = np.arange(self._next, min(self._next + CHUNK, self._end))
            unknown = self.results.waiting(part)
            if unknown.size:
                return unknown
            self._next += CHUNK
        return NO_ROWS

    def is_done(self) -> bool:
        """Whether every row is explained."""
        return bool(self.results.known.all())

    def _explain(self, rows: Ints) -> None:
        try:
            # For the chunk, not for each row: limits for each row switch off the fast search for many rows.
            self._left = BACKGROUND_QUERIES * len(rows)
            self._explain_together(rows)
        except _Spent:
            self._explain_each(self.results.waiting(rows))

    def _explain_each(self, rows: Ints) -> None:
        """Explain rows of a chunk that needs very many queries, with a limit for each row."""
        try:
            # Where the model fails, rows of a call are asked again to find out which of them fail.
            self._left = 2 * BACKGROUND_QUERIES * len(rows)
            self._explain_together(rows, max_queries=int(BACKGROUND_QUERIES))
        except _Spent:
            for row in self.results.waiting(rows).tolist():
                self.results.note(row, BudgetExhausted(f"{BACKGROUND_QUERIES:,} queries for a row in the background"))

    def _explain_together(self, rows: Ints, **limits: Any) -> None:
        places = rows.tolist()
        explained = self.explainer.explain_table(
            self._cells(rows),
            values=False,
            max_rows=CALL_ROWS,
            each=lambda i, result: self.results.note(places[i], result),
            **limits,
        )
        fault = next((result for result in explained if isinstance(result, Fault)), None)
        # In the background, each row would meet the same fault. A row that is viewed may be tried again.
        if fault is not None and self.eager:
            raise fault
        self.failure = "" if fault is None else str(fault)  # until rows are viewed again
        if fault is not None:
            self.results.version += 1
            return
        for row in self.results.waiting(rows).tolist():
            self.results.note(row, Interrupted())  # an interrupt in this thread concerns these rows
        self.queries += explained.queries
        self.results.version += 1
