"""Printing lines and summaries, and the width of the terminal.

What commands print is printable (`flipset.boundary.printable`), whoever wrote the names and values in it.
"""

from __future__ import annotations

import shutil
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flipset.boundary.printable import printable
from flipset.cli.exits import as_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from flipset.results.groups import GroupSummaries
    from flipset.results.summary import TableSummary
    from flipset.space.words import Words


def print_lines(lines: Iterable[str]) -> None:
    """Print lines; what the encoding of standard output does not have is shown as an escape."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        print(printable(line).encode(encoding, "backslashreplace").decode(encoding))


@contextmanager
def warnings_as_lines() -> Iterator[Collection[str]]:
    """Inside a `with` block, print each warning as one line, once; yield the lines that were printed."""
    lines: dict[str, None] = {}

    def show(message: Warning | str, *about: Any, **named: Any) -> None:
        line = as_line(str(message))
        if line not in lines:
            lines[line] = None
            print(line, file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield lines.keys()


def width() -> int:
    """Return the width of the terminal, between 40 and 120 columns."""
    return max(40, min(120, shutil.get_terminal_size((80, 24)).columns))


def print_summary(
    summary: TableSummary,
    groups: GroupSummaries | None,
    notes: Iterable[str],
    cases: Iterable[str] = (),
    *,
    words: Words | None = None,
    by: str | None = None,
) -> None:
    """Print the summary of a table, that of its groups by a column if there are any, some cases, and some notes."""
    from flipset.show.group_tables import tell_groups
    from flipset.show.summaries import tell_summary
    from flipset.space.words import Words

    own = Words() if words is None else words
    of_column = None if by is None else own.of(by)
    by_group = ["", *tell_groups(groups, width(), of_column)] if groups else []
    listed = list(cases)
    first = ["", *listed] if listed else []
    print_lines([*tell_summary(summary, width(), own.labels), *by_group, *first, "", *notes])
