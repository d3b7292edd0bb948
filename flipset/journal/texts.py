"""Rows as text without types, for answers that are looked up by values alone, and for files of the earlier version."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from flipset.models.tables import plain_rows


def value_texts(rows: Any) -> list[str]:
    """Return rows as text without types: equal numbers are written alike, and so are all kinds of missing values."""
    return [json.dumps([_alike(cell) for cell in row]) for row in plain_rows(rows)]


def _alike(cell: Any) -> Any:
    # Before the others, because a bool is an int in Python, and JSON writes it differently.
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, float):
        # Up to here every whole number is a float of its own. Beyond, different integers would be written alike.
        return int(cell) if cell.is_integer() and abs(cell) < 1 << 53 else cell
    return cell if cell is None or isinstance(cell, (int, str)) else str(cell)


def untyped_texts(rows: Any) -> list[str | None]:
    """Return rows as the earlier version wrote them; None where another row was written alike.

    What is left are rows of floats that are neither whole nor equal to a number of a narrower type.
    """
    table = rows if isinstance(rows, np.ndarray) else rows.to_numpy() if hasattr(rows, "iloc") else None
    if table is None or table.dtype != np.float64:
        return [None] * len(rows)
    alone = np.isfinite(table) & (table.astype(np.float32) != table)
    cells = table.tolist()
    return [json.dumps(row) if sure else None for row, sure in zip(cells, alone.all(axis=1).tolist(), strict=True)]
