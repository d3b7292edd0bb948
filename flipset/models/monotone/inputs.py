"""What the inputs of a model have to do with the columns of a row: steps before the model may change them.

Each input follows its column, up or down, or has lost its order, with the reason.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flipset.models.monotone.shown import Declared


@dataclass(frozen=True, slots=True)
class Input:
    """One number that a model takes.

    Attributes
    ----------
    columns
        The columns that it depends on. None means that it is the same in all rows that are compared, as whether a
        value is missing is.
    sign
        +1 if it never falls when its one column rises, -1 if it never rises; 0 if neither is known.
    why_not
        Why neither is known.
    undo
        The value of the column for a value of the input, up to rounding; None if it is not known.
    levels
        The values of the column in their order, as long as the input still has them.
    note
        What is taken for granted about the steps so far.
    """

    columns: frozenset[int]
    sign: int = 1
    why_not: str = ""
    undo: Callable[[float], float] | None = None
    levels: tuple[object, ...] | None = None
    note: str = ""

    def scaled(self, sign: int, undo: Callable[[float], float] | None = None) -> Input:
        """Return the input after a step that keeps its order (+1), turns it round (-1), or makes it constant (0)."""
        if sign == 0:
            return replace(self, columns=frozenset(), levels=None)
        before = self.undo
        both = None if undo is None or before is None else lambda value: before(undo(value))
        return replace(self, sign=sign * self.sign, undo=both, levels=None)

    def without_order(self, why_not: str) -> Input:
        """Return the input after a step that does not keep its order."""
        return replace(self, sign=0, why_not=self.why_not or why_not, undo=None, levels=None)


Inputs = tuple[Input, ...]
Steps = Callable[[Inputs], Inputs]
"""What is done to the columns before the model sees them."""


def mixed(inputs: Sequence[Input], why_not: str) -> Input:
    """Return an input that depends on several others in a way that is not known."""
    return Input(frozenset().union(*(one.columns for one in inputs)), sign=0, why_not=why_not)


def columns_of(declared: Declared) -> Inputs:
    """Return the columns as inputs, before any step."""
    return tuple(_column(i, declared.levels.get(name)) for i, name in enumerate(declared.names))


def _column(i: int, levels: Sequence[object] | None) -> Input:
    if levels is None:
        return Input(frozenset({i}), undo=float)
    if _ascend(levels):
        return Input(frozenset({i}), undo=float, levels=tuple(levels))
    return Input(frozenset({i}), sign=0, why_not="its levels are not numbers in ascending order", levels=tuple(levels))


def _ascend(levels: Sequence[object]) -> bool:
    numbers = [float(one) for one in levels if isinstance(one, (int, float))]
    return len(numbers) == len(levels) and all(a < b for a, b in itertools.pairwise(numbers))


def as_they_are(inputs: Inputs) -> Inputs:
    """Do nothing to the columns."""
    return inputs
