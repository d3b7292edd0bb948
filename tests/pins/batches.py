"""Batches of a table: what workers of a cluster do, here by Dask without any workers."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from tests.pins.tables import MADE, Table
from tests.pins.transcripts import Case, Transcript, numbered, plain_text, transcript

REQUESTS: tuple[dict[str, Any], ...] = ({}, {"batch": 8}, {"max_changes": 1}, {"values": False}, {"max_queries": 10})


def framed(table: Table) -> pd.DataFrame:
    """Return the rows as a frame with a key, and another column that nobody needs."""
    frame = table.rows if isinstance(table.rows, pd.DataFrame) else pd.DataFrame(table.rows, columns=table.space.names)
    return frame.assign(id=np.arange(len(frame)), branch=np.where(np.arange(len(frame)) % 3 == 0, "a, b", "c"))


def in_partitions(made: str, i: int) -> Transcript:
    """Explain a frame of several partitions."""
    import dask
    import dask.dataframe

    table = MADE[made](f"batches/{made}", i)
    frame = framed(table)
    make: Any = dask.dataframe.from_pandas
    with dask.config.set(scheduler="synchronous"):
        given = make(frame, npartitions=1 + i % 4)
        keys = None if i % 2 else ["id"]
        found = table.explainer().explain_dask(given, keys=keys, **REQUESTS[i % len(REQUESTS)]).compute()
    columns = {str(name): [plain_text(cell) for cell in found[name].tolist()] for name in found.columns}
    errors = [cell is not None for cell in columns.pop("error")]
    reasons, queries = columns.pop("reasons"), columns.pop("queries")
    types = {str(name): str(kind) for name, kind in found.dtypes.items()}
    return transcript([columns, errors, types, found.index.tolist()], reasons, None, queries)


def cases() -> Iterator[tuple[str, Case]]:
    for made, count in {"ordered": 14, "labels": 6, "touchy": 6, "loans": 8, "half": 6}.items():
        yield from numbered(f"batches/{made}", count, partial(in_partitions, made))
