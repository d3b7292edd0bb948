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
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from flipset.results.summary import Summary


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


def print_summary(summary: Summary, groups: Mapping[Any, Summary], notes: Iterable[str]) -> None:
    """Print the summary of a table, that of its groups if there are any, and some notes."""
    from flipset.show.text import tell_groups, tell_summary

    by_group = ["", *tell_groups(groups)] if groups else []
    print_lines([*tell_summary(summary, width()), *by_group, "", *notes])
