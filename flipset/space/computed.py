"""Sequences whose items are computed when they are read.

A path can have more points than fit into memory, and a search looks at a few of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class Computed(Sequence[T]):
    """A sequence whose items are computed when they are read.

    A subclass has `__len__`, and `_at`, which returns the item at an index from 0 to the length less one.

    Examples
    --------
    >>> class Squares(Computed[int]):
    ...     def __len__(self):
    ...         return 10**12
    ...     def _at(self, j):
    ...         return j * j
    >>> Squares()[3], Squares()[-1], Squares()[2:5]
    (9, 999999999998000000000001, [4, 9, 16])
    """

    @abstractmethod
    def _at(self, j: int) -> T:
        """Return the item at an index, which is within the length."""

    @overload
    def __getitem__(self, j: int) -> T: ...
    @overload
    def __getitem__(self, j: slice) -> list[T]: ...
    def __getitem__(self, j: int | slice) -> T | list[T]:
        length = len(self)
        if isinstance(j, slice):
            return [self._at(i) for i in range(*j.indices(length))]
        if not -length <= j < length:
            raise IndexError(j)
        return self._at(j if j >= 0 else j + length)
