"""The exceptions of flipset, with their causes.

::

    FlipsetError
    ├── InputError (also a ValueError)   an argument is invalid
    │   └── Untrusted                    a model file may run code when it is loaded
    ├── OracleError                      the model raised an error, or its scores cannot be read
    ├── Fault                            no further row can be explained; no row and no score is to blame
    │   ├── Unavailable                  the model cannot be reached, refuses every request, or has died
    │   └── StorageError                 a file cannot be read or written: a full disk, a damaged journal
    ├── NotMonotone                      two scores of the model contradict monotonicity
    ├── WorkerLost                       a process that did part of the work has died
    ├── NotDecided                       a check ran out of steps, or was stopped
    ├── BudgetExhausted                  a limit was reached; carries what is known
    │   ├── Interrupted                  an interrupt from the keyboard
    │   └── NotReturned                  a call of the model did not return in time
    └── ProtocolError                    a search and its driver do not follow the protocol
        └── NotLocal                     a local search made a query that is not local

That no flip set exists is a result, not an error. An `OracleError` and an `InputError` may be about single rows, so a
failed call is divided to find these rows. A `Fault` is not: the run ends with what is finished, and nothing is asked
again.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any, Protocol

from flipset.plural import count_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Sized


class Facts(Protocol):
    """Sets of features, as bitmasks, known to flip or not to flip; `flipset.sets.known.Known` is an example."""

    @property
    def zeros(self) -> Sequence[int]:
        """The largest sets known not to flip."""

    @property
    def ones(self) -> Sequence[int]:
        """The smallest sets known to flip."""


class FlipsetError(Exception):
    """The base class of all errors of flipset. They can be pickled, with all their attributes.

    Attributes
    ----------
    answers
        The answers of the failed batch that had arrived, None for the others; empty if there was no such batch. They
        are paid for, so drivers use them and do not ask for them again.
    kept
        The places of rows of the failed call whose answers the model keeps: a call with these rows alone is answered at
        once, and costs nothing. A journal then writes them down.
    id
        The identifier of the row of a table whose result this error is; None if the row has none.
    """

    answers: Sequence[float | None] = ()
    kept: Sequence[int] = ()
    id: Mapping[str, Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[FlipsetError], args: tuple[Any, ...], state: dict[str, Any]) -> FlipsetError:
    # Without `__init__`, whose arguments differ by class and are not what `args` holds.
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(FlipsetError, ValueError):
    """An argument is invalid; the message names it and says what was expected."""


class Untrusted(InputError):
    """A model file may run code when it is loaded.

    Attributes
    ----------
    problem
        What is wrong with the file.
    types
        The types in a `.skops` file that need to be trusted; empty if the whole file does.
    """

    def __init__(self, problem: str, types: Sequence[str] = ()) -> None:
        given = f"trusted={list(types)!r}" if types else "allow_pickle=True"
        super().__init__(f"{problem} If you trust it: load_model(..., {given})")
        self.problem = problem
        self.types = tuple(types)


class OracleError(FlipsetError):
    """The model raised an error, or returned scores that cannot be read.

    Attributes
    ----------
    batch
        The queries of the failed call.
    """

    def __init__(self, message: str, batch: Sized) -> None:
        super().__init__(message)
        self.batch = batch


class Fault(FlipsetError):
    """A network, a disk or a file failed, so that no further row can be explained; the rows are not to blame.

    Where a table is explained, finished rows keep their results, and the others have this error as theirs.
    """


class Unavailable(Fault):
    """The model cannot be reached, refuses every request, or has died: other rows cannot be scored either."""


class StorageError(Fault):
    """A file cannot be read or written: the disk is full, or the file is locked, damaged or read-only."""


# Other errors of a file, such as missing permissions, are about that file and the user can act on them.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)


def is_disk_fault(error: BaseException) -> bool:
    """Say whether an error is about the disk as a whole: full, failing or read-only."""
    return isinstance(error, OSError) and error.errno in _DISK


NOT_MONOTONE = "the model is not monotone"
"""How the message of every `NotMonotone` begins; clusters know errors by their messages alone."""


class NotMonotone(FlipsetError):
    """The model flips for `smaller` but not for its superset `larger`.

    Attributes
    ----------
    smaller, larger
        The two queries that disagree, as sets of features, by number or name; `smaller <= larger`.
    rows
        For queries about rows: a row whose decision is flipped, and one at least as far in every direction whose
        decision is not; or the row itself, and one at least as far whose score is worse.
    """

    def __init__(
        self,
        smaller: frozenset[Any],
        larger: frozenset[Any],
        what: str | None = None,
        rows: tuple[dict[str, Any], dict[str, Any]] | None = None,
        advice: str | None = None,
    ) -> None:
        contradiction = what or (
            f"flipping {_show(smaller)} changes the decision, flipping {_show(larger, beyond=smaller)} does not"
        )
        advice = advice or "check the directions, or hold the features that are not monotone fixed"
        super().__init__(f"{NOT_MONOTONE}: {contradiction}; {advice}")
        self.smaller = smaller
        self.larger = larger
        self.rows = rows


class NotMonotoneWarning(UserWarning):
    """The model does not follow the directions of some features, so that proofs about them rest on a false condition.

    Attributes
    ----------
    features
        The names of these features.
    """

    def __init__(self, features: Sequence[str]) -> None:
        shown = ", ".join(map(repr, features[:8])) + (f" and {len(features) - 8:,} more" if len(features) > 8 else "")
        super().__init__(
            f"the model does not follow the {'directions' if len(features) > 1 else 'direction'} of {shown}: "
            "explainer.monotonicity.witnesses has rows that show it, and flipset audit prints them. Turn a direction "
            "round, hold the feature fixed, or fit the model with monotone constraints"
        )
        self.features = tuple(features)


class NotDecided(FlipsetError):
    """A check ran out of steps, or was stopped, before it was decided."""


class BudgetExhausted(FlipsetError):
    """A limit was reached before the search was finished.

    Attributes
    ----------
    budget
        The limit, as text.
    known
        For queries about sets: the sets known to flip or not to flip when the search stopped; otherwise None.
    """

    def __init__(self, budget: str, known: Facts | None = None) -> None:
        progress = ""
        if known is not None:
            smallest = min((one.bit_count() for one in known.ones), default=None)
            progress = ": no flip set seen yet" if smallest is None else f": smallest flip set seen has size {smallest}"
        super().__init__(f"the budget of {budget} ran out{progress}")
        self.budget = budget
        self.known = known


class Interrupted(BudgetExhausted):
    """An interrupt from the keyboard ended the search."""

    def __init__(self) -> None:
        super().__init__("")
        self.args = ("interrupted before it was explained",)


class NotReturned(BudgetExhausted):
    """A call of the model did not return in time, and was abandoned.

    Attributes
    ----------
    seconds
        The time that the call had, without the grace that every call is given.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(count_seconds(seconds))
        self.seconds = seconds
        self.args = (f"the model did not return within the {count_seconds(seconds)} left, and its call was abandoned",)


class WorkerLost(FlipsetError):
    """A process that did part of the work has died."""


class ProtocolError(FlipsetError):
    """A search and its driver do not follow the protocol."""


class NotLocal(ProtocolError):
    """A query differs from every earlier one in more than one feature."""


def reason_of(error: Exception) -> str:
    """Return why a file cannot be used, without the number of the error and the name of the file."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def first_line(error: Exception) -> str:
    """Return the first line of the message of an error, or its type if the message is empty."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _show(features: frozenset[Any], beyond: frozenset[Any] = frozenset()) -> str:
    """List the first features; a query may have a million of them."""
    if beyond:
        return "these and " + _show(features - beyond)
    if not features:
        return "no other feature"
    # Sorted, so that a message is the same each time.
    shown = ", ".join(map(str, sorted(features)[:8]))
    more = f" and {len(features) - 8:,} more" if len(features) > 8 else ""
    return f"{{{shown}{more}}}"
