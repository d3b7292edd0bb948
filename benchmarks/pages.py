"""What is measured goes to the terminal as it comes, and to a page of the documentation at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def print_and_write(lines: Iterable[str], output: Path) -> None:
    """Print lines one by one, then write them all."""
    seen = []
    for line in lines:
        print(line, flush=True)
        seen.append(line)
    output.write_text("\n".join(seen).rstrip() + "\n", encoding="utf-8")
