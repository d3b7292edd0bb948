"""How many calls so many queries take, and how long these take.

Calls do not grow in proportion to queries: the more rows are under way, the more of their queries share a call, up to
what a call may have. How much more depends on how calls and computation take turns. At the least, calls are as full as
in the sample (`full` = 0); at the most, they have as many more queries as more rows are under way (`full` = 1). What is
expected is the geometric mean of both.

Time is the largest of these, because they go on side by side:

- waiting for calls, `in_flight` at a time, each as long as the median call,
- waiting for the rounds of the slowest row,
- what the endpoint's `rate` allows,
- computing, in proportion to the queries.

A local model does not wait: its time is in proportion to the queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class RowCounts:
    """The queries and rounds of each row of a sample."""

    queries: Sequence[float]
    rounds: Sequence[int]


@dataclass(frozen=True, slots=True)
class Pace:
    """How a sample was explained, from which follows how a table is.

    Attributes
    ----------
    counts
        The queries and rounds of the rows of the sample.
    calls, seconds, computing
        The calls of the sample, the time on the clock, and the time of the processor.
    width, fill, in_flight
        How many rows, queries of a call, and calls at a time there may be.
    call_seconds
        How long each of the latest calls took; empty for a local model.
    rate
        How many calls may go out in a second; None for no limit.
    is_local
        Whether the model is called in this process.
    """

    counts: RowCounts
    calls: int
    seconds: float
    computing: float
    width: int
    fill: float
    in_flight: int = 1
    call_seconds: Sequence[float] = ()
    rate: float | None = None
    is_local: bool = True

    def calls_for(self, queries: float, rows: int, full: float = 0.5) -> float:
        """Return how many calls the queries of so many rows take, if calls are so full."""
        asked = sum(self.counts.queries)
        if not self.calls or not asked:
            return 0.0
        size = asked / self.calls
        under_way = min(rows, self.width) / min(len(self.counts.queries), self.width)
        most = max(size, min(self.fill, size * under_way))
        return queries / (size * float((most / size) ** full))

    def seconds_for(self, queries: float, rows: int, full: float = 0.5) -> float | None:
        """Return how long the queries of so many rows take; None if no call was measured."""
        asked = max(1.0, sum(self.counts.queries))
        if self.is_local:
            return self.seconds * queries / asked
        if not self.call_seconds:
            return None
        each, calls = median(self.call_seconds), self.calls_for(queries, rows, full)
        slowest = max(self.counts.rounds, default=0) * each
        allowed = 0.0 if self.rate is None else calls / self.rate
        return max(each * calls / self.in_flight, slowest, allowed, self.computing * queries / asked)
