"""Printing lines and summaries, and the width of the terminal."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from flipset.results.summary import Summary


def print_lines(lines: Iterable[str]) -> None:
    """Print lines."""
    for line in lines:
        print(line)


def width() -> int:
    """Return the width of the terminal, between 40 and 120 columns."""
    return max(40, min(120, shutil.get_terminal_size((80, 24)).columns))


def print_summary(summary: Summary, groups: Mapping[Any, Summary], notes: Iterable[str]) -> None:
    """Print the summary of a table, that of its groups if there are any, and some notes."""
    from flipset.show.text import tell_groups, tell_summary

    by_group = ["", *tell_groups(groups)] if groups else []
    print_lines([*tell_summary(summary, width()), *by_group, "", *notes])
