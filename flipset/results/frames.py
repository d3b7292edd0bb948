"""Columns of explanations as a pandas, polars or Arrow frame, with types that do not depend on missing values.

A row that could not be explained has no values. Boolean columns stay boolean and integer columns stay integer all the
same, even where every value is missing; in pandas, this takes its nullable types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FLAGS = ("decision",)
"""Boolean columns."""

COUNTS = ("size", "lower", "upper", "ways", "queries")
"""Integer columns, unless features have fractional weights."""


def frame_of(columns: Mapping[str, list[Any]], like: Any = None) -> Any:
    """Return columns as a frame of the same library as `like`, or a pandas frame."""
    import narwhals as nw

    module = None if like is None else nw.get_native_namespace(like)
    if module is None or module.__name__ == "pandas":
        import pandas as pd

        return pd.DataFrame({name: pd.Series(cells, dtype=_nullable(name, cells)) for name, cells in columns.items()})
    frame = nw.from_dict({name: _column(cells, module) for name, cells in columns.items()}, backend=module)
    # Polars and Arrow give a column without any value a type of its own, which does not fit that of other tables.
    empty = [name for name, cells in columns.items() if all(cell is None for cell in cells)]
    flags = [nw.col(name).cast(nw.Boolean) for name in empty if name in FLAGS]
    numbers = [nw.col(name).cast(nw.Int64) for name in empty if name in COUNTS]
    return frame.with_columns(*flags, *numbers).to_native()


def _nullable(name: str, cells: Sequence[Any]) -> str | None:
    """Return the nullable type of a pandas column with missing values; None if the usual type will do."""
    kinds = {type(cell) for cell in cells if cell is not None}
    # Without missing values the usual types do, and mixed columns stay objects.
    if None not in cells or len(kinds) > 1:
        return None
    if kinds == {bool} or (not kinds and name in FLAGS):
        return "boolean"
    if kinds == {int} or (not kinds and name in COUNTS):
        whole = [cell for cell in cells if cell is not None]
        least, most = min(whole, default=0), max(whole, default=0)
        return "Int64" if -(1 << 63) <= least <= most < 1 << 63 else "UInt64" if 0 <= least <= most < 1 << 64 else None
    return None


def _column(cells: list[Any], module: Any) -> Any:
    """Return a column whose type polars and Arrow can infer: integers among floats become floats."""
    given = [cell for cell in cells if cell is not None]
    kinds = set(map(type, given))
    if kinds == {int, float}:
        return [None if cell is None else float(cell) for cell in cells]
    if kinds == {int} and module.__name__ == "pyarrow" and min(given) >= 0 and 1 << 63 <= max(given) < 1 << 64:
        return module.array(cells, type=module.uint64())  # Arrow does not infer this type
    return cells
