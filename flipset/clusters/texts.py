"""Change the texts of a batch, column names included: what CSV files of a cluster need before they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT_TYPES = ("object", "str", "string", "category")


def change_texts(change: Callable[[Any], Any], batch: Any) -> Any:
    """Return a pandas frame or an Arrow batch in which every text, and every name of a column, has been changed."""
    return _arrow(change, batch) if hasattr(batch, "schema") else _pandas(change, batch)


def _pandas(change: Callable[[Any], Any], batch: Any) -> Any:
    changed = batch.copy()
    for i, dtype in enumerate(batch.dtypes):
        if str(dtype) in TEXT_TYPES or str(dtype).startswith("string"):
            cells = batch.iloc[:, i].map(change, na_action="ignore")
            # A category may be a text that changes, and then it is another category.
            changed.isetitem(i, cells.astype(object if str(dtype) == "category" else dtype))
    changed.columns = [change(name) for name in batch.columns]
    return changed


def _arrow(change: Callable[[Any], Any], batch: Any) -> Any:
    import pyarrow as pa

    arrays = []
    for cells in batch.columns:
        plain = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
        if pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type):
            # The type is kept: the schema of the result was announced before.
            plain = pa.array(map(change, plain.to_pylist()), plain.type)
        arrays.append(plain)
    return pa.RecordBatch.from_arrays(arrays, names=[change(name) for name in batch.schema.names])
