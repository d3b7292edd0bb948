"""Cells of a journal, read with care: SQLite lets anybody put anything into a column of numbers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from flipset.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path


def read_score(cell: Any, path: Path) -> float:
    """Return a score of the journal at this path."""
    if not isinstance(cell, (int, float)):
        raise _changed(path, cell, "score")
    return cell


def read_day(cell: Any, path: Path) -> str:
    """Return a time of the journal at this path, in seconds since 1970, as text."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(cell))
    except (TypeError, ValueError, OverflowError, OSError):  # no number, or beyond what a calendar holds
        raise _changed(path, cell, "time") from None


def read_setting(text: str, path: Any) -> int:
    """Return a setting that a journal keeps for all runs: a whole number from 1."""
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 10 and int(text)):
        raise _changed(path, text, "whole number from 1")
    return int(text)


def _changed(path: Any, cell: Any, expected: str) -> StorageError:
    return StorageError(f"the journal {path} was changed: {cell!r:.80} is no {expected}; restore a copy of it")
