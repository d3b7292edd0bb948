"""How long calls take, and what follows for how many rows and queries to send together."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from statistics import median

LATEST = 64
"""Calls that are looked at: the latest, for an endpoint may become faster or slower."""

UNTRIED = 64
"""Rows that a call is taken to bear well as long as nothing is known of larger ones."""

STEPS = ((64, 2.0), (16, 0.25), (4, 0.0))
"""Queries of one row to send together, and how many rows a table's calls must have space for, for each row of it.

More than 64 hardly make fewer rounds; fewer than 4 hardly ask less. A small table is done when its slowest row is,
which needs that many rounds; a large one when all queries are answered.
"""

FRUGAL = STEPS[-1][0]


@dataclass(slots=True)
class CallTimes:
    """How long the latest calls took, by how many rows they had."""

    calls: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=LATEST))

    def note(self, rows: int, seconds: float) -> None:
        """Take down one call."""
        self.calls.append((rows, seconds))

    def clear(self) -> None:
        """Forget the calls so far: the first one opens a connection, and says little about the next."""
        self.calls.clear()

    @property
    def has_sizes(self) -> bool:
        """Whether calls of different sizes were seen, so that the time of a row can be told from that of a call."""
        return len({rows for rows, _ in tuple(self.calls)}) > 1

    def rows_per_call(self) -> int:
        """Return how many rows a call may have before they take as long as the call itself does.

        A call takes some time whatever it holds, and some more for each row. Up to this many rows a larger call is
        nearly as fast as a small one; beyond, two calls side by side are faster.

        Examples
        --------
        >>> times = CallTimes()
        >>> for rows in (1, 101):
        ...     times.note(rows, seconds=0.020 + rows * 0.0001)
        >>> times.rows_per_call()
        200
        """
        calls = tuple(self.calls)  # other threads go on noting
        sizes = sorted({rows for rows, _ in calls})
        if len(sizes) < 2:
            return UNTRIED
        middle = (sizes[0] + sizes[-1]) / 2
        small = [call for call in calls if call[0] <= middle]
        large = [call for call in calls if call[0] > middle]
        (few, soon), (many, late) = (
            (median(rows for rows, _ in part), median(seconds for _, seconds in part)) for part in (small, large)
        )
        each = (late - soon) / (many - few)
        if each <= 0:  # the rows' own time cannot be told from chance, up to this size
            return max(UNTRIED, sizes[-1])
        return max(1, round(max(soon - few * each, 0.0) / each))


def batch_for(rows: int, *, rows_per_call: int, in_flight: int) -> int:
    """Return how many queries of a row to send together, if so many rows are to be explained.

    In coarse steps, so that two runs on one endpoint hardly ever differ.

    Examples
    --------
    >>> [batch_for(rows, rows_per_call=200, in_flight=8) for rows in (1, 200, 2_000, 20_000)]
    [64, 64, 16, 4]
    >>> batch_for(1, rows_per_call=1, in_flight=1)
    4
    """
    at_once = rows_per_call * in_flight
    return next(step for step, space in STEPS if at_once >= max(step, space * rows) or step == FRUGAL)
