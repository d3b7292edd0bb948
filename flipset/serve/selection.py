"""The rows that somebody wants to see: selected by cells and by what is known about them, and in some order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from flipset.errors import InputError
from flipset.serve.groups import groups_of
from flipset.serve.row_results import STATUSES
from flipset.space.feature import plain

if TYPE_CHECKING:
    from flipset.serve.row_results import Bools, Ints, Part, RowResults

Kind: TypeAlias = Literal["", "yes", "no"]

DERIVED = ("@size", "@score", "@decision")
"""Sort keys that are not columns, and that change while rows are explained."""


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
    part: Part = "some"
    by: str = ""
    group: str = ""
    search: str = ""
    sort: str = ""
    descending: bool = False


class Selection:
    """Selects rows of one table. It keeps orders and texts, since a page asks for the next rows of the same query."""

    def __init__(self, results: RowResults) -> None:
        self._results = results
        # Limited, because each order is as long as the table.
        self._order = lru_cache(maxsize=32)(self._order_by)
        self._texts: list[str] | None = None

    def select(self, query: Query) -> Ints:
        """Return the selected rows, in order."""
        results = self._results
        # The order by a column never changes; one by results is kept for as long as they stay the same.
        rows = self._order(query.sort, query.descending, results.version if query.sort in DERIVED else 0)
        keep = np.ones(len(results), dtype=bool)
        if query.decision:
            keep &= (results.scores >= results.threshold) == (query.decision == "yes")
            # A comparison with NaN is false: rows without a score would pass for declined.
            keep &= ~np.isnan(results.scores)
        if query.size:
            keep &= self._of_size(query.size)
        if query.feature:
            if query.feature not in results.number_of:
                raise InputError(f"there is no feature {query.feature!r}")
            keep &= results.parts[query.part][:, results.number_of[query.feature]]
        if query.group or query.by:
            keep &= np.array([value == query.group for value in groups_of(results.frame, query.by)])
        if query.search:
            wanted = query.search.casefold()
            keep &= np.fromiter((wanted in text for text in self._all_texts()), dtype=bool, count=len(results))
        return rows[keep[rows]]

    def _of_size(self, size: str) -> Bools:
        results = self._results
        try:
            return results.have(size) if size in STATUSES else results.sizes == float(size)
        except ValueError:
            raise InputError(f"size {size!r} is neither a number nor none, waiting, stopped or error") from None

    def _order_by(self, sort: str, descending: bool, _version: int) -> Ints:
        results = self._results
        if not sort:
            rows = np.arange(len(results))
            return rows[::-1] if descending else rows
        if sort not in DERIVED:
            return self._order_by_column(sort, descending)
        # No option is more than any number of changes. What is not known yet comes last in both directions.
        keys = np.where(results.have("none"), np.inf, results.sizes) if sort == "@size" else results.scores
        missing = np.isnan(keys)
        order = np.argsort(np.where(missing, np.inf, -keys if descending else keys), kind="stable")
        return np.concatenate([order[~missing[order]], order[missing[order]]])

    def _order_by_column(self, name: str, descending: bool) -> Ints:
        if name not in self._results.columns:
            raise InputError(f"there is no column {name!r} to sort by")
        column = self._results.frame[name]
        how = {"kind": "stable", "ascending": not descending, "na_position": "last"}
        try:
            ordered = column.sort_values(**how)
        except TypeError:  # values of several types are compared as text
            ordered = column.map(str).sort_values(**how)
        return np.asarray(ordered.index, dtype=np.intp)

    def _all_texts(self) -> list[str]:
        """Return the text of each row; made when somebody searches, because it takes as much memory as the table."""
        if self._texts is None:
            frame = self._results.frame
            columns = [["" if plain(cell) is None else str(cell) for cell in frame[name]] for name in frame.columns]
            # A line end between cells, so that no text is found across two of them.
            self._texts = ["\n".join(cells).casefold() for cells in zip(*columns, strict=True)]
        return self._texts
