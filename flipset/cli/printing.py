"""What commands print, and how wide."""

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
    """Return how wide a line may be."""
    return max(40, min(120, shutil.get_terminal_size((80, 24)).columns))
