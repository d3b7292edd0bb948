"""The exit codes of all commands, in one place.

A script that calls flipset must be able to tell apart: everything was explained; some rows were not; none was; the run
was stopped by something that is not about the rows, and can be continued; a limit that was given was reached, whichever
it was.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from flipset import BudgetExhausted, Fault, FlipsetError, WorkerLost
from flipset.boundary.printable import printable, shortened
from flipset.cli.carets import split_caret
from flipset.errors import is_disk_fault
from flipset.plural import count

if TYPE_CHECKING:
    from flipset import Explanation

SUCCESS = 0
FAILED = 1
ERROR = 2
NONE_EXPLAINED = 3
# 3 and 4 differ from 1, so that a script knows whether to look at the data, or to run the same command again.
STOPPED = 4
LIMITED = 5
HUNG_UP = 129
INTERRUPTED = 130
TERMINATED = 143

MEANINGS = {
    SUCCESS: "success",
    FAILED: "an audit or a proof failed, a promise no longer holds, or some rows of a table could not be explained",
    ERROR: "an error in the arguments, the data or the model",
    NONE_EXPLAINED: "no row of a table could be explained, or no explanation rechecked",
    STOPPED: "stopped by a fault of a disk, a journal, a network or a process; --resume continues a table",
    LIMITED: "a limit of queries, rows, steps or time was reached; the results say what is proved by then",
    HUNG_UP: "terminated, because the terminal was closed",
    INTERRUPTED: "interrupted",
    TERMINATED: "terminated",
}

MOST_SHOWN = 2_000
"""Characters of a message that are printed."""


def code_for(error: BaseException) -> int:
    """Return the exit code of a command that an error ended."""
    if isinstance(error, (Fault, WorkerLost)) or is_disk_fault(error):
        return STOPPED
    return LIMITED if isinstance(error, BudgetExhausted) else ERROR


def end_by_rows(errors: int, rows: int, limited: int = 0) -> None:
    """End the command by the rows of a table that could not be explained, or not in full; return if all were.

    `errors` counts rows that cannot be explained, and `limited` those for which a limit was reached. Errors come first:
    they remain when the limits are raised.
    """
    if errors:
        failed = "no row" if errors == rows else f"{errors:,} of {count(rows, 'row')}"
        advice = "the output says why"
        print(f"flipset: {failed} could {'' if errors == rows else 'not '}be explained; {advice}", file=sys.stderr)
        sys.exit(NONE_EXPLAINED if errors == rows else FAILED)
    if limited:
        print(f"flipset: a limit was reached for {limited:,} of {count(rows, 'row')}", file=sys.stderr)
        sys.exit(LIMITED)


def end_if_limited(explanation: Explanation) -> None:
    """End the command if a limit kept an explanation from being complete."""
    if is_limited(explanation):
        sys.exit(LIMITED)


def is_limited(result: Explanation | FlipsetError) -> bool:
    """Say whether a limit kept a row from being explained, or its flip sets from being proved."""
    return isinstance(result, BudgetExhausted) if isinstance(result, FlipsetError) else result.status == "stopped"


def one_line(error: FlipsetError | BaseException) -> str:
    """Return an error as one line for people; names and values in it may have been written by strangers."""
    # `str` of such an error begins with its number, which says nothing to a user.
    if isinstance(error, OSError) and error.strerror:
        named = f" ({error.filename})" if error.filename else ""
        return as_line(f"{error.strerror}{named}")
    caret = split_caret(str(error))
    return as_line(str(error) if caret is None else caret[0])


def as_line(text: str) -> str:
    r"""Return a message as one line of limited length, without characters that a terminal would obey.

    Examples
    --------
    >>> print(as_line("no column\n  'a\x1b'"))
    flipset: no column 'a\u001b'
    """
    return f"flipset: {shortened(printable(' '.join(text.split())), MOST_SHOWN)}"
