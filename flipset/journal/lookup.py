"""Answers of a journal, looked up by the texts of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.journal.cells import read_score

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

AT_A_TIME = 500
"""The most rows that one statement looks up. SQLite limits the values of a statement, in old versions to 999."""


def look_up(
    file: sqlite3.Connection, path: Path, rows: Sequence[str], table: str = "typed_answers"
) -> dict[str, float]:
    """Return the answers that a table of the file at a path has for these rows."""
    found: dict[str, float] = {}
    different = list(dict.fromkeys(rows))
    for start in range(0, len(different), AT_A_TIME):
        part = different[start : start + AT_A_TIME]
        marks = ",".join("?" * len(part))
        lines = file.execute(f"SELECT row, score FROM {table} WHERE row IN ({marks})", part)
        found |= {row: read_score(score, path) for row, score in lines}
    return found


def look_up_by_value(file: sqlite3.Connection, path: Path, texts: Sequence[str]) -> dict[str, list[float]]:
    """Return the distinct answers for rows with these values, whatever their types."""
    found: dict[str, list[float]] = {}
    for text in dict.fromkeys(texts):
        scores = file.execute("SELECT DISTINCT score FROM typed_answers WHERE row_values = ?", (text,))
        found[text] = [read_score(score, path) for (score,) in scores]
    return found
