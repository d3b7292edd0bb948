"""The exceptions, by whose turn it is to act.

::

    FlipsetError
    ├── InputError (also a ValueError)   the caller: an argument is not what it must be
    │   └── Untrusted                    the caller: a model file may run a program
    ├── OracleError                      the model: it raised, or its answers cannot be read
    ├── Unavailable                      whoever runs the model: it cannot be reached, or refuses to answer at all
    ├── NotMonotone                      the model: two of its answers contradict monotonicity
    ├── WorkerLost                       the machine: a process that did part of the work is gone
    ├── NotDecided                       nobody: a check ran out of steps before it was decided
    ├── BudgetExhausted                  nobody: a budget ran out; carries what is known
    │   └── Interrupted                  nobody: an interrupt from the keyboard
    └── ProtocolError                    the driver or the search: the exchange itself went wrong
        └── NotLocal                     a search that claims to be local asked a question that is not

That no flip set exists is a result, not an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence, Sized


class Facts(Protocol):
    """What answers say about sets of features, each a bitmask: `flipset.sets.known.Known` is one."""

    @property
    def zeros(self) -> Sequence[int]:
        """The largest sets known not to flip."""

    @property
    def ones(self) -> Sequence[int]:
        """The smallest sets known to flip."""


class FlipsetError(Exception):
    """Everything that flipset raises on purpose. It can be sent from one process to another, with all it carries."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[FlipsetError], args: tuple[Any, ...], state: dict[str, Any]) -> FlipsetError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(FlipsetError, ValueError):
    """An argument is not what it must be; the message names it and says what was expected."""


class Untrusted(InputError):
    """A model file may run a program when it is loaded.

    Attributes
    ----------
    problem
        What the file holds.
    types
        The types that a `.skops` file must be trusted with; none where the file as a whole must be.
    """

    def __init__(self, problem: str, types: Sequence[str] = ()) -> None:
        given = f"trusted={list(types)!r}" if types else "allow_pickle=True"
        super().__init__(f"{problem} If you trust it: load_model(..., {given})")
        self.problem = problem
        self.types = tuple(types)


class OracleError(FlipsetError):
    """The model raised, or gave answers that cannot be read.

    Attributes
    ----------
    batch
        The queries that were being asked.
    """

    def __init__(self, message: str, batch: Sized) -> None:
        super().__init__(message)
        self.batch = batch


class Unavailable(FlipsetError):
    """The model cannot be reached, or refuses to answer anything: it is of no use to ask about other rows."""


class NotMonotone(FlipsetError):
    """The model flips for `smaller` but not for its superset `larger`.

    Attributes
    ----------
    smaller, larger
        The two queries that disagree, as sets of features, by number or name; `smaller <= larger`.
    rows
        Where rows were asked: one whose decision is turned, and one at least as far in every direction whose is not.
    """

    def __init__(
        self,
        smaller: frozenset[Any],
        larger: frozenset[Any],
        what: str | None = None,
        rows: tuple[dict[str, Any], dict[str, Any]] | None = None,
        advice: str | None = None,
    ) -> None:
        told = what or (
            f"flipping {_show(smaller)} changes the decision, flipping {_show(larger, beyond=smaller)} does not"
        )
        advice = advice or "check the directions, or hold the features that are not monotone fixed"
        super().__init__(f"the model is not monotone: {told}; {advice}")
        self.smaller = smaller
        self.larger = larger
        self.rows = rows


class NotDecided(FlipsetError):
    """A check ran out of steps, or was stopped, before it was decided."""


class BudgetExhausted(FlipsetError):
    """A budget ran out before the search was done.

    Attributes
    ----------
    budget
        The budget, in words.
    known
        Where sets were asked about, every set known to flip or not to flip when the search was stopped; else None.
    answers
        Where a batch was under way, the answers to it that had arrived, None for the others; empty elsewhere.
    """

    answers: Sequence[float | None] = ()

    def __init__(self, budget: str, known: Facts | None = None) -> None:
        found = ""
        if known is not None:
            smallest = min((one.bit_count() for one in known.ones), default=None)
            seen = "no flip set seen yet" if smallest is None else f"smallest flip set seen has size {smallest}"
            found = f": {seen}"
        super().__init__(f"the budget of {budget} ran out{found}")
        self.budget = budget
        self.known = known


class Interrupted(BudgetExhausted):
    """An interrupt from the keyboard ended the search."""

    def __init__(self) -> None:
        super().__init__("")
        self.args = ("interrupted before it was explained",)


class WorkerLost(FlipsetError):
    """A process that did part of the work is gone."""


class ProtocolError(FlipsetError):
    """The exchange between a search and its driver went wrong."""


class NotLocal(ProtocolError):
    """A query differs from every earlier one in more than one feature."""


def first_line(error: Exception) -> str:
    """Return the first line of what a library said, or else what kind of error it was."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _show(features: frozenset[Any], beyond: frozenset[Any] = frozenset()) -> str:
    """Name the features, briefly: a query may hold a million of them."""
    if beyond:
        return "these and " + _show(features - beyond)
    if not features:
        return "no other feature"
    shown = ", ".join(map(str, sorted(features)[:8]))
    more = f" and {len(features) - 8:,} more" if len(features) > 8 else ""
    return f"{{{shown}{more}}}"
