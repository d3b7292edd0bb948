"""The choice of `batch` for a remote model: how many queries of a row to send together, by how long calls take.

The calls that are measured cost nothing extra. They query rows as they are, which every explanation begins with, and
their answers are kept for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.errors import Fault, FlipsetError
from flipset.journal.cells import read_setting
from flipset.models.remote.call_times import FRUGAL, batch_for

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flipset.journal import AnswerStore
    from flipset.models.remote.remote_model import RemoteModel
    from flipset.models.tables import RowQuery
    from flipset.space.rows import Row

LARGE_CALL = 32
"""Rows of the last call that is measured. The calls before it have one row each."""

MOST_TRIED = LARGE_CALL + 2
"""Rows of all calls that are measured."""


def choose_batch(
    endpoint: RemoteModel, journal: AnswerStore | None, rows: Sequence[Row], count: int
) -> Generator[list[RowQuery], list[float], tuple[dict[Row, float], int]]:
    """Choose `batch` for an endpoint; return the scores of the rows queried for that, and the batch.

    The generator yields queries and is sent their scores. `rows` are some of the `count` rows that will be explained.
    """
    # A journal keeps the first choice, so that a run that continues an earlier one makes the same queries.
    part = "batch alone" if count == 1 else "batch in tables"
    path = getattr(journal, "path", type(journal).__name__)
    kept = None if journal is None else journal.kept(part)
    if kept is not None:
        return {}, read_setting(kept, path)
    scores = yield from _measuring(endpoint, rows)
    # Where rows are billed, few queries matter more than few calls.
    batch = FRUGAL
    if not endpoint.price_per_row:
        batch = batch_for(count, rows_per_call=endpoint.fill(), in_flight=endpoint.in_flight)
    return scores, batch if journal is None else read_setting(journal.keep(part, str(batch)), path)


def _measuring(endpoint: RemoteModel, rows: Sequence[Row]) -> Generator[list[RowQuery], list[float], dict[Row, float]]:
    """Query some rows as they are, unless it is already known how long calls take; return their scores."""
    # Earlier runs of the same endpoint object have measured it.
    if endpoint.call_times.has_sizes:
        return {}
    # One row to open the connection, one for a small call, the rest for a large call.
    scores: dict[Row, float] = {}
    for i, part in enumerate((rows[:1], rows[1:2], rows[2:MOST_TRIED])):
        if not part:
            continue
        if i == 1:
            endpoint.call_times.clear()  # the first call also opened a connection
        try:
            scores |= zip(part, (yield [(row, ()) for row in part]), strict=True)
        except Fault:
            raise
        except FlipsetError:  # the row is queried again when it is explained, and the error is reported there
            continue
    return scores
