"""Fingerprints of tables and spaces: hashes of what they hold, not of the objects that hold it.

Invariant: the fingerprint of a table depends on the names of its columns and on their values alone. pandas, polars and
Arrow frames with the same values have the same one. All missing values (null, NaN, NaT) are the same value. Numbers are
compared as numbers, so 1 and 1.0 are the same; True is not 1. The order of rows and columns counts.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from flipset.space.feature import is_number, plain
from flipset.space.multiples import EXACT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


class Written(Protocol):
    """A space, as far as its fingerprint needs it."""

    @property
    def derived(self) -> Mapping[str, Any]:
        """The derived columns: formulas, or functions."""

    def to_json(self) -> str:
        """Write the space as JSON."""

    def without_words(self) -> Written:
        """Return the space without what only people read."""


def space_fingerprint(space: Written) -> str | None:
    """Return the hash of the JSON of a space, as journals and explanations have it.

    Words are left out: an answer does not depend on them, so it is still about this space when a label is mended. A
    space with a function for a derived column has none: what a function does cannot be told from its name.
    """
    if any(map(callable, space.derived.values())):
        return None
    return f"sha256:{hashlib.sha256(space.without_words().to_json().encode()).hexdigest()}"


def table_fingerprint(frame: Any) -> str:
    """Return the hash of the names and values of a frame that is wrapped by narwhals."""
    digest = hashlib.sha256()
    for name in frame.columns:
        kind, content = _column(frame[name])
        # Digests have a fixed width, so it is clear where each column ends.
        for part in (name.encode("utf-8", "surrogatepass"), kind, content):
            digest.update(hashlib.sha256(part).digest())
    return f"sha256:{digest.hexdigest()}"


def _column(column: Any) -> tuple[bytes, bytes]:
    """Return the kind of a column's values, and the values as bytes."""
    numbers = _numbers(column)
    if numbers is None:
        return _cells([plain(cell) for cell in column.to_list()])
    return _written(numbers)


def _numbers(column: Any) -> NDArray[np.float64] | None:
    """Return a column of numbers as floats, with NaN for missing values; None where that would not be exact."""
    dtype = column.dtype
    if not (dtype.is_float() or dtype.is_integer()):
        return None
    missing = column.null_count()
    if missing < len(column) and dtype.is_integer() and not -EXACT < int(column.min()) <= int(column.max()) < EXACT:
        return None
    if missing:
        import narwhals as nw

        column = column.cast(nw.Float64)
    return np.asarray(column.to_numpy()).astype(np.float64)


def _written(numbers: NDArray[np.float64]) -> tuple[bytes, bytes]:
    missing = np.isnan(numbers)
    if missing.all():
        return _nothing(len(numbers))
    # Some computations give a NaN with another sign, and it is a missing value all the same.
    return b"numbers", np.where(missing, np.nan, numbers).astype("<f8").tobytes()


def _nothing(rows: int) -> tuple[bytes, bytes]:
    """Return a column without any value, which has the same values whatever its type."""
    return b"missing", b"%d" % rows


def _cells(cells: Sequence[Any]) -> tuple[bytes, bytes]:
    kinds = {type(cell) for cell in cells} - {type(None)}
    if not kinds:
        return _nothing(len(cells))
    if kinds <= {int, float} and all(cell is None or type(cell) is float or abs(cell) < EXACT for cell in cells):
        return _written(np.array(cells, dtype=np.float64))  # None becomes NaN
    texts = ["" if cell is None else cell if type(cell) is str else f"{_kind(cell)} {cell}" for cell in cells]
    # Text and other values of the same look are told apart by this: 0 is missing, 1 is text, 2 is another value.
    of_what = bytes(0 if cell is None else 1 if type(cell) is str else 2 for cell in cells)
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = np.array([len(text) for text in encoded], dtype="<i8").tobytes()
    return b"cells", of_what + lengths + b"".join(encoded)


def _kind(cell: Any) -> str:
    """Return what kind of value a cell is, not which library's."""
    if isinstance(cell, bool):
        return "bool"
    if is_number(cell):
        return "number"
    return "time" if hasattr(cell, "isoformat") else type(cell).__name__
