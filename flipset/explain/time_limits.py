"""Limits of time for rows and tables: how much is left, and for whom.

`max_seconds` is a row's own work (`flipset.layers.work`): its computation, and its share of the calls it takes part in.
If q of the n queries of a call are about a row, q/n of its duration count for that row. So the limit means the same
alone, where the share is everything, and in a table, where most of the time on the wall is the time of other rows.
`max_table_seconds` is time on the wall.

A call may take as long as the rows in it have left together, and no longer than the table has left. If it takes longer,
it is abandoned (`flipset.drivers.abandon`).
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, TypeVar

from flipset.errors import BudgetExhausted
from flipset.layers import WorkClock, clocked
from flipset.plural import count_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from flipset.protocol import Flow

T = TypeVar("T")
Q = TypeVar("Q")


@dataclass(slots=True)
class Deadline:
    """An end on the wall clock, some seconds after it is first looked at.

    It can be sent to other processes of this machine: `time.monotonic` is the same in all of them.
    """

    seconds: float
    what: str = ""
    end: float | None = None

    def left(self) -> float:
        """Return the seconds that are left; negative after the end."""
        now = time.monotonic()
        self.end = now + self.seconds if self.end is None else self.end
        return self.end - now

    def is_over(self) -> BudgetExhausted | None:
        """Return the error that says so, once the time is over."""
        if self.left() > 0:
            return None
        stop = BudgetExhausted(count_seconds(self.seconds))
        # Rows under way end in a result, so this is read only about rows that have none.
        stop.args = (f"not begun: the time{self.what} was over ({count_seconds(self.seconds)})",)
        return stop


@dataclass(slots=True)
class RowClocks:
    """The clocks of the rows that are under way, each of which may work for `seconds`.

    Where rows have no limit (None), nothing is measured.
    """

    seconds: float | None
    of: dict[Hashable, WorkClock] = field(default_factory=dict)

    def start(self, row: Hashable, make: Callable[[WorkClock | None], Flow[Q, T]]) -> Flow[Q, T]:
        """Return the flow of a row, which `make` makes for its clock."""
        if self.seconds is None:
            return make(None)
        clock = self.of[row] = WorkClock(time.monotonic)
        return clocked(make(clock), clock)

    def end(self, row: Hashable) -> None:
        """Forget the clock of a row that is finished."""
        self.of.pop(row, None)

    def left(self, rows: Iterable[Hashable]) -> float:
        """Return the seconds that rows have left together."""
        if self.seconds is None:
            return inf
        # Never negative: a row that has overrun its limit must not take from the time of the others.
        return sum(max(0.0, self.seconds - self.of[row]()) for row in set(rows) if row in self.of)

    def share(self, rows: Sequence[Hashable], seconds: float) -> None:
        """Count a call for its rows; a row occurs once for each of its queries."""
        for row, queries in Counter(rows).items():
            if (clock := self.of.get(row)) is not None:  # else it ended while the call was under way
                clock.add(seconds * queries / len(rows))
