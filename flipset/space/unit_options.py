"""What one unit may become in a row: the options of a feature, of linked columns, and of one-hot columns.

Invariant: an option changes at least one column, and leads along a path or to a set value in each that it changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from flipset.boundary.limits import MOST_OPTIONS
from flipset.errors import InputError
from flipset.space.feature import is_missing
from flipset.space.held import is_held_fixed, why_held
from flipset.space.path import Path, find_path
from flipset.space.row_limits import has_limits, is_within, narrowed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.space import Feature, Group, Space
    from flipset.space.cells import Cells
    from flipset.space.feature import Value

MOST_BLOCK = 10**15
"""The size up to which a block is counted; a larger one is reported as this "and more"."""

Members: TypeAlias = "Sequence[tuple[int, Feature]]"
"""The columns of a unit, each with its feature."""


@dataclass(frozen=True, slots=True)
class Option:
    """One way for a unit to move: cells that take a value, and paths along which columns move."""

    cells: Cells = ()
    paths: tuple[tuple[int, Path], ...] = ()

    @property
    def end(self) -> Cells:
        """The cells of the option, with every path at its best allowed value."""
        return (*self.cells, *((column, path.values[-1]) for column, path in self.paths))


def in_order(*parts: Sequence[tuple[int, Any]]) -> Cells:
    """Join cells in the order of the columns."""
    return tuple(sorted((cell for part in parts for cell in part), key=lambda cell: cell[0]))


def own_bounds(row: Sequence[Value]) -> Mapping[str, Value]:
    """Return the bounds that columns of the table give for a row."""
    found: Mapping[str, Value] = getattr(row, "own_bounds", {})
    return found


def joint_options(members: Members, row: Sequence[Value], raise_score: bool, space: Space) -> tuple[list[Option], bool]:
    """Return the options of a feature, or of linked columns, which have every combination of their options.

    The second result says whether the unit is ordered.
    """
    if len(members) == 1:
        ((column, feature),) = members
        return _options(column, feature, row, raise_score, space)
    options_of: list[list[Option]] = []
    for column, feature in members:
        options, ordered = _options(column, feature, row, raise_score, space)
        options_of.append(options if ordered else [Option(), *options])
    count = prod(map(len, options_of))
    if count > MOST_OPTIONS:
        names = ", ".join(repr(feature.name) for _, feature in members[:6])
        raise InputError(
            f"group {members[0][1].group!r} has {min(count, MOST_BLOCK):,} combinations of the options of {names}, and "
            f"may have {MOST_OPTIONS:,}: allow fewer options, or leave columns out of the group"
        )
    combined = [_join(combination) for combination in product(*options_of)]
    # The combination in which every column stays is not a way to move.
    return [option for option in combined if option.cells or option.paths], len(combined) == 1


def _options(
    column: int, feature: Feature, row: Sequence[Value], raise_score: bool, space: Space
) -> tuple[list[Option], bool]:
    """Return the options of a column, and whether it is ordered: it has one option, at least as good as staying."""
    value = row[column]
    if is_held_fixed(feature) or why_held(feature, value) is not None:
        return [], False
    # Becoming what it is already is no change.
    others = [code for code in feature.may_become if code != value]
    # Special codes and missing values are outside the order: each of them is an option of its own.
    options: list[Option] = []
    ordered = False
    allowed = narrowed(feature, value, own_bounds(row)) if has_limits(feature) else feature
    if feature.ordered:
        path = None if allowed is None else _path(feature, allowed, value, raise_score, space)
        if path is not None:
            options.append(Option(paths=((column, path),)))
            # From a missing value or a special code, the best value need not be better: nothing is known about them.
            ordered = feature.is_ordinary(value)
    elif allowed is not None:
        # A value that is not among the options may stay, as a number beyond its bounds may.
        within = [option for option in feature.options if option != value and is_within(allowed, value, option)]
        others = [*(_as_like(value, option, feature, space) for option in within), *others]
    if feature.may_go_missing and not is_missing(value):
        others.append(None)
    options += [Option(cells=((column, other),)) for other in others]
    return options, ordered and len(options) == 1


def _path(feature: Feature, allowed: Feature, value: Value, raise_score: bool, space: Space) -> Path | None:
    """Return the path of a feature within the bounds that are allowed for the row; None if it cannot move."""
    path = find_path(allowed, value, raise_score=raise_score, reference=space.reference)
    # Costs are shares of the feature's own range: limits for a row do not make its changes dearer.
    path = path if path is None or allowed is feature else replace(path, feature=feature)
    return None if path is None else _typed(path, value, space)


def _typed(path: Path, value: Value, space: Space) -> Path:
    """Return a path with 0 and 1 in the column's own type."""
    if path.feature.kind != "binary":
        return path
    return replace(path, values=[_as_like(value, one, path.feature, space) for one in path.values])


def _as_like(value: Value, bit: Value, feature: Feature, space: Space) -> Value:
    """Return 0 or 1 in the column's own type: as a boolean, a float or an integer."""
    if feature.kind != "binary":
        return bit
    if isinstance(value, bool) or (space.reference is not None and space.reference.is_boolean(feature.name)):
        return bool(bit)
    return float(bit) if isinstance(value, float) else int(bit)


def _join(parts: Sequence[Option]) -> Option:
    return Option(
        tuple(cell for part in parts for cell in part.cells), tuple(path for part in parts for path in part.paths)
    )


def one_hot_options(group: Group, members: Members, row: Sequence[Value], space: Space) -> tuple[list[Option], bool]:
    """Return the options of one-hot columns: each of them may become the 1, and the present 1 becomes 0."""
    # Rows in which a cell is neither 0 nor 1, or in which several are 1, do not get here: they are held fixed.
    ones = [(column, feature) for column, feature in members if row[column] == 1]
    # If the present 1 may not fall, no other column may become the 1.
    if not all(is_within(feature, 1, 0) for _, feature in ones):
        return [], False
    leave = [(column, _as_like(row[column], 0, feature, space)) for column, feature in ones]
    options = [
        Option(cells=in_order(leave, [(column, _as_like(row[column], 1, feature, space))]))
        for column, feature in members
        if row[column] == 0 and is_within(feature, 0, 1)
    ]
    if ones and group.may_be_empty:
        options.append(Option(cells=in_order(leave)))
    return options, False
