"""Values to the last number: counterfactuals whose columns without a step are not bound to their grid.

The grid of a column without a step is the values seen in a table, or parts of its range. The threshold of the decision
lies somewhere between two of its values. `tighten` starts from the cheapest rows on the grid and takes the changes of
each row back, one column after the other in the order of the space, by bisection over all numbers that the type of the
column holds: at most 64 queries for each column, if one number is tried at a time.

Where one column changes, the result is the least change that flips the decision. Where several change, no single value
of the result can be relaxed. Another combination of values off the grid may still be cheaper.

Invariants:

- The row as it stands was scored by the model itself and flips, at every moment. So a budget that ends leaves a result.
- One pass is enough: taking back one change can only make the others more needed.
- A column with a step is not touched: the first multiple that flips is the threshold, rounded outward to the step.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import BudgetExhausted
from flipset.space.feature import step_of
from flipset.values.choices import CheapestRow
from flipset.values.costs import costs_in_units
from flipset.values.grid import between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.errors import NotMonotone
    from flipset.protocol import Flow
    from flipset.space import Feature, Space
    from flipset.space.cells import Cells
    from flipset.space.path import Path
    from flipset.space.reference import Reference
    from flipset.values.counterfactuals import ValueSearch

IN_BETWEEN = ", then all numbers in between"
"""What the description of a grid ends with where values were not bound to it."""

BITS: dict[Any, Any] = {np.dtype("float16"): np.int16, np.dtype("float32"): np.int32, np.dtype("float64"): np.int64}
"""The integers of the same width as each type of floats."""

FLOAT64 = np.dtype("float64")


def is_continuous(feature: Feature) -> bool:
    """Say whether a feature moves on a scale without a step."""
    return feature.ordered and not feature.levels and step_of(feature) is None


def describe_grids(grids: Mapping[str, str], space: Space) -> dict[str, str]:
    """Return the descriptions of grids where values were tightened."""
    return {name: grid + IN_BETWEEN if is_continuous(space[name]) else grid for name, grid in grids.items()}


def is_exact(grids: Mapping[str, str]) -> bool:
    """Say whether values were tightened, by the descriptions of the grids."""
    return any(grid.endswith(IN_BETWEEN) for grid in grids.values())


class Scale:
    """All numbers that a column can take on its way along a path, by whole numbers that rise as the change grows."""

    def __init__(self, path: Path, reference: Reference | None) -> None:
        name = path.feature.name
        self.sign = 1 if path.rising else -1
        self.dtype = (None if reference is None else reference.float_type(name)) or FLOAT64
        self.whole = reference is not None and reference.holds_whole(name)
        # A row from outside enters the range at the bound; any other moves to the next number at least.
        self.first = self.number(path.values[0]) if path.enters else self._beyond(path.before)

    def number(self, value: Any) -> int:
        """Return the number of a value that the column holds."""
        if self.whole:
            return self.sign * int(value)
        bits = int(self.dtype.type(value).view(BITS[self.dtype]))
        # The floats of either sign are in the order of their bits; those of -0.0 count as those of 0.0.
        return self.sign * (bits if bits >= 0 else -(bits & int(np.iinfo(BITS[self.dtype]).max)))

    def value(self, number: int) -> Any:
        """Return the value of a number."""
        place = self.sign * number
        if self.whole:
            return place
        value = float(BITS[self.dtype](abs(place)).view(self.dtype))
        return -value if place < 0 else value

    def holds(self, value: Any, end: Any) -> bool:
        """Say whether a number is one of the scale, as the column holds it, and not beyond `end`."""
        if self.whole and value != int(value):
            return False
        number = self.number(value)
        return bool(self.value(number) == value) and self.first <= number <= self.number(end)

    def _beyond(self, before: Any) -> int:
        near = before if self.whole else float(self.dtype.type(before))
        # A whole number above 2^53 may have been rounded beyond itself.
        is_beyond = near > before if self.sign > 0 else near < before
        return self.number(near) + (not is_beyond)


@dataclass(slots=True)
class _Tightening:
    """One row under way, and the column that is taken back.

    Invariant: the row flips with the column at `high`, and does not at any number below `low`.
    """

    row: CheapestRow
    cells: dict[int, Any]
    left: list[int]
    column: int = -1
    scale: Scale | None = None
    low: int = 0
    high: int = 0
    first_probe: int | None = None

    def with_value(self, number: int) -> Cells:
        """Return the cells of the row with the column at a number."""
        assert self.scale is not None
        return tuple([(i, self.scale.value(number) if i == self.column else value) for i, value in self.cells.items()])


def tighten(
    values: ValueSearch, rows: Sequence[CheapestRow], batch: int, *, alone: bool
) -> Flow[Cells, list[CheapestRow]]:
    """Return the rows with every change along a scale without a step taken back as far as the row still flips.

    `alone` says that each row is the cheapest of its own flip set, and not of all: then the bound on the cost of a set
    of one column is the cost of the result.
    """
    paths = values.costs.paths
    tightenings = []
    for row in rows:
        cells = dict(row.cells)
        # A special code or a missing value is no point of a path, although the column may have one.
        along = [i for i in cells if i in paths and paths[i].feature.is_ordinary(cells[i])]
        left = [i for i in along if is_continuous(paths[i].feature)]
        tightenings.append(_Tightening(row, cells, left))
    with suppress(BudgetExhausted):
        yield from _run(values, tightenings, min(batch, max(2, batch // max(2, len(rows)))))
    return [_result(values, one, alone=alone) for one in tightenings]


def _run(values: ValueSearch, tightenings: Sequence[_Tightening], share: int) -> Flow[Cells, None]:
    """Take the changes of all rows back side by side, one call for all of them."""
    while open_ := [one for one in tightenings if _begin_next(values, one)]:
        probes = [(one, number) for one in open_ for number in _allowed(values, one, _probes(one, share))]
        signs = yield from values.scores.signs([one.with_value(number) for one, number in probes])
        for (one, number), sign in zip(probes, signs, strict=True):
            if sign >= 0:
                one.high = min(one.high, number)
            elif number < one.high:
                one.low = max(one.low, number + 1)
            else:  # a nearer probe of this call flips, and this one does not
                error = values.monotonicity.error_for_values(one.with_value(one.high), one.with_value(number))
                _give_up(values, one, error)


def _give_up(values: ValueSearch, one: _Tightening, error: NotMonotone) -> None:
    """Raise a contradiction; where it is recorded instead, leave the row as it stands."""
    values.monotonicity.raise_or_record(error)
    one.low = one.high
    one.left.clear()


def _begin_next(values: ValueSearch, one: _Tightening) -> bool:
    """Note the value found for a column, and begin the next one; return False when all columns are done."""
    while one.scale is None or one.low >= one.high:
        if one.scale is not None:
            one.cells[one.column] = one.scale.value(one.high)
            one.scale = None
        if not one.left:
            return False
        one.column = one.left.pop(0)
        path = values.costs.paths[one.column]
        one.scale = Scale(path, values.space.reference)
        one.low, one.high = one.scale.first, one.scale.number(one.cells[one.column])
        # The value before on the grid was asked, mostly, and does not flip. So the search begins there.
        at = path.values.index(one.cells[one.column])
        one.first_probe = one.scale.number(path.values[at - 1]) if at else None
    return True


def _probes(one: _Tightening, share: int) -> list[int]:
    probe, one.first_probe = one.first_probe, None
    if probe is not None and one.low <= probe < one.high:
        return [probe]
    return between(one.low, one.high, share)


def _allowed(values: ValueSearch, one: _Tightening, numbers: Sequence[int]) -> list[int]:
    """Return the numbers with the next nearer ones in place of those at which a rule leaves a gap.

    A rule such as `a == 4 implies b == 1` may forbid a single number. That one does not flip says nothing of those
    nearer than it. Where the next nearer one is forbidden, too, all nearer ones are.
    """
    if values.scores.rules is None:
        return list(numbers)
    return sorted({number - _is_gap(values, one, number) for number in numbers})


def _is_gap(values: ValueSearch, one: _Tightening, number: int) -> bool:
    at, nearer = one.with_value(number), one.with_value(number - 1)
    return number > one.low and values.scores.becomes(at) != (at,) and values.scores.becomes(nearer) == (nearer,)


def _result(values: ValueSearch, one: _Tightening, *, alone: bool) -> CheapestRow:
    """Return a row as it was tightened, with its cost."""
    if one.scale is not None:  # the budget ended within a column
        one.cells[one.column] = one.scale.value(one.high)
    row = one.row
    cost = row.cost
    for column, value in row.cells:
        if one.cells[column] != value:
            path = values.costs.paths[column]
            # Both values in one path: a cost of the user's own that falls between them is refused.
            both = replace(path, values=[one.cells[column], value])
            costs = costs_in_units(both, values.costs.costs.cost, values.space.reference, values.costs.costs.unit)
            cost += costs[1] - costs[2]
    is_exact = alone and len(row.cells) == 1 and row.lower == row.cost and not one.left and one.low >= one.high
    return CheapestRow(tuple(one.cells.items()), cost, cost if is_exact else min(row.lower, cost))
