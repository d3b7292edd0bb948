"""A table the model was made for: its population, and the types of its columns.

Frames of any kind come in through narwhals and go out as the caller's own kind, with the caller's own types: a category
stays the category it was, codes included.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError, first_line
from flipset.space.feature import is_number, plain
from flipset.space.identity import cell_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from flipset.space.feature import Feature, Value


EXACT = 1 << 53
"""Whole numbers below this, up or down, are floats without loss, and no other number is rounded to one of them."""


def read_frame(table: Any) -> Any:
    """Return a pandas, polars or Arrow frame as narwhals sees it; refuse anything else."""
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
    """A frame, seen through narwhals. What is read off it is kept."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.names = tuple(frame.columns)
        self._module = _module(frame)
        self._columns = {name: frame[name].to_native() for name in self.names}
        self._categories = {  # of pandas' kind, which takes any other value for missing
            name: set(column.dtype.categories)
            for name, column in self._columns.items()
            if hasattr(column, "dtype") and hasattr(column.dtype, "categories") and self._module.__name__ == "pandas"
        }
        self.numeric = [self._is_numeric(name) for name in self.names]  # columns that can be made of numbers at once
        self._all_floats = self._module.__name__ == "pandas" and all(
            column.dtype == np.float64 for column in self._columns.values()
        )
        self._labels = getattr(frame.to_native(), "columns", None)
        self.tells_nan = [self._is_told_from_null(name) for name in self.names]  # columns where NaN is not null
        self._always_fits = [self._held_type(name) for name in self.names]
        self._fitting: list[set[Any]] = [set() for _ in self.names]  # other cells seen to fit, by their keys
        self._scales: dict[Hashable, list[float]] = {}
        self._arrays: dict[Hashable, NDArray[np.float64] | None] = {}
        self._points: dict[Hashable, tuple[list[float], bool]] = {}
        self._booleans: dict[str, bool] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Reference.of, (self.frame.to_native(),)

    def _is_numeric(self, name: str) -> bool:
        dtype = getattr(self._columns[name], "dtype", None)
        if self._module.__name__ == "pandas":
            return isinstance(dtype, np.dtype) and dtype.kind in "fiu"
        return self._module.__name__ == "polars" and bool(dtype is not None and dtype.is_float())

    def _is_told_from_null(self, name: str) -> bool:
        dtype = getattr(self._columns[name], "dtype", None)
        return dtype.kind == "O" if isinstance(dtype, np.dtype) else bool(self.frame[name].dtype.is_float())

    def _held_type(self, name: str) -> type | None:
        """Return a type of cells that a column holds whatever they are; `object` where it holds anything."""
        dtype = getattr(self._columns[name], "dtype", None)
        if isinstance(dtype, np.dtype):
            return {"O": object, "f": float if dtype.itemsize == 8 else None}.get(dtype.kind)
        return float if self._module.__name__ == "polars" and str(dtype) == "Float64" else None

    def float_type(self, name: str) -> np.dtype[Any] | None:
        """Return the type of a column of floats that holds fewer numbers than Python's; None for any other column."""
        if name not in self.names:
            return None
        column = self._columns[name]
        pandas = self._module.__name__ == "pandas"
        kind = getattr(column.dtype, "numpy_dtype", column.dtype) if pandas else self.frame[name].dtype
        return _NARROW.get(str(kind).lower())

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

    def only(self, names: Sequence[str]) -> Any:
        """Return the frame with these columns alone, or all of them where none is named."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise InputError(f"the frame has no column {missing[0]!r}, which the model was fitted with")
        return self.frame.select(list(names) or list(self.names)).to_native()

    def cells(self, name: str) -> list[Value]:
        """Return a column as plain values."""
        return [plain(value) for value in self.frame[name].to_list()]

    def is_boolean(self, name: str) -> bool:
        """Say whether a column holds True and False rather than 1 and 0."""
        if name not in self._booleans:
            seen = {type(value) for value in self.cells(name) if value is not None} if name in self.names else set()
            self._booleans[name] = seen == {bool}
        return self._booleans[name]

    def scale(self, feature: Feature) -> list[float]:
        """Return the ordinary values of a column, ascending, whole numbers as such; levels by their positions."""
        if feature.name not in self.names:
            return []
        key = _what_counts(feature)
        if key not in self._scales:
            at_once = self.numeric[self.names.index(feature.name)] and not feature.levels
            self._scales[key] = self._ordinary_numbers(feature) if at_once else self._ordinary(feature)
        return self._scales[key]

    def counts(self, feature: Feature, values: Sequence[float], *, included: bool) -> list[int]:
        """Return how many of `scale` lie below each of the values, or at it where that is to be `included`."""
        key = _what_counts(feature)
        scale = self.scale(feature)
        if key not in self._arrays:
            exact = all(abs(value) < EXACT for value in scale)
            self._arrays[key] = np.array(scale, dtype=np.float64) if exact else None
        array = self._arrays[key]
        if array is None:
            return [(bisect_right if included else bisect_left)(scale, value) for value in values]
        sought = np.array(values, dtype=np.float64)  # rounding moves no number across one below 2^53
        found: list[int] = np.searchsorted(array, sought, "right" if included else "left").tolist()
        return found

    def _ordinary_numbers(self, feature: Feature) -> list[float]:
        values = self.frame[feature.name].to_numpy()
        codes = [code for code in feature.special if is_number(code)]
        if values.dtype.kind in "iu":
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
        """Return the different ordinary values of a column, ascending, and whether these are all.

        Where there are more than `most`, so many quantiles of them.
        """
        key = (*_what_counts(feature), most)
        if key not in self._points:
            values = list(dict.fromkeys(self.scale(feature)))
            complete = len(values) <= most
            if not complete:
                values = [values[round(k * (len(values) - 1) / (most - 1))] for k in range(most)]
            self._points[key] = values, complete
        return self._points[key]

    def table(self, columns: Sequence[Any]) -> Any:
        """Return a frame of this kind and with these types, from a list of cells or a `column` for each column."""
        module = self._module
        made = {
            name: self._column(name, cells) if isinstance(cells, list) else cells
            for name, cells in zip(self.names, columns, strict=True)
        }
        if module.__name__ == "pandas":
            return module.DataFrame(made, copy=False)
        return module.DataFrame(made) if hasattr(module, "DataFrame") else module.table(made)

    def matrix(self, matrix: NDArray[np.float64]) -> Any:
        """Return a matrix as a frame of this kind, where all columns are floats of pandas; None where they are not."""
        if self._module.__name__ != "pandas" or not self._all_floats:
            return None
        return self._module.DataFrame(matrix, columns=self._labels, copy=False)

    def column(self, i: int, values: NDArray[np.float64]) -> Any:
        """Return numbers as a column, or None where the cells must be looked at one by one."""
        name = self.names[i]
        dtype = self._columns[name].dtype
        if self._module.__name__ == "polars":
            if np.isnan(values).any() or not dtype.is_float():  # polars tells NaN from missing
                return None
            made = self._module.Series(name, values, dtype=dtype)
            return made if (made.to_numpy() == values).all() else None
        return _held(values, dtype) if dtype.kind == "f" else _whole(values, dtype)

    def check_cell(self, i: int, cell: Any) -> None:
        """Refuse a cell that the type of a column cannot hold: it must reach the model as it is, or not at all."""
        fits = self._always_fits[i]
        if fits is object or type(cell) is fits or (key := cell_key(cell)) in self._fitting[i]:
            return
        self._column(self.names[i], [cell])
        if len(self._fitting[i]) >= KEPT:
            self._fitting[i].clear()
        self._fitting[i].add(key)

    def _column(self, name: str, cells: Sequence[Value]) -> Any:
        """Return cells as a column of its type; refuse what the type cannot hold, or holds as something else."""
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
        told = made.to_pylist() if hasattr(made, "to_pylist") else made.to_list()
        for cell, held in zip(cells, told, strict=True):
            if not _is_held_as(cell, held):
                why = "the type has no place for it" if plain(held) is None else f"it would become {held!r}"
                raise self._cannot_hold(name, cell, why)
        return made

    def _first_refused(self, name: str, cells: Sequence[Value]) -> Value:
        """Return the first cell that makes no column by itself, to be named in an error."""
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
        told = f"column {name!r} of type {like.type if kind is None else kind} cannot hold {cell!r}: {why}"
        return InputError(f"{told}; give a value of that type, or the Explainer a table whose column can hold it")


KEPT = 4_096
"""Cells of a column of which it is remembered that they fit."""

_NARROW = {name: np.dtype(name) for name in ("float16", "float32")}


def _is_held_as(cell: Value, held: Value) -> bool:
    """Say whether a column holds a cell as what it is: an equal value, or missing for missing."""
    before, after = plain(cell), plain(held)
    if before is None or after is None:
        return before is after
    try:
        return bool(before == after)
    except (TypeError, ValueError):
        return False


def _held(values: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return numbers as this type of floats, or None where it cannot hold them."""
    with np.errstate(over="ignore"):
        made = values.astype(dtype)
    return made if dtype == np.float64 or ((made == values) | np.isnan(values)).all() else None


def _what_counts(feature: Feature) -> tuple[Hashable, ...]:
    """Return all that decides which cells of a column are on its scale, and where."""
    return feature.name, feature.levels, feature.special


def _whole(values: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return numbers as this type of whole ones, or None where it cannot hold them."""
    least, most = np.iinfo(dtype).min, min(np.iinfo(dtype).max, 1 << 53)
    fits = (values >= least) & (values <= most) & (values == np.floor(values))
    return values.astype(dtype) if fits.all() else None


def _module(frame: Any) -> Any:
    import narwhals as nw

    return nw.get_native_namespace(frame)
