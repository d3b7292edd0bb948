"""Columns of explanations as a pandas, polars or Arrow frame, with types that do not depend on missing values.

A row that could not be explained has no values. Boolean columns stay boolean and integer columns stay integer all the
same, also where every value is missing or there is no row; in pandas, this takes its nullable types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KINDS = {
    "decision": "bool", "size": "int", "lower": "int", "upper": "int", "ways": "int", "queries": "int",
    "score": "float", "cost": "float",
}  # fmt: skip
"""What columns hold unless the caller says something else."""


def frame_of(
    columns: Mapping[str, Any], like: Any = None, kinds: Mapping[str, str] | None = None, index: Any = None
) -> Any:
    """Return columns as a frame of the same library as `like`, or a pandas frame.

    A column is a list of cells, or a narwhals series, which keeps its type. `kinds` says what lists hold: "bool",
    "int", "float" or "text"; the type of other columns follows from their cells. `index` is that of a pandas frame.
    """
    import narwhals as nw

    known = KINDS if kinds is None else kinds
    module = None if like is None else nw.get_native_namespace(like)
    if module is None or module.__name__ == "pandas":
        import pandas as pd

        made = pd.DataFrame({name: _series(cells, known.get(name, "")) for name, cells in columns.items()})
        # Set afterwards: pandas would look cells up by their labels, and two rows may have the same label.
        return made if index is None else made.set_axis(index)
    frame = nw.from_dict({name: _column(cells, module) for name, cells in columns.items()}, backend=module)
    types = {"bool": nw.Boolean(), "int": nw.Int64(), "float": nw.Float64(), "text": nw.String()}
    # Polars and Arrow give a column without any value a type of its own, which does not fit that of other tables.
    listed = {name: cells for name, cells in columns.items() if isinstance(cells, list)}
    empty = {name: known.get(name) or "text" for name, cells in listed.items() if not _given(cells)}
    floats = {name: "float" for name in listed if known.get(name) == "float"}
    casts = [nw.col(name).cast(types[kind]) for name, kind in {**empty, **floats}.items()]
    return frame.with_columns(*casts).to_native()


def _given(cells: Sequence[Any]) -> list[Any]:
    return [cell for cell in cells if cell is not None]


def _series(cells: Any, kind: str) -> Any:
    """Return a pandas column, whose index counts from 0."""
    import pandas as pd

    if not isinstance(cells, list):
        return cells.to_native().reset_index(drop=True)
    return pd.Series(cells, dtype=_dtype(kind, cells))


def _dtype(kind: str, cells: Sequence[Any]) -> Any:
    """Return the type of a pandas column; None if it follows from the cells."""
    found = {type(cell) for cell in cells if cell is not None}
    if kind == "bool" and found <= {bool}:
        return "boolean"
    if kind == "int" and found <= {int}:
        return _integer(_given(cells))
    if kind == "float" and found <= {int, float}:
        return "float64"
    if kind == "text" and found <= {str}:
        import pandas as pd

        return pd.Series(["a"]).dtype  # objects in older versions of pandas
    # Cells decide. Without missing values the usual types do, and mixed columns stay objects.
    if None not in cells or len(found) != 1:
        return "object" if not found else None
    return "boolean" if found == {bool} else _integer(_given(cells)) if found == {int} else None


def _integer(given: Sequence[int]) -> str | None:
    least, most = min(given, default=0), max(given, default=0)
    return "Int64" if -(1 << 63) <= least <= most < 1 << 63 else "UInt64" if 0 <= least <= most < 1 << 64 else None


def _column(cells: Any, module: Any) -> Any:
    """Return a column whose type polars and Arrow can infer: integers among floats become floats."""
    if not isinstance(cells, list):
        return cells.to_native()  # narwhals would forget the type of an empty one
    given = _given(cells)
    kinds = set(map(type, given))
    if kinds == {int, float}:
        return [None if cell is None else float(cell) for cell in cells]
    if kinds == {int} and module.__name__ == "pyarrow" and min(given) >= 0 and 1 << 63 <= max(given) < 1 << 64:
        return module.array(cells, type=module.uint64())  # Arrow does not infer this type
    return cells
