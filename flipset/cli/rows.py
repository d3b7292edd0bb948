"""Which row a person means, and what identifies rows: by number, by identifier, or by a condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipset import InputError
from flipset.explain.explanations import reserved_names
from flipset.plural import count
from flipset.space.expressions import meets, parse
from flipset.space.ids import read_ids
from flipset.space.row_id import cell_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset import Space
    from flipset.space.ids import Ids
    from flipset.space.row_id import RowId

EXAMPLE = '--where "id == 17"'


def ids_of(frame: Any, space: Space, id_column: str | None) -> Ids | None:
    """Return the identifiers of the rows: those of --id, or an index with a name, as a Parquet file may have one."""
    if id_column is None and None in frame.index.names:
        return None  # what filtering has left of the numbers of rows identifies nobody
    try:
        return read_ids(frame, id_column, space.names, reserved_names(space.names), len(frame))
    except InputError as error:
        raise InputError(str(error).replace(f"id={id_column!r}", f"--id {id_column}")) from None


def pick_row(frame: Any, row: str | None, where: str | None, ids: Sequence[RowId] | None = None) -> int:
    """Return the position of a row, given as the only one that meets a condition, or by its identifier or number.

    If rows have identifiers, `row` is one of them. Otherwise it is a number, counted from 0.
    """
    if (row is None) == (where is None):
        raise InputError('choose a row: --row N (counted from 0), or --where "id == 17"')
    if row is not None:
        return _place_of(row, ids) if ids is not None else _place_at(row, len(frame))
    assert where is not None
    brief = where if len(where) <= 80 else f"{where[:80]}..."
    shown_where = f"--where {brief!r}"
    try:
        condition = parse(where)
    except InputError as error:
        raise InputError(f"{shown_where} cannot be read: {error}; an example is {EXAMPLE}") from None
    try:
        positions: list[int] = meets(condition, frame, len(frame)).nonzero()[0].tolist()
    except InputError as error:
        raise InputError(f"{shown_where}: {error}") from None
    if len(positions) != 1:
        raise InputError(f"{shown_where} is met by {count(len(positions), 'row')}; exactly 1 is expected")
    return positions[0]


def _place_at(text: str, rows: int) -> int:
    """Return the position that a text names."""
    try:
        place = int(text)
    except ValueError:
        hint = "give --id COLUMN to choose a row by its identifier"
        raise InputError(f"--row {text}: expected a number, counted from 0; {hint}") from None
    if not 0 <= place < rows:
        raise InputError(f"--row {text}: the data have rows 0 to {rows - 1}")
    return place


def _place_of(text: str, ids: Sequence[RowId]) -> int:
    """Return the position of the only row with this identifier."""
    name = ", ".join(ids[0])
    places = [i for i, own in enumerate(ids) if ", ".join(map(cell_text, own.values())) == text]
    if len(places) == 1:
        return places[0]
    if not places:
        first = ", ".join(map(cell_text, ids[0].values()))
        raise InputError(f"--row {text}: no row has this {name}; with --id, --row is an identifier, such as {first}")
    shown_places = ", ".join(map(str, places[:5])) + (", ..." if len(places) > 5 else "")
    raise InputError(
        f"--row {text}: {len(places):,} rows have this {name}, those with the numbers {shown_places}; choose one of "
        "them without --id"
    )
