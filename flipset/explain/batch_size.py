"""How many queries of a row to send together where the model is remote: as many as the time of a call suggests.

The queries that are measured are sent anyway: those about the rows themselves. Their answers are kept for the
explanation of these rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.errors import FlipsetError, Unavailable
from flipset.models.remote.call_times import FRUGAL, batch_for

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flipset.journal import AnswerStore
    from flipset.models.remote.remote_model import RemoteModel
    from flipset.models.tables import RowQuery
    from flipset.space.rows import Row

LARGE_CALL = 32
"""Rows of the last call that is measured; those before it have one."""

MOST_TRIED = LARGE_CALL + 2


def choose_batch(
    endpoint: RemoteModel, journal: AnswerStore | None, rows: Sequence[Row], count: int
) -> Generator[list[RowQuery], list[float], tuple[dict[Row, float], int]]:
    """Return the scores of the rows that were asked to find out, and how many queries of a row to send together.

    Yields queries, and is sent their scores. `rows` are some of the `count` rows that will be explained. A journal
    keeps to what it settled first: a run that goes on asks what the one before it would have.
    """
    part = "batch alone" if count == 1 else "batch in tables"
    kept = None if journal is None else journal.kept(part)
    if kept is not None:
        return {}, int(kept)
    scores = yield from _measuring(endpoint, rows)
    # Where rows are billed, few queries matter more than few rounds.
    batch = FRUGAL
    if not endpoint.price_per_row:
        batch = batch_for(count, rows_per_call=endpoint.fill(), in_flight=endpoint.in_flight)
    return scores, batch if journal is None else int(journal.keep(part, str(batch)))


def _measuring(endpoint: RemoteModel, rows: Sequence[Row]) -> Generator[list[RowQuery], list[float], dict[Row, float]]:
    """Ask about some rows as they stand, unless it is known how long calls take; return their scores."""
    if endpoint.call_times.has_sizes:
        return {}
    scores: dict[Row, float] = {}
    for i, part in enumerate((rows[:1], rows[1:2], rows[2:MOST_TRIED])):
        if not part:
            continue
        if i == 1:
            endpoint.call_times.clear()  # the first call also opened a connection
        try:
            scores |= zip(part, (yield [(row, ()) for row in part]), strict=True)
        except Unavailable:
            raise
        except FlipsetError:  # that row will be asked again, and has the error as its result
            continue
    return scores
