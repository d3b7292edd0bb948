"""The identifiers of the rows of a table, read from it.

They come from a column that the model does not see, from the index of a pandas frame, or from a list. They are carried
along as they are and change no answer. Two rows may have the same identifier, and a row may have none: the number of a
row, counted from 0, always tells rows apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.space.feature import plain
from flipset.space.reference import read_frame
from flipset.space.rows import is_frame

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from flipset.space.row_id import RowId

DEFAULT_NAME = "id"
"""The name of identifiers that have none, such as those of a list."""


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    """The identifiers of all rows of a table.

    Attributes
    ----------
    names
        The names of the identifying columns: one, or one for each level of an index.
    columns
        Their cells: narwhals series where the table is a frame, which keep its types, or lists.
    of_index
        Whether they are the index of a pandas frame, which the frames of results then have, too.
    """

    names: tuple[str, ...]
    columns: tuple[Any, ...]
    of_index: bool = False

    def __len__(self) -> int:
        return len(self.columns[0])

    def listed(self) -> list[RowId]:
        """Return the identifier of each row."""
        cells = [[plain(cell) for cell in _list_of(column)] for column in self.columns]
        return [dict(zip(self.names, row, strict=True)) for row in zip(*cells, strict=True)]

    def of(self, i: int) -> RowId:
        """Return the identifier of one row."""
        return {name: plain(column[i]) for name, column in zip(self.names, self.columns, strict=True)}

    def at(self, rows: Sequence[int]) -> dict[str, Any]:
        """Return the identifying columns for these rows, in this order; a row may be there several times."""
        return {name: _gather(column, rows) for name, column in zip(self.names, self.columns, strict=True)}

    def part(self, rows: Sequence[int]) -> Ids:
        """Return the identifiers of these rows alone."""
        return Ids(self.names, tuple(self.at(rows).values()), self.of_index)


# --- reading ----------------------------------------------------------------------------------------------------------


def read_ids(table: Any, given: Any, used: Sequence[str], reserved: Collection[str], rows: int) -> Ids | None:
    """Return the identifiers of a table; None if it has none.

    `given` is the name of a column, or one identifier for each row. Without it, the index of a pandas frame identifies
    the rows, unless it is the plain count from 0. `used` are the columns that the model sees, and `reserved` the names
    that columns of results have.
    """
    if given is None:
        return _of_index(table, {*used, *reserved})
    if isinstance(given, Ids):
        return given
    if isinstance(given, str):
        return _of_column(table, given, used, reserved)
    return _of_list(given, reserved, rows)


def read_row_id(row: Any, given: Any) -> RowId | None:
    """Return the identifier of one row: the one given, or the label of a pandas series or of a frame of one row."""
    if given is not None:
        if isinstance(given, Mapping):
            if not given:
                raise InputError("id must have at least one name and value, such as {'client': '00123'}; got none")
            return {str(name): plain(cell) for name, cell in given.items()}
        if not isinstance(given, str) and hasattr(type(given), "__len__"):
            raise InputError(f"id must be one identifier, such as a text or a number, got {type(given).__name__}")
        return {DEFAULT_NAME: plain(given)}
    # A whole number without a name is the number of a row: pandas counts rows where nobody chose an index.
    if is_frame(row):
        found = _of_index(row, ())
        only = found.listed()[0] if found is not None and len(found) == 1 else None
        return None if only is None or isinstance(only.get(DEFAULT_NAME), int) else only
    # A series that was taken out of a frame is named by its label.
    name = getattr(row, "name", None) if hasattr(row, "to_dict") and hasattr(row, "index") else None
    if name is None or isinstance(plain(name), int):
        return None
    levels = name if isinstance(name, tuple) else (name,)
    return dict(zip(_level_names([None] * len(levels), ()), map(plain, levels), strict=True))


def _of_column(table: Any, name: str, used: Sequence[str], reserved: Collection[str]) -> Ids:
    if name in used:
        raise InputError(f"id={name!r} is a column that the model sees: identifiers must be in a column of their own")
    _check_name(name, reserved)
    if not is_frame(table):
        raise InputError(f"id={name!r} names a column, and the table has no names: give one identifier for each row")
    frame = read_frame(table)
    if name in frame.columns:
        return Ids((name,), (frame[name],))
    index = _index(table)
    if index is not None and name in index.names:
        return Ids((name,), (_series(index, list(index.names).index(name)),))
    shown = ", ".join(map(repr, frame.columns[:12]))
    raise InputError(f"id={name!r}: the table has no such column; it has {shown}")


def _of_list(given: Any, reserved: Collection[str], rows: int) -> Ids:
    if isinstance(given, (bytes, Mapping)) or not (hasattr(given, "__len__") and hasattr(given, "__iter__")):
        raise InputError(f"id must be the name of a column, or one identifier for each row, got {type(given).__name__}")
    cells = given.tolist() if hasattr(given, "tolist") else list(given)
    if len(cells) != rows:
        raise InputError(f"id must have one identifier for each row: {rows}, got {len(cells)}")
    name = getattr(given, "name", None)
    name = name if isinstance(name, str) and name and name not in reserved else DEFAULT_NAME
    return Ids((name,), (cells,))


def _of_index(table: Any, taken: Collection[str]) -> Ids | None:
    index = _index(table)
    if index is None or _is_plain_count(index):
        return None
    names = _level_names(index.names, taken)
    return Ids(names, tuple(_series(index, level) for level in range(index.nlevels)), of_index=True)


def _index(table: Any) -> Any:
    """Return the index of a pandas frame; None for other tables."""
    index = getattr(table, "index", None)
    return index if hasattr(index, "nlevels") and hasattr(index, "names") else None


def _is_plain_count(index: Any) -> bool:
    """Say whether an index only counts rows from 0, as pandas does where nobody chose an index."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1 and index.name is None


def _series(index: Any, level: int) -> Any:
    import narwhals as nw

    return nw.from_native(index.get_level_values(level).to_series().reset_index(drop=True), series_only=True)


def _level_names(names: Iterable[Any], taken: Collection[str]) -> tuple[str, ...]:
    """Return names for the levels of an index; those without one, or with one that is taken, are called "id"."""
    given = list(names)
    chosen: list[str] = []
    for level, name in enumerate(given):
        default = DEFAULT_NAME if len(given) == 1 else f"{DEFAULT_NAME}_{level}"
        text = default if name is None else str(name)
        text = default if text in taken or text in chosen else text
        while text in taken or text in chosen:
            text = f"{text}_"
        chosen.append(text)
    return tuple(chosen)


def _check_name(name: str, reserved: Collection[str]) -> None:
    if name in reserved:
        raise InputError(f"id={name!r} is also the name of a column of the results: rename the column")


def _list_of(column: Any) -> list[Any]:
    return column if isinstance(column, list) else list(column.to_list())


def _gather(column: Any, rows: Sequence[int]) -> Any:
    if isinstance(column, list):
        return [column[i] for i in rows]
    return column[list(rows)] if len(rows) else column.head(0)  # Arrow would forget the type
