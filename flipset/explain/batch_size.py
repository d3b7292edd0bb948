"""How many questions to ask together where a model is asked over a line: as many as the time of a call suggests.

What is measured are questions that are asked anyway, those about the rows themselves; their answers are kept for
whoever asks them next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.errors import FlipsetError, Unavailable
from flipset.models.remote.pace import FRUGAL, together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.journal import Journal
    from flipset.models.remote.endpoint import Endpoint
    from flipset.space.feature import Value
    from flipset.space.moves import Cells
    from flipset.space.rows import Row

    Ask = Callable[[Sequence[tuple[Sequence[Value], Cells]]], list[float]]

TRIED = 32
"""Rows of the last call that is measured; those before it have one."""


MOST_TRIED = TRIED + 2


def _measure(endpoint: Endpoint, ask: Ask, rows: Sequence[Row]) -> dict[Row, float]:
    """Ask about some rows as they stand, unless it is known how long calls take; return their scores."""
    if endpoint.pace.is_known:
        return {}
    scores: dict[Row, float] = {}
    for i, part in enumerate((rows[:1], rows[1:2], rows[2:MOST_TRIED])):
        if i == 1 and part:
            endpoint.pace.calls.clear()  # the first call is slow for reasons of its own: a line had to be opened
        if part:
            try:
                scores |= zip(part, ask([(row, ()) for row in part]), strict=True)
            except Unavailable:
                raise
            except FlipsetError:  # a row that cannot be asked about has its turn to say so
                continue
    return scores


def settle_batch(
    endpoint: Endpoint, journal: Journal | None, ask: Ask, rows: Sequence[Row], count: int
) -> tuple[dict[Row, float], int]:
    """Return how many questions of a row to ask together, of so many rows, and what was asked to find out.

    A journal keeps to what it settled first: a run that goes on asks what the one before it would have.
    """
    part = "batch alone" if count == 1 else "batch in tables"
    kept = None if journal is None else journal.kept(part)
    if kept is not None:
        return {}, int(kept)
    scores = _measure(endpoint, ask, rows)
    # Where rows are billed, few questions matter more than few rounds.
    batch = FRUGAL if endpoint.price_per_row else together(endpoint.fill(), endpoint.in_flight, count)
    return scores, batch if journal is None else int(journal.keep(part, str(batch)))
