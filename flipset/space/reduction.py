"""From general feature spaces to sets of flips (the paper's section 6, the reduction x ↕ y).

For a monotone model, only one value of each feature matters in the search for sets: its best allowed value. So a row x
with a box of allowed values becomes a set function: flip the features T, that is, move each of them to its best value,
and see whether the decision changes.

Two corrections to the printed lemma. A feature that is already at its best value never belongs to a minimal set, so it
is left out from the start. And the sensitivity of the reduced function is at most that of the model, not always equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError
from flipset.protocol import features_of, flips_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from flipset.protocol import Flips


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """One row `x` and the best allowed value of each feature; flip *i* moves feature `movable[i]` to that value."""

    x: NDArray[np.float64]
    best: NDArray[np.float64]
    movable: tuple[int, ...]

    def rows(self, batch: Sequence[Flips]) -> NDArray[np.float64]:
        """Return the row of every query. Nowhere else do flips become rows."""
        rows = np.tile(self.x, (len(batch), 1))
        columns = np.asarray(self.movable, dtype=np.intp)
        rows[:, columns] = np.where(unpack(batch, len(columns)), self.best[columns], self.x[columns])
        return rows

    def rows_of_features(self, batch: Sequence[Flips]) -> NDArray[np.float64]:
        """Return the row of each query, where bit *i* stands for feature *i* of the row."""
        return np.where(unpack(batch, len(self.x)), self.best, self.x)

    def features(self, flips: Iterable[int]) -> frozenset[int]:
        """Return the features of the row that these flips move."""
        return frozenset(self.movable[i] for i in flips)

    def spread(self, flips: Flips) -> Flips:
        """Return the features of the row that a set of flips moves, as a bitmask."""
        return flips_of(self.features(features_of(flips)))


def unpack(batch: Sequence[Flips], d: int) -> NDArray[np.bool_]:
    """Return the bits of each query as a row of booleans.

    Examples
    --------
    >>> unpack([0b01, 0b11], 2).tolist()
    [[True, False], [True, True]]
    """
    width = (d + 7) // 8
    packed = np.frombuffer(b"".join(flips.to_bytes(width, "little") for flips in batch), dtype=np.uint8)
    return np.unpackbits(packed.reshape(len(batch), width), axis=1, count=d, bitorder="little").astype(np.bool_)


def reduce_row(x: ArrayLike, lower: ArrayLike, upper: ArrayLike, directions: Iterable[Any], *, rise: bool) -> Reduction:
    """Reduce a row and its box to flips that raise the model's score (`rise`) or lower it.

    Parameters
    ----------
    x, lower, upper
        The row, and the least and the greatest allowed value of each feature; `lower <= x <= upper`.
    directions
        For each feature +1 (a higher value raises the score), -1 (lowers it) or 0 (not monotone: held fixed).
    """
    row, least, most = (_vector(name, v) for name, v in (("x", x), ("lower", lower), ("upper", upper)))
    signs = _signs(directions)
    for name, length in (("lower", len(least)), ("upper", len(most)), ("directions", len(signs))):
        if length != len(row):
            raise InputError(f"{name} must have one entry per feature of x: {len(row)}, got {length}")
    _check_box(row, least, most)
    # A feature without direction has no best value, so its "best" is its own value, and it does not move.
    towards = signs if rise else -signs
    best = np.where(towards > 0, most, np.where(towards < 0, least, row))
    return Reduction(row, best, tuple(np.flatnonzero(best != row).tolist()))


def _vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        vector = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, one per feature: {error}") from None
    if vector.ndim != 1 or vector.size == 0:
        raise InputError(f"{name} must be one-dimensional with at least one feature, got shape {vector.shape}")
    if np.isnan(vector).any():
        raise InputError(f"{name} is NaN at feature {int(np.flatnonzero(np.isnan(vector))[0])}")
    return vector


def _signs(directions: Iterable[Any]) -> NDArray[np.int64]:
    signs = list(directions)
    for i, sign in enumerate(signs):
        if not np.isscalar(sign) or isinstance(sign, str) or sign not in (-1, 0, 1):
            raise InputError(
                f"directions[{i}] is {sign!r}; expected +1 (raises the score), -1 (lowers it) or 0 (held fixed)"
            )
    return np.array(signs, dtype=np.int64)


def _check_box(row: NDArray[np.float64], least: NDArray[np.float64], most: NDArray[np.float64]) -> None:
    for wrong, what in (
        (least > most, "lower is above upper"),
        (row < least, "x is below lower"),
        (row > most, "x is above upper"),
    ):
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            raise InputError(f"{what} at feature {i}: lower={least[i]:g}, x={row[i]:g}, upper={most[i]:g}")
