"""How long calls take, and how many rows and queries to send together for that reason."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from statistics import median

LATEST = 64
"""How many calls are kept. Only the latest count, because an endpoint may become faster or slower."""

UNTRIED = 64
"""Rows for one call, as long as no larger call has been measured."""

STEPS = ((64, 2.0), (16, 0.25), (4, 0.0))
"""Choices of `batch`, each with the capacity it needs: how many rows the calls under way must hold for each row of the
table.

More than 64 queries of one row at a time hardly save a round, and fewer than 4 hardly save a query. A small table takes
as many rounds as its slowest row, so a large batch is faster. A large table takes as long as all of its queries do, so
a small batch, which makes fewer of them, is faster.
"""

FRUGAL = STEPS[-1][0]
"""The batch that makes the fewest queries."""


@dataclass(slots=True)
class CallTimes:
    """How many rows each of the latest calls had, and how long it took."""

    calls: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=LATEST))

    def note(self, rows: int, seconds: float) -> None:
        """Record one call."""
        self.calls.append((rows, seconds))

    def clear(self) -> None:
        """Forget the calls so far, as after the first one, which opens a connection and says little about the next."""
        self.calls.clear()

    @property
    def has_sizes(self) -> bool:
        """Whether calls of different sizes were recorded, so that the time per row can be separated from the rest."""
        return len({rows for rows, _ in tuple(self.calls)}) > 1

    def rows_per_call(self) -> int:
        """Return how many rows a call may have before its rows take longer than the call itself.

        A call takes a fixed time, and some more for each row. Up to this many rows, a large call is nearly as fast as a
        small one. Beyond it, two calls side by side are faster.

        Examples
        --------
        >>> times = CallTimes()
        >>> for rows in (1, 101):
        ...     times.note(rows, seconds=0.020 + rows * 0.0001)
        >>> times.rows_per_call()
        200
        """
        calls = tuple(self.calls)  # a copy, because other threads keep recording
        sizes = sorted({rows for rows, _ in calls})
        if len(sizes) < 2:
            return UNTRIED
        # Medians, because single calls may be delayed by anything.
        middle = (sizes[0] + sizes[-1]) / 2
        small = [call for call in calls if call[0] <= middle]
        large = [call for call in calls if call[0] > middle]
        (few, soon), (many, late) = (
            (median(rows for rows, _ in part), median(seconds for _, seconds in part)) for part in (small, large)
        )
        each = (late - soon) / (many - few)
        if each <= 0:  # up to this size, the time per row is lost in the noise
            return max(UNTRIED, sizes[-1])
        return max(1, round(max(soon - few * each, 0.0) / each))


def batch_for(rows: int, *, rows_per_call: int, in_flight: int) -> int:
    """Return how many queries of a row to send together, if `rows` rows are to be explained.

    The choice is coarse, so that two runs with the same endpoint hardly ever differ.

    Examples
    --------
    >>> [batch_for(rows, rows_per_call=200, in_flight=8) for rows in (1, 200, 2_000, 20_000)]
    [64, 64, 16, 4]
    >>> batch_for(1, rows_per_call=1, in_flight=1)
    4
    """
    capacity = rows_per_call * in_flight
    return next(step for step, share in STEPS if capacity >= max(step, share * rows) or step == FRUGAL)
