"""The reference: a table that the model was made for, with its population and the types of its columns.

Frames are read through narwhals and made again as the caller's own kind of frame, with the caller's own types: a
category stays the same category, codes included.

Invariant: a cell reaches the model as the value it is, or the row is refused. No cell is silently rounded, cut off or
turned into a missing value by the type of its column.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.boundary.reading import shown
from flipset.errors import InputError, first_line
from flipset.space.feature import is_number, plain
from flipset.space.fingerprints import table_fingerprint
from flipset.space.identity import cell_key
from flipset.space.multiples import EXACT

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from flipset.space.feature import Feature, Value


def read_frame(table: Any) -> Any:
    """Return a pandas, polars or Arrow frame wrapped by narwhals; refuse anything else."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(table, eager_only=True)
        names = list(frame.columns)
    except TypeError:
        kind = f"{type(table).__module__}.{type(table).__qualname__}"
        raise InputError(f"expected a frame (pandas, polars or Arrow), got {kind}") from None
    except DuplicateError as error:
        raise InputError(f"column names must differ: {error}") from None
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"column names must be strings, got {name!r}")
    return frame


class Reference:
    """A frame, wrapped by narwhals. What is computed from it is kept.

    Attributes
    ----------
    frame, names
        The frame, and the names of its columns.
    numeric
        For each column, whether it can be filled from an array of numbers.
    tells_nan
        For each column, whether NaN and null are different values in it.
    """

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.names = tuple(frame.columns)
        self._module = _module(frame)
        self._columns = {name: frame[name].to_native() for name in self.names}
        self._categories = {  # of pandas, which silently turns any other value into a missing one
            name: set(column.dtype.categories)
            for name, column in self._columns.items()
            if hasattr(column, "dtype") and hasattr(column.dtype, "categories") and self._module.__name__ == "pandas"
        }
        self.numeric = [self._is_numeric(name) for name in self.names]
        self._all_floats = self._module.__name__ == "pandas" and all(
            column.dtype == np.float64 for column in self._columns.values()
        )
        # The labels themselves: making them anew for every table takes longer than the table.
        self._labels = getattr(frame.to_native(), "columns", None)
        self.tells_nan = [self._tells_nan(name) for name in self.names]
        self._always_fits = [self._held_type(name) for name in self.names]
        self._fitting: list[set[Any]] = [set() for _ in self.names]  # the keys of other cells that were found to fit
        self._scales: dict[Hashable, list[float]] = {}
        self._arrays: dict[Hashable, NDArray[np.float64] | None] = {}
        self._points: dict[Hashable, tuple[list[float], bool]] = {}
        self._booleans: dict[str, bool] = {}
        self._narrow: dict[str, np.dtype[Any] | None] = {}
        self._whole: dict[str, bool] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        # Only the caller's frame is sent to other processes; everything else is computed again there.
        return Reference.of, (self.frame.to_native(),)

    def _is_numeric(self, name: str) -> bool:
        dtype = getattr(self._columns[name], "dtype", None)
        if self._module.__name__ == "pandas":
            return isinstance(dtype, np.dtype) and dtype.kind in "fiu"
        return self._module.__name__ == "polars" and bool(dtype is not None and dtype.is_float())

    def _tells_nan(self, name: str) -> bool:
        dtype = getattr(self._columns[name], "dtype", None)
        return dtype.kind == "O" if isinstance(dtype, np.dtype) else bool(self.frame[name].dtype.is_float())

    def _held_type(self, name: str) -> type | None:
        """Return a Python type all of whose values a column can hold; `object` where it can hold anything."""
        dtype = getattr(self._columns[name], "dtype", None)
        if isinstance(dtype, np.dtype):
            return {"O": object, "f": float if dtype.itemsize == 8 else None}.get(dtype.kind)
        return float if self._module.__name__ == "polars" and str(dtype) == "Float64" else None

    def float_type(self, name: str) -> np.dtype[Any] | None:
        """Return the type of a column of narrow floats, such as float32; None for any other column."""
        if name not in self._narrow:
            self._narrow[name] = self._float_type(name)
        return self._narrow[name]

    def _float_type(self, name: str) -> np.dtype[Any] | None:
        if name not in self.names:
            return None
        column = self._columns[name]
        pandas = self._module.__name__ == "pandas"
        kind = getattr(column.dtype, "numpy_dtype", column.dtype) if pandas else self.frame[name].dtype
        return _NARROW.get(str(kind).lower())

    def holds_whole(self, name: str) -> bool:
        """Say whether the type of a column holds whole numbers only."""
        # Kept, as the types of columns are asked for with every computed value, and frames take long to say them.
        if name not in self._whole:
            self._whole[name] = name in self.names and bool(self.frame[name].dtype.is_integer())
        return self._whole[name]

    @classmethod
    def of(cls, table: Any) -> Reference:
        """Read a pandas, polars or Arrow frame."""
        if isinstance(table, Reference):
            return table
        frame = read_frame(table)
        rows, columns = frame.shape
        if rows == 0 or columns == 0:
            raise InputError(f"the frame is empty: {rows} rows, {columns} columns")
        return cls(frame)

    @cached_property
    def fingerprint(self) -> str:
        """The hash of the names and values of the table, whichever library its frame is of."""
        return table_fingerprint(self.frame)

    def only(self, names: Sequence[str]) -> Any:
        """Return the frame with these columns only; without names, return all of it."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise InputError(f"the frame has no column {missing[0]!r}, which the model was fitted with")
        return self.frame.select(list(names) or list(self.names)).to_native()

    def has_types_of(self, frame: Any) -> bool:
        """Say whether a frame, wrapped by narwhals, is of the same library and has all columns with the same types."""
        if _module(frame) is not self._module or not set(self.names).issubset(frame.columns):
            return False
        natives = ((self._columns[name], frame[name].to_native()) for name in self.names)
        return all(_type_of(own) == _type_of(other) for own, other in natives)

    def cells(self, name: str) -> list[Value]:
        """Return a column as plain values."""
        return [plain(value) for value in self.frame[name].to_list()]

    def is_boolean(self, name: str) -> bool:
        """Say whether a column holds True and False rather than 1 and 0."""
        if name not in self._booleans:
            # By the cells, not by the type: a column with missing values may be one of objects.
            seen = {type(value) for value in self.cells(name) if value is not None} if name in self.names else set()
            self._booleans[name] = seen == {bool}
        return self._booleans[name]

    def scale(self, feature: Feature) -> list[float]:
        """Return the ordinary values of a column, ascending: numbers as they are, levels as their positions."""
        if feature.name not in self.names:
            return []
        key = _what_counts(feature)
        if key not in self._scales:
            at_once = self.numeric[self.names.index(feature.name)] and not feature.levels
            self._scales[key] = self._ordinary_numbers(feature) if at_once else self._ordinary(feature)
        return self._scales[key]

    def counts(self, feature: Feature, values: Sequence[float], *, included: bool) -> list[int]:
        """Return how many numbers of `scale` lie below each of the values, or, if `included`, below or at it."""
        key = _what_counts(feature)
        scale = self.scale(feature)
        if key not in self._arrays:
            exact = not scale or (scale[0] > -EXACT and scale[-1] < EXACT)
            self._arrays[key] = np.array(scale, dtype=np.float64) if exact else None
        array = self._arrays[key]
        if array is None:
            return [(bisect_right if included else bisect_left)(scale, value) for value in values]
        # Values of any size may be rounded here: rounding moves no number across a whole number below 2^53.
        sought = np.array(values, dtype=np.float64)
        counts: list[int] = np.searchsorted(array, sought, "right" if included else "left").tolist()
        return counts

    def _ordinary_numbers(self, feature: Feature) -> list[float]:
        values = self.frame[feature.name].to_numpy()
        codes = [code for code in feature.special if is_number(code)]
        if values.dtype.kind in "iu":
            # NumPy would convert the codes to the type of the column, where -7.5 would become -7. A code that the type
            # does not have cannot be in the column.
            limits = np.iinfo(values.dtype)
            codes = [int(code) for code in codes if code == int(code) and limits.min <= code <= limits.max]
        else:
            values = values.astype(np.float64)
            values = values[np.isfinite(values)]
        is_code = np.isin(values, np.array(codes, dtype=values.dtype))
        ordinary: list[float] = np.sort(values[~is_code]).tolist()
        return ordinary

    def _ordinary(self, feature: Feature) -> list[float]:
        ordinary = [value for value in self.cells(feature.name) if feature.is_ordinary(value)]
        if feature.levels:
            place = {level: i for i, level in enumerate(feature.levels)}
            return sorted(float(place[value]) for value in ordinary if value in place)
        numbers = (value for value in ordinary if is_number(value))
        return sorted(int(value) if isinstance(value, int) else float(value) for value in numbers)

    def points(self, feature: Feature, most: int) -> tuple[list[float], bool]:
        """Return the distinct ordinary values of a column, ascending, and whether these are all of them.

        If there are more than `most`, return `most` quantiles instead.
        """
        key = (*_what_counts(feature), most)
        if key not in self._points:
            values = list(dict.fromkeys(self.scale(feature)))
            complete = len(values) <= most
            if not complete:
                # From first to last, so that the ends of the scale are among them.
                values = [values[round(k * (len(values) - 1) / (most - 1))] for k in range(most)]
            self._points[key] = values, complete
        return self._points[key]

    def table(self, columns: Sequence[Any]) -> Any:
        """Return a frame of the same kind and types, from a list of cells or a result of `column` for each column."""
        module = self._module
        made = {
            name: self._column(name, cells) if isinstance(cells, list) else cells
            for name, cells in zip(self.names, columns, strict=True)
        }
        if module.__name__ == "pandas":
            return module.DataFrame(made, copy=False)
        return module.DataFrame(made) if hasattr(module, "DataFrame") else module.table(made)

    def matrix(self, matrix: NDArray[np.float64]) -> Any:
        """Return a matrix as a frame in one step, which needs a pandas frame of floats only; None for any other."""
        if self._module.__name__ != "pandas" or not self._all_floats:
            return None
        return self._module.DataFrame(matrix, columns=self._labels, copy=False)

    def column(self, i: int, values: NDArray[np.float64]) -> Any:
        """Return numbers as a column; None where the cells must be converted one by one."""
        name = self.names[i]
        dtype = self._columns[name].dtype
        if self._module.__name__ == "polars":
            if np.isnan(values).any() or not dtype.is_float():  # in polars, NaN is not a missing value
                return None
            made = self._module.Series(name, values, dtype=dtype)
            return made if (made.to_numpy() == values).all() else None
        return _held(values, dtype) if dtype.kind == "f" else _whole(values, dtype)

    def check_cell(self, i: int, cell: Any) -> None:
        """Refuse a cell that the type of its column cannot hold as it is."""
        fits = self._always_fits[i]
        if fits is object or type(cell) is fits or (key := cell_key(cell)) in self._fitting[i]:
            return
        # Tried out on a column of one cell: only the library knows what its types hold.
        self._column(self.names[i], [cell])
        if len(self._fitting[i]) >= KEPT:
            self._fitting[i].clear()
        self._fitting[i].add(key)

    def _column(self, name: str, cells: Sequence[Value]) -> Any:
        """Return cells as a column with the type of the reference; refuse those that would become another value."""
        like, module = self._columns[name], self._module
        if name in self._categories:
            self._check_categories(name, cells)
        try:
            if module.__name__ == "pandas":
                made = module.Series(cells, dtype=like.dtype)
            elif module.__name__ == "polars":
                made = module.Series(name, cells, dtype=like.dtype, strict=False)
            else:
                made = module.array(cells, type=like.type)
        except (TypeError, ValueError, OverflowError, ArithmeticError) as error:
            odd = self._first_refused(name, cells) if len(cells) > 1 else cells[0]
            why = "the type has no missing values" if plain(odd) is None else first_line(error)
            raise self._cannot_hold(name, odd, why) from None
        # Libraries convert some values silently: 1.5 to 1, or an unknown value to a missing one. So read them back.
        read_back = made.to_pylist() if hasattr(made, "to_pylist") else made.to_list()
        for cell, held in zip(cells, read_back, strict=True):
            if not _is_held_as(cell, held):
                why = "the type has no place for it" if plain(held) is None else f"it would become {held!r}"
                raise self._cannot_hold(name, cell, why)
        return made

    def _first_refused(self, name: str, cells: Sequence[Value]) -> Value:
        """Return the first cell that the column refuses, for the error message."""
        for cell in cells:
            try:
                self._column(name, [cell])
            except InputError:
                return cell
        return cells[0]

    def _check_categories(self, name: str, cells: Sequence[Value]) -> None:
        for cell in cells:
            if plain(cell) is not None and cell not in self._categories[name]:
                raise self._cannot_hold(name, cell, "it is not one of the categories")

    def _cannot_hold(self, name: str, cell: Value, why: str) -> InputError:
        like = self._columns[name]
        kind = getattr(like, "dtype", None)
        problem = f"column {name!r} of type {like.type if kind is None else kind} cannot hold {shown(cell)}: {why}"
        return InputError(f"{problem}; give a value of that type, or the Explainer a table whose column can hold it")


KEPT = 4_096
"""The most cells of a column that are remembered to fit."""

_NARROW = {name: np.dtype(name) for name in ("float16", "float32")}


def _type_of(column: Any) -> Any:
    """Return the type of a column of pandas, polars or Arrow."""
    return column.type if hasattr(column, "type") and not hasattr(column, "dtype") else column.dtype


def _is_held_as(cell: Value, held: Value) -> bool:
    """Say whether a cell and the value that a column made of it are equal, or both missing."""
    before, after = plain(cell), plain(held)
    if before is None or after is None:
        return before is after
    try:
        return bool(before == after)
    except (TypeError, ValueError):
        return False


def _held(values: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return numbers in this type of floats; None where it cannot hold them exactly."""
    # A number beyond the type becomes infinite, which the comparison below refuses.
    with np.errstate(over="ignore"):
        made = values.astype(dtype)
    return made if dtype == np.float64 or ((made == values) | np.isnan(values)).all() else None


def _what_counts(feature: Feature) -> tuple[Hashable, ...]:
    """Return the attributes that decide which cells of a column are on its scale, and where."""
    return feature.name, feature.levels, feature.special


def _whole(values: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return numbers in this type of integers; None where it cannot hold them exactly."""
    # Above 2^53, a float may stand for another whole number than the one that was meant.
    least, most = np.iinfo(dtype).min, min(np.iinfo(dtype).max, 1 << 53)
    fits = (values >= least) & (values <= most) & (values == np.floor(values))
    return values.astype(dtype) if fits.all() else None


def _module(frame: Any) -> Any:
    import narwhals as nw

    return nw.get_native_namespace(frame)
