"""A budget of steps for computations that ask no model: they end when it is spent, or when they are told to stop.

A step looks at one set of up to 4,096 features, or at one cell, and takes about a tenth of a microsecond. Work is
counted in steps and not in seconds, so that a check decides the same on every machine. Whoever needs a limit in seconds
gives `stop` a clock to look at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.boundary.limits import CHECK_STEPS
from flipset.errors import NotDecided

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_EVERY = 100_000
"""Steps between two calls of `stop`: about 10 milliseconds."""


class StepBudget:
    """The steps that a computation may still take.

    Several computations may share one budget: once it is spent or stopped, all of them end. `why` says in words what a
    spent budget means.

    Examples
    --------
    >>> budget = StepBudget(10)
    >>> budget.spend(8)
    >>> budget.spend(3)
    Traceback (most recent call last):
    flipset.errors.NotDecided: not decided in 10 steps
    """

    __slots__ = ("_left", "_next_look", "_stop", "steps", "why")

    def __init__(self, steps: int = CHECK_STEPS, stop: Callable[[], bool] | None = None) -> None:
        self.steps = steps
        self._left = steps
        self._stop = stop
        self.why = f"not decided in {steps:,} steps"
        self._plan_look()

    @classmethod
    def of(cls, steps: int | StepBudget, stop: Callable[[], bool] | None = None) -> StepBudget:
        """Return a budget of this many steps; a budget that others use too is returned as it is."""
        return steps if isinstance(steps, StepBudget) else cls(steps, stop)

    def spend(self, steps: int = 1) -> None:
        """Count these steps; raise `NotDecided` if there are not as many left, or if `stop` returns True."""
        self._left -= steps
        # One comparison in the usual case. It covers both ends: the steps have run out, or a look is due.
        if self._left <= self._next_look:
            self.look()

    def look(self) -> None:
        """Raise `NotDecided` if the steps have run out or if `stop`, which is called now, returns True."""
        if self._left >= 0 and self._stop is not None and self._stop():
            # Spent for good, so that all computations that share this budget end, not only the one that looked.
            self._left, self.why = -1, "stopped before it was decided"
        if self._left < 0:
            raise NotDecided(self.why)
        self._plan_look()

    def _plan_look(self) -> None:
        # The next look is due when no more steps than this are left. At -1 the steps have run out.
        self._next_look = -1 if self._stop is None else max(-1, self._left - LOOK_EVERY)
