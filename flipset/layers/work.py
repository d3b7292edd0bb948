"""A clock that counts the work of one flow among many: its own computation, and its share of calls.

Where many flows run together, the time on the wall is mostly the time of the others. So a limit of seconds for one flow
is kept by this clock. Alone, the clock and the wall agree: the flow computes, or waits for a call that is all its own.

Invariant: the times of flows that run together add up to no more than the time on the wall (times the calls that are
under way at a time).
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from flipset.protocol import Flow, ask, relay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.protocol import Answers

T = TypeVar("T")
Q = TypeVar("Q")


class WorkClock:
    """The seconds that one flow has worked; call it to read it.

    Examples
    --------
    >>> times = iter([10.0, 12.0, 100.0, 101.0])
    >>> clock = WorkClock(lambda: next(times))
    >>> clock.go()
    >>> clock.pause()
    >>> clock.add(0.5)
    >>> clock()
    2.5
    >>> clock.go()
    >>> clock()
    3.5
    """

    __slots__ = ("_clock", "_lock", "_since", "_spent")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._spent = 0.0
        self._since: float | None = None  # when the flow went on; None while it waits for answers
        self._lock = Lock()  # several calls may end at the same time, in several threads

    def __call__(self) -> float:
        """Return the seconds so far."""
        return self._spent if self._since is None else self._spent + self._clock() - self._since

    def go(self) -> None:
        """Count from now on."""
        self._since = self._clock()

    def pause(self) -> None:
        """Do not count while the flow waits."""
        if self._since is not None:
            self.add(self._clock() - self._since)
            self._since = None

    def add(self, seconds: float) -> None:
        """Count a share of a call."""
        with self._lock:
            self._spent += seconds


def clocked(flow: Flow[Q, T], clock: WorkClock) -> Flow[Q, T]:
    """Let the clock run while the flow computes, and pause it while the flow waits; the driver adds shares of calls."""

    def paused(batch: Sequence[Q]) -> Flow[Q, Answers]:
        clock.pause()
        try:
            return (yield from ask(batch))
        finally:
            # Also if the batch fails: the flow goes on by handling the error, which is work, too.
            clock.go()

    clock.go()
    return (yield from relay(flow, paused))
