"""The columns of a table as arrays, for rules to be looked for.

A cell that is missing, infinite or a special code is not ordinary: it is NaN here, and a rule is not tested on its row.
Columns with few texts are numbered by their texts. Of other columns, such as names, only what is missing counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError
from flipset.space.feature import is_number, plain
from flipset.space.frame import ALL
from flipset.space.multiples import EXACT
from flipset.space.suggestions.texts import written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from flipset.space.feature import Value
    from flipset.space.reference import Reference

FEW_VALUES = 6
"""Up to this many different values, a column is looked at value by value."""

MOST_SAMPLED = 10_000
"""How many rows are looked at for estimates: every second, third ... row of larger tables. Counts are of all rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column of a table.

    Attributes
    ----------
    name, place
        Its name, and its position in the table.
    text
        Its name as rules have it; empty if no rule can name it.
    values
        Its numbers, with NaN for cells that are not ordinary. The positions in `texts`, if it holds texts.
    few
        Its different values, ascending, if they are few; otherwise empty.
    texts
        The texts of a column that holds few texts.
    is_number
        Whether its cells are numbers.
    is_float
        Whether its type is one of floats.
    lowest
        Its smallest number; NaN if it has none.
    precision
        The relative distance between neighbors of its type, for sums.
    """

    name: str
    place: int
    text: str
    values: NDArray[np.float64]
    few: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    is_number: bool = False
    is_float: bool = False
    lowest: float = np.nan
    precision: float = float(np.finfo(np.float64).eps)

    @property
    def is_amount(self) -> bool:
        """Whether it can be a member of an order or a sum: numbers, more than two of them."""
        return self.is_number and bool(self.text) and not np.isnan(self.lowest) and len(self.few) not in (1, 2)

    @property
    def is_flag(self) -> bool:
        """Whether it holds 0 and 1, and both."""
        return self.is_number and self.few == (0, 1)


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a table, and which rows have ordinary cells in which of them."""

    columns: tuple[Column, ...]
    rows: int
    most_broken: float
    """The largest share of rows that may break a rule."""
    _covered: dict[frozenset[int], int] = field(default_factory=dict)

    def may_break(self, broken: int, rows: int) -> bool:
        """Say whether so many of these rows may break a rule."""
        # A quotient, because 3 / 5000 is 0.0006 and 0.0006 * 5000 is less than 3.
        return broken == 0 or broken / rows <= self.most_broken

    @cached_property
    def ordinary(self) -> NDArray[np.bool_]:
        """For each column, in which rows it is ordinary."""
        return np.array([~np.isnan(column.values) for column in self.columns])

    @cached_property
    def _pattern_of(self) -> list[int]:
        """For each column, the first column that is ordinary in the same rows."""
        first: dict[bytes, int] = {}
        return [first.setdefault(np.packbits(mask).tobytes(), i) for i, mask in enumerate(self.ordinary)]

    @cached_property
    def together(self) -> NDArray[np.int64]:
        """For two columns, in how many rows both are ordinary."""
        patterns = sorted(set(self._pattern_of))
        counts = counted_together(self.ordinary[patterns])
        at = np.searchsorted(patterns, self._pattern_of)
        return counts[np.ix_(at, at)]

    def all_ordinary(self, places: Iterable[int]) -> NDArray[np.bool_]:
        """Return the rows in which all of these columns are ordinary."""
        rows: NDArray[np.bool_] = np.logical_and.reduce(self.ordinary[list(places)])
        return rows

    def covered(self, places: Iterable[int]) -> int:
        """Return which columns are ordinary wherever these are, as a bitmask; a few rows may be exceptions.

        A rule between these columns follows from rules with others only if the others are covered: where a column is
        missing, its rules say nothing.
        """
        key = frozenset(self._pattern_of[place] for place in places)
        if key not in self._covered:
            rows = self.all_ordinary(key)
            missing = {i: int((rows & ~self.ordinary[i]).sum()) for i in set(self._pattern_of)}
            good = {i for i, count in missing.items() if self.may_break(count, int(rows.sum()))}
            self._covered[key] = sum(1 << i for i, pattern in enumerate(self._pattern_of) if pattern in good)
        return self._covered[key]


def counted_together(
    masks: NDArray[np.bool_], others: NDArray[np.bool_] | None = None, at_once: int = 1 << 15
) -> NDArray[np.int64]:
    """Return in how many rows each two masks are both true; with `others`, each mask and each of the others."""
    others = masks if others is None else others
    counts = np.zeros((len(masks), len(others)), dtype=np.int64)
    for start in range(0, masks.shape[1], at_once):
        # A product of matrices is far faster than comparing, and a float32 counts exactly up to 2^24.
        left = masks[:, start : start + at_once].astype(np.float32)
        right = left if others is masks else others[:, start : start + at_once].astype(np.float32)
        counts += (left @ right.T).astype(np.int64)
    return counts


def every(values: NDArray[Any], most: int = MOST_SAMPLED) -> NDArray[Any]:
    """Return at most so many values of an array, evenly chosen."""
    return values[:: max(1, -(-len(values) // most))]


def read_columns(reference: Reference, special: Any, most_broken: float) -> Table:
    """Read the columns of a table; `special` has codes by column, as `Space.from_frame` takes them."""
    codes = _codes(special, reference.names)
    rows = len(reference.frame)
    columns = tuple(
        _column(reference.frame[name], name, place, codes.get(name, codes.get(ALL, ())), by_name=name in codes)
        for place, name in enumerate(reference.names)
    )
    return Table(columns, rows, most_broken)


def _codes(special: Any, names: Sequence[str]) -> dict[str, list[Value]]:
    if special is None:
        return {}
    if not isinstance(special, Mapping):
        raise InputError(f"special must be a mapping from column names, got {special!r}")
    for name, codes in special.items():
        if name not in names and name != ALL:
            raise InputError(
                f"special names {name!r}, which is not a column; the columns are {', '.join(map(repr, names))}"
            )
        if isinstance(codes, str) or not hasattr(codes, "__iter__"):
            raise InputError(f"special[{name!r}] must be a list of codes, got {codes!r}")
    return {name: list(codes) for name, codes in special.items()}


def _column(series: Any, name: str, place: int, codes: Sequence[Value], *, by_name: bool) -> Column:
    dtype = series.dtype
    if not dtype.is_numeric():
        return _of_cells([plain(cell) for cell in series.to_list()], name, place, codes, by_name=by_name)
    values = _numbers(series)
    numbers = [float(code) for code in codes if is_number(code)]
    values[~np.isfinite(values) | np.isin(values, numbers)] = np.nan
    # Beyond 2^53 floats are rounded, so rules about them could not be tested. Such numbers are identifiers.
    largest = np.nanmax(np.abs(values), initial=0)
    if dtype.is_integer() and largest >= EXACT:
        return Column(name, place, "", values)
    kind = str(dtype).lower()
    return Column(
        name,
        place,
        written(name),
        values,
        few=_few(values),
        is_number=True,
        is_float=bool(dtype.is_float()),
        lowest=_lowest(values),
        precision=float(np.finfo(kind if kind in ("float16", "float32") else "float64").eps),
    )


def _numbers(series: Any) -> NDArray[np.float64]:
    """Return a column of numbers as floats, with NaN for missing values."""
    import narwhals as nw

    if series.null_count() or not (series.dtype.is_float() or series.dtype.is_integer()):
        series = series.cast(nw.Float64)
    return np.array(series.to_numpy(), dtype=np.float64)


def _of_cells(cells: list[Value], name: str, place: int, codes: Sequence[Value], *, by_name: bool) -> Column:
    """Return a column of truth values or texts; of another, what is missing in it."""
    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds == {bool}:
        # Codes for all columns are numbers, and no truth value is meant by them.
        taken = [code for code in codes if by_name and isinstance(code, bool)]
        values = np.array([np.nan if cell is None or cell in taken else float(cell) for cell in cells])
        return Column(name, place, written(name), values, few=_few(values), is_number=True, lowest=_lowest(values))
    left = [None if cell is None or _is_code(cell, codes) else cell for cell in cells]
    seen = sorted({cell for cell in left if isinstance(cell, str)}) if kinds == {str} else []
    if not 0 < len(seen) <= FEW_VALUES or not all(text.isprintable() for text in seen):
        return Column(name, place, "", np.array([np.nan if cell is None else 0.0 for cell in left]))
    at: dict[Value, float] = {None: np.nan, **{text: float(i) for i, text in enumerate(seen)}}
    values = np.array([at[cell] for cell in left])
    return Column(name, place, written(name), values, few=_few(values), texts=tuple(seen))


def _is_code(cell: Value, codes: Sequence[Value]) -> bool:
    try:
        return any(type(code) is type(cell) and code == cell for code in codes)
    except (TypeError, ValueError):
        return False


def _lowest(values: NDArray[np.float64]) -> float:
    return float(np.fmin.reduce(values, initial=np.nan))


def _few(values: NDArray[np.float64]) -> tuple[float, ...]:
    """Return the different values, ascending, if they are few."""
    ordinary = values[~np.isnan(values)]
    # Most columns have many values, which a sample shows at once.
    if len(np.unique(every(ordinary, 1_000))) > FEW_VALUES:
        return ()
    seen = np.unique(ordinary)
    return tuple((seen + 0.0).tolist()) if len(seen) <= FEW_VALUES else ()
