"""The table that the page shows: scores, what is known about each row, and the selection of rows.

A thread scores all rows and then explains them, viewed rows first. Only what the table shows of an explanation is kept;
a row that is opened is explained again, which takes milliseconds.

The background work has budgets. A number of rows is explained without being viewed. Rows are explained in chunks by the
fast search for many rows; a chunk that needs too many queries is given up, and its remaining rows are explained with a
limit of queries for each. People can stop the background work: then only rows that they view are explained.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from sys import maxsize
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from flipset.errors import BudgetExhausted, Fault, FlipsetError, InputError, Interrupted
from flipset.explain.threads import keep_thread_on_one_thread
from flipset.limits import BACKGROUND_QUERIES, BACKGROUND_ROWS
from flipset.serve.calls import CALL_ROWS, Gone, Rank
from flipset.space.feature import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from flipset.explain.explanation import Explanation
    from flipset.explainer import Explainer
    from flipset.serve.calls import ModelAccess

    Ints: TypeAlias = NDArray[np.intp]

CHUNK = 256
"""Rows explained at a time."""

SCORED = CALL_ROWS
"""Rows scored at a time."""

MOST_GROUPS = 12
"""The most values of a column that is offered for comparing groups."""

MOST_COMPARED = 100
"""The most groups that can be compared."""

STATUSES = ("waiting", "optimal", "none", "stopped", "unproved", "error")
"""The states of a row, stored by number."""

Kind: TypeAlias = Literal["", "yes", "no"]


@dataclass(frozen=True, slots=True)
class Query:
    """A selection of rows, and their order.

    Attributes
    ----------
    decision
        "yes", "no", or any.
    size
        A number of changes, "none" (no option), "waiting", "error", or any.
    feature, part
        Only rows with this feature in some smallest flip set ("some"), in all of them ("all"), or in a reason.
    group
        Only rows with this value, as text, in the column `by`.
    search
        Only rows with a cell that contains this text, ignoring case.
    sort, descending
        A column, or "@score", "@size", "@decision"; by default the order of the table.
    """

    decision: Kind = ""
    size: str = ""
    feature: str = ""
    part: Literal["some", "all", "reason"] = "some"
    by: str = ""
    group: str = ""
    search: str = ""
    sort: str = ""
    descending: bool = False


class _Spent(BaseException):
    """The queries of a chunk are spent. A BaseException, so that nothing handles it as an error of the model."""


class BackgroundTable:
    """A table whose rows are scored and explained in the background."""

    def __init__(self, explainer: Explainer, frame: Any, model: ModelAccess, *, eager: bool = True) -> None:
        self.may_be_eager = self.eager = eager
        self.model = model
        self.explainer = explainer.through(self._limited, self._look)
        self.frame = frame.set_axis([str(column) for column in frame.columns], axis=1).reset_index(drop=True)
        self.columns = list(self.frame.columns)
        self.units = list(dict.fromkeys(feature.group or feature.name for feature in explainer.space.features))
        n = len(frame)
        self.scores = np.full(n, np.nan)
        self.status = np.zeros(n, dtype=np.uint8)
        self.sizes = np.full(n, np.nan)
        self.parts = {part: np.zeros((n, len(self.units)), dtype=bool) for part in ("some", "all", "reason")}
        self.errors: dict[int, str] = {}
        self.questions = 0  # queries of finished chunks
        self.scored = 0
        self.version = 0
        self.failure = ""  # the error that ended the background work, if any
        self._number = {name: i for i, name in enumerate(self.units)}
        self._wanted: list[int] = []
        self._closed = False
        self._cancelled = False  # the chunk under way is to be given up
        self._left = 0  # queries that the chunk under way may still make
        self._next = 0
        self._change = Condition()
        self._thread = Thread(target=self._run, name="flipset-table", daemon=True)
        self._order = lru_cache(maxsize=32)(self._order_by)
        self._text: list[str] | None = None

    def __len__(self) -> int:
        return len(self.status)

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
            self._wanted = [row for row in rows if not self.status[row]]
            self._change.notify_all()

    def explain_all(self, wanted: bool) -> None:
        """Explain all rows in the background, up to the limit, or stop that and explain only viewed rows."""
        if wanted and not self.may_be_eager:
            raise InputError("the page was started to explain only rows that are viewed: use --everything")
        with self._change:
            self._cancelled = self.eager and not wanted
            self.eager = wanted
            self.version += 1
            self._change.notify_all()
        self.model.wake()

    def progress(self) -> dict[str, Any]:
        """Return the progress of the background work."""
        return {
            "rows": len(self),
            "scored": self.scored,
            "explained": int((self.status > 0).sum()),
            "questions": self.questions,
            "version": self.version,
            "failure": self.failure,
            "background": self.eager and self._next < self._end,
            "may_explain_all": self.may_be_eager and self._next < self._end,
        }

    # --- the model, for this work ---------------------------------------------------------------------------------

    @property
    def _end(self) -> int:
        """The number of rows that are explained without being viewed."""
        return min(len(self), BACKGROUND_ROWS)

    def _limited(self, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
        ask = self.model.for_work(predict, Rank.BACKGROUND, self._is_over)

        def limited(rows: Any) -> Any:
            with self._change:
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
            self.version += 1

    def _until_cancelled(self, work: Callable[[], None]) -> None:
        """Do some work; if somebody stops it, go on with viewed rows."""
        try:
            work()
        except Gone:
            with self._change:
                if self._closed or self.model.is_closed:
                    raise
                self._cancelled = False
            self.version += 1

    def _score_all(self) -> None:
        table = self.frame[list(self.explainer.space.names)]
        for start in range(0, len(self) if self.eager else 0, SCORED):
            stop = min(start + SCORED, len(self))
            self._left = maxsize  # each row is asked once, or a few times where the model fails
            self._score(table, start, stop)
            self.scored = stop
            self.version += 1

    def _score(self, table: Any, start: int, stop: int) -> None:
        """Score some rows; if the model fails, halve them until only the rows that make it fail are left out."""
        try:
            self.scores[start:stop] = self.explainer.scores(table.iloc[start:stop])
        except Fault:
            raise
        except FlipsetError:
            if stop - start > 1:  # the error of a single row is reported when it is explained
                middle = (start + stop) // 2
                self._score(table, start, middle)
                self._score(table, middle, stop)

    def _take(self) -> Ints:
        """Return the next rows to explain: viewed rows, or the next in order; wait until there are some."""
        with self._change:
            while not self._closed:
                self._cancelled = False
                wanted = [row for row in self._wanted if not self.status[row]][:CHUNK]
                self._wanted = []
                rows = np.array(wanted, dtype=np.intp) if wanted else self._in_order()
                if rows.size or self.is_done():
                    return rows
                self._change.wait()
        return np.array([], dtype=np.intp)

    def _in_order(self) -> Ints:
        """Return the next rows that nobody has viewed; none if only viewed rows are explained."""
        while self.eager and self._next < self._end:
            part = np.arange(self._next, min(self._next + CHUNK, self._end))
            unknown: Ints = part[self.status[part] == 0]
            if unknown.size:
                return unknown
            self._next += CHUNK
        return np.array([], dtype=np.intp)

    def is_done(self) -> bool:
        """Whether every row is explained."""
        return bool((self.status > 0).all())

    def _explain(self, rows: Ints) -> None:
        try:
            self._left = BACKGROUND_QUERIES * len(rows)
            self._explain_together(rows)
        except _Spent:
            self._explain_each(rows[self.status[rows] == 0])

    def _explain_each(self, rows: Ints) -> None:
        """Explain rows of a chunk that needs very many queries, with a limit for each row."""
        try:
            # Where the model fails, rows of a call are asked again to find out which of them fail.
            self._left = 2 * BACKGROUND_QUERIES * len(rows)
            self._explain_together(rows, max_queries=int(BACKGROUND_QUERIES))
        except _Spent:
            for row in rows[self.status[rows] == 0].tolist():
                self._note(row, BudgetExhausted(f"{BACKGROUND_QUERIES:,} queries for a row in the background"))

    def _explain_together(self, rows: Ints, **limits: Any) -> None:
        table = self.frame[list(self.explainer.space.names)].iloc[rows]
        places = rows.tolist()
        results = self.explainer.explain_table(
            table,
            values=False,
            max_rows=CALL_ROWS,
            each=lambda i, result: self._note(places[i], result),
            **limits,
        )
        fault = next((result for result in results if isinstance(result, Fault)), None)
        if fault is not None and self.eager:
            raise fault
        self.failure = "" if fault is None else str(fault)  # until rows are viewed again
        if fault is not None:
            self.version += 1
            return
        for row in rows[self.status[rows] == 0].tolist():
            self._note(row, Interrupted())  # an interrupt in this thread concerns these rows
        self.questions += results.queries
        self.version += 1

    def _note(self, row: int, result: Explanation | FlipsetError) -> None:
        if isinstance(result, FlipsetError):
            self.errors[row] = str(result)
            self.status[row] = STATUSES.index("error")
            return
        self.scores[row] = result.score
        self.sizes[row] = np.nan if result.size is None else result.size
        sets = [set(names) for names in result.flipsets]
        self._mark("some", row, set().union(*sets))
        self._mark("all", row, set.intersection(*sets) if sets else set())
        self._mark("reason", row, set().union(*result.reasons))
        self.status[row] = STATUSES.index(result.status)

    def _mark(self, part: str, row: int, names: set[str]) -> None:
        self.parts[part][row, [self._number[name] for name in names]] = True

    # --- selection --------------------------------------------------------------------------------------------

    def select(self, query: Query) -> Ints:
        """Return the selected rows, in order."""
        rows = self._order(query.sort, query.descending, self.version if query.sort in DERIVED else 0)
        keep = np.ones(len(self), dtype=bool)
        if query.decision:
            keep &= (self.scores >= self.explainer.threshold) == (query.decision == "yes")
            keep &= ~np.isnan(self.scores)
        if query.size:
            keep &= self._of_size(query.size)
        if query.feature:
            if query.feature not in self._number:
                raise InputError(f"there is no feature {query.feature!r}")
            keep &= self.parts[query.part][:, self._number[query.feature]]
        if query.group or query.by:
            keep &= np.array([value == query.group for value in self._groups(query.by)])
        if query.search:
            wanted = query.search.casefold()
            keep &= np.fromiter((wanted in text for text in self._texts()), dtype=bool, count=len(self))
        return rows[keep[rows]]

    def _of_size(self, size: str) -> NDArray[np.bool_]:
        keep: NDArray[np.bool_]
        try:
            keep = self.status == STATUSES.index(size) if size in STATUSES else self.sizes == float(size)
            return keep
        except ValueError:
            raise InputError(f"size {size!r} is neither a number nor none, waiting, stopped or error") from None

    def _order_by(self, sort: str, descending: bool, _version: int) -> Ints:
        if not sort:
            rows = np.arange(len(self))
            return rows[::-1] if descending else rows
        if sort not in DERIVED:
            return self._order_by_column(sort, descending)
        keys = np.where(self.status == STATUSES.index("none"), np.inf, self.sizes) if sort == "@size" else self.scores
        missing = np.isnan(keys)
        order = np.argsort(np.where(missing, np.inf, -keys if descending else keys), kind="stable")
        return np.concatenate([order[~missing[order]], order[missing[order]]])

    def _order_by_column(self, name: str, descending: bool) -> Ints:
        if name not in self.columns:
            raise InputError(f"there is no column {name!r} to sort by")
        how = {"kind": "stable", "ascending": not descending, "na_position": "last"}
        try:
            ordered = self.frame[name].sort_values(**how)
        except TypeError:  # values of several types are compared as text
            ordered = self.frame[name].map(str).sort_values(**how)
        return np.asarray(ordered.index, dtype=np.intp)

    def _texts(self) -> list[str]:
        if self._text is None:
            columns = [["" if plain(cell) is None else str(cell) for cell in self.frame[name]] for name in self.columns]
            self._text = ["\n".join(cells).casefold() for cells in zip(*columns, strict=True)]
        return self._text

    def page(self, rows: Ints) -> list[dict[str, Any]]:
        """Return rows as the page shows them."""
        cells = [[plain(value) for value in self.frame[name].iloc[rows].tolist()] for name in self.columns]
        return [
            {"row": row, "cells": list(values), **self._known(row)}
            for row, values in zip(rows.tolist(), zip(*cells, strict=True), strict=True)
        ]

    def _known(self, row: int) -> dict[str, Any]:
        score = float(self.scores[row])
        return {
            "score": None if np.isnan(score) else score,
            "decision": None if np.isnan(score) else bool(score >= self.explainer.threshold),
            "status": STATUSES[self.status[row]],
            "size": None if np.isnan(self.sizes[row]) else float(self.sizes[row]),
            "error": self.errors.get(row, ""),
        }

    # --- summary ----------------------------------------------------------------------------------------------

    def summary(self, by: str = "") -> dict[str, Any]:
        """Return the changes that explained rows need and the features in flip sets and reasons; also by group."""
        everything = self._summary_of(self.status > 0)
        if not by:
            return {"all": everything, "groups": []}
        values = np.array(self._groups(by), dtype=object)
        if len(set(values)) > MOST_COMPARED:
            raise InputError(f"{by!r} has {len(set(values)):,} values; at most {MOST_COMPARED} can be compared")
        groups = [
            {"group": value, **self._summary_of((self.status > 0) & (values == value))} for value in sorted(set(values))
        ]
        return {"all": everything, "groups": groups}

    def _summary_of(self, rows: NDArray[np.bool_]) -> dict[str, Any]:
        explained = rows & (self.status != STATUSES.index("error"))
        flippable = explained & ~np.isnan(self.sizes)
        sizes, counts = np.unique(self.sizes[flippable], return_counts=True)
        n, m = int(explained.sum()), int(flippable.sum())
        shares = {
            "some": self.parts["some"][flippable].sum(axis=0) / max(m, 1),
            "all": self.parts["all"][flippable].sum(axis=0) / max(m, 1),
            "reason": self.parts["reason"][explained].sum(axis=0) / max(n, 1),
        }
        return {
            "rows": int(rows.sum()),
            "errors": int(rows.sum()) - n,
            "none": int((explained & (self.status == STATUSES.index("none"))).sum()),
            "mean_size": float(self.sizes[flippable].mean()) if m else None,
            "sizes": [
                {"size": size, "rows": count} for size, count in zip(sizes.tolist(), counts.tolist(), strict=True)
            ],
            "features": [
                {"name": name, **{part: float(share[i]) for part, share in shares.items()}}
                for i, name in enumerate(self.units)
                if any(share[i] for share in shares.values())
            ],
        }

    def group_columns(self) -> list[str]:
        """Return the columns with few enough values for comparing groups."""
        return [name for name in self.columns if 1 < len(set(self._first_groups(name))) <= MOST_GROUPS]

    def _first_groups(self, name: str) -> Iterator[str]:
        """Yield the different values of a column until there are too many."""
        seen: set[str] = set()
        for value in self.frame[name].tolist():
            if (text := _group(value)) not in seen:
                seen.add(text)
                yield text
                if len(seen) > MOST_GROUPS:
                    return

    def _groups(self, by: str) -> list[str]:
        if by not in self.columns:
            raise InputError(f"there is no column {by!r} to compare by")
        return [_group(value) for value in self.frame[by].tolist()]


def _group(value: Any) -> str:
    return "missing" if plain(value) is None else str(value)


DERIVED = ("@size", "@score", "@decision")
"""Sort keys that are not columns, and that change while rows are explained."""
