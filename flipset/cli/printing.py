"""Printing lines, and the width of the terminal."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def print_lines(lines: Iterable[str]) -> None:
    """Print lines."""
    for line in lines:
        print(line)


def width() -> int:
    """Return the width of the terminal, between 40 and 120 columns."""
    return max(40, min(120, shutil.get_terminal_size((80, 24)).columns))
