"""A table the model was made for: its population, and the types of its columns.

Frames of any kind come in through narwhals and go out as the caller's own kind, with the caller's own types: a category
stays the category it was, codes included.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError
from flipset.space.feature import is_number, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flipset.space.feature import Feature, Value


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A frame, seen through narwhals."""

    frame: Any
    _values: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Any) -> Reference:
        """Read a pandas, polars or Arrow frame."""
        import narwhals as nw

        try:
            frame = nw.from_native(table, eager_only=True)
        except TypeError:
            kind = f"{type(table).__module__}.{type(table).__qualname__}"
            raise InputError(f"expected a frame (pandas, polars or Arrow), got {kind}") from None
        if frame.shape[0] == 0 or frame.shape[1] == 0:
            raise InputError(f"the frame is empty: {frame.shape[0]} rows, {frame.shape[1]} columns")
        names = [name for name in frame.columns if not isinstance(name, str)]
        if names:
            raise InputError(f"column names must be strings, got {names[0]!r}")
        return cls(frame)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)

    def cells(self, name: str) -> list[Value]:
        """Return a column as plain values."""
        return [plain(value) for value in self.frame[name].to_list()]

    def scale(self, feature: Feature) -> NDArray[np.float64]:
        """Return the ordinary values of a column, ascending; levels by their positions."""
        if feature.name not in self.names:
            return np.empty(0)
        if feature.name not in self._values:
            ordinary = [value for value in self.cells(feature.name) if feature.is_ordinary(value)]
            if feature.levels:
                place = {level: i for i, level in enumerate(feature.levels)}
                numbers = [float(place[value]) for value in ordinary if value in place]
            else:
                numbers = [float(value) for value in ordinary if is_number(value)]
            self._values[feature.name] = np.sort(np.array(numbers, dtype=np.float64))
        return self._values[feature.name]

    def table(self, columns: Sequence[Sequence[Value]]) -> Any:
        """Return a frame of this kind and with these types, from one list of cells for each column."""
        import narwhals as nw

        module = nw.get_native_namespace(self.frame)
        made: dict[str, Any] = {}
        for name, cells in zip(self.names, columns, strict=True):
            like = self.frame[name].to_native()
            try:
                if module.__name__ == "pandas":
                    made[name] = module.Series(cells, dtype=like.dtype)
                elif module.__name__ == "polars":
                    made[name] = module.Series(name, cells, dtype=like.dtype)
                else:
                    made[name] = module.array(cells, type=like.type)
            except (TypeError, ValueError, OverflowError) as error:
                kind = getattr(like, "dtype", None) or getattr(like, "type", None)
                raise InputError(f"column {name!r} of type {kind} cannot hold {_odd_one(cells)!r}: {error}") from None
        return module.DataFrame(made) if hasattr(module, "DataFrame") else module.table(made)


def _odd_one(cells: Sequence[Value]) -> Value:
    """Return the cell to show in an error: one that is missing, or else the first."""
    return next((cell for cell in cells if cell is None), cells[0])
