"""The budget of a whole table, in queries and in seconds."""

from __future__ import annotations

from dataclasses import dataclass

from flipset.errors import BudgetExhausted, InputError
from flipset.explain.time_limits import Deadline
from flipset.plural import count
from flipset.search.solve import read_count

USUAL = 64
"""The number of queries that a row is assumed to need, before any row is finished."""


@dataclass(slots=True)
class TableBudget:
    """The budget of queries and of time for a whole table.

    Attributes
    ----------
    most
        The most queries; None for no limit.
    deadline
        When the time is over; None for no limit.
    asked, finished
        Queries made and rows finished so far.
    """

    most: int | None = None
    deadline: Deadline | None = None
    asked: int = 0
    finished: int = 0

    def width(self, width: int) -> int:
        """Return how many rows to have under way, so that those begun can probably be finished."""
        if self.most is None:
            return width
        # With fewer rows under way, more of those that were begun are finished when the budget ends.
        each = self.asked / self.finished if self.finished else USUAL
        return max(1, min(width, int((self.most - self.asked) / max(each, 1.0))))

    def afford(self, queries: int) -> BudgetExhausted | None:
        """Count queries that are about to be made, or return the error if the budget does not allow them."""
        # All or nothing: a part of a batch would be paid for, and its row would be stopped all the same.
        if self.most is not None and self.asked + queries > self.most:
            return BudgetExhausted(f"{count(self.most, 'query')} for the table")
        self.asked += queries
        return None


def table_budget(max_table_queries: int | None, max_table_seconds: float | None) -> TableBudget:
    """Return the budget of a table whose work begins now."""
    most = None if max_table_queries is None else read_count("max_table_queries", max_table_queries)
    if max_table_seconds is None:
        return TableBudget(most)
    is_number = isinstance(max_table_seconds, (int, float)) and not isinstance(max_table_seconds, bool)
    if not is_number or not max_table_seconds >= 0:
        raise InputError(f"max_table_seconds must be a number of at least 0, or None; got {max_table_seconds!r}")
    deadline = Deadline(max_table_seconds, " for the table")
    deadline.left()  # from now on
    return TableBudget(most, deadline)
