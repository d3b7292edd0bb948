"""What one row may do for one wanted decision: the flips of the search, and the rows they stand for.

A unit is a feature or a group. A unit whose values all follow an order has one option: its best value. Any other has
several: the values it may become. A set of units flips if *some* choice of their options does, where a unit with
several options may also stay. That is monotone by definition, whatever the model does in those features, and it makes
a question a block of rows. Rows are given by the cells in which they differ from the one explained.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, TypeAlias

from flipset.errors import InputError
from flipset.protocol import features_of, flips_of
from flipset.space.feature import is_missing, is_number
from flipset.space.path import Path, find_path
from flipset.space.rounded import held_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Flips
    from flipset.space import Feature, Group, Space
    from flipset.space.feature import Value

Cells: TypeAlias = tuple[tuple[int, Any], ...]
"""Columns with other values than the row explained, in the order of the columns."""


MAX_BLOCK = 4_096
"""Rows that one question may be, where features have several options."""

MOST_BLOCK = 10**15
"""Up to this, the rows that a question would be are counted."""


@dataclass(frozen=True, slots=True)
class Option:
    """One way for a unit to move: cells that become something, and paths along which columns move."""

    cells: Cells = ()
    paths: tuple[tuple[int, Path], ...] = ()

    @property
    def end(self) -> Cells:
        """The cells with every path at its best value."""
        return (*self.cells, *((column, path.values[-1]) for column, path in self.paths))


@dataclass(frozen=True, slots=True)
class Unit:
    """A feature or group that can move. `ordered`: its only option is at least as good as staying."""

    name: str
    columns: tuple[int, ...]
    options: tuple[Option, ...]
    ordered: bool
    weight: float
    end: tuple[int, Any] | None = field(init=False, repr=False, compare=False)
    """Its best cell, where it is one column with an order."""

    def __post_init__(self) -> None:
        ends = self.options[0].end if self.ordered else ()
        object.__setattr__(self, "end", ends[0] if len(ends) == 1 else None)

    @property
    def block(self) -> int:
        """How many ways there are, staying included where it is one."""
        return len(self.options) + (not self.ordered)


@dataclass(frozen=True, slots=True)
class Moves:
    """The units of a row that can move, and the names of those that are held fixed."""

    units: tuple[Unit, ...]
    held_fixed: tuple[str, ...]
    ends: Cells | None = field(init=False, repr=False, compare=False)
    """The best cell of each unit, where every unit is one column with an order; None where some is not."""

    def __post_init__(self) -> None:
        # Where every unit is one column with an order, a question is one row, and its cells are soon listed.
        ends = [unit.end for unit in self.units]
        plain = None not in ends and all(a[0] < b[0] for a, b in pairwise(end for end in ends if end is not None))
        object.__setattr__(self, "ends", tuple(ends) if plain else None)

    def rows(self, flips: Flips) -> list[Cells]:
        """Return the block of rows of a question."""
        if self.ends is not None:
            return [tuple([self.ends[i] for i in features_of(flips)])]
        settled: list[tuple[int, Any]] = []
        open_units: list[list[Cells]] = []
        for i in features_of(flips):
            unit = self.units[i]
            if unit.ordered:
                settled += unit.options[0].end
            else:
                open_units.append([(), *(option.end for option in unit.options)])
        return [in_order(settled, *choice) for choice in product(*open_units)]

    def names(self, flips: Flips) -> tuple[str, ...]:
        """Return the names of the units of a question."""
        return tuple(self.units[i].name for i in features_of(flips))

    def flips(self, names: Sequence[str]) -> Flips:
        """Return the question about the units of these names."""
        numbers = {unit.name: i for i, unit in enumerate(self.units)}
        for name in names:
            if name not in numbers:
                raise InputError(f"{name!r} cannot move on this row; what can is {', '.join(map(repr, numbers))}")
        return flips_of(numbers[name] for name in names)

    def check_block(self, max_block: int) -> None:
        """Refuse spaces in which a question can be too many rows; the error says what makes it so."""
        size = 1
        for unit in self.units:
            size = min(size * unit.block, MOST_BLOCK)
        if size > max_block:
            several = sorted((unit for unit in self.units if unit.block > 1), key=lambda unit: -unit.block)
            shown = ", ".join(f"{unit.name!r} ({unit.block})" for unit in several[:6])
            more = f" and {len(several) - 6} more" if len(several) > 6 else ""
            rows = f"{size:,} rows{' and more' if size == MOST_BLOCK else ''}"
            raise InputError(
                f"one question would be up to {rows}, more than max_block={max_block:,}: every combination of "
                f"the options of {shown}{more}. Fix some of them, allow fewer options, declare an order (ordinal, with "
                "a direction), or raise max_block"
            )


def in_order(*parts: Sequence[tuple[int, Any]]) -> Cells:
    """Join cells in the order of the columns."""
    return tuple(sorted((cell for part in parts for cell in part), key=lambda cell: cell[0]))


Members: TypeAlias = "Sequence[tuple[int, Feature]]"
"""The columns of a unit, each with its feature."""


def find_moves(space: Space, row: Sequence[Value], *, raise_score: bool) -> Moves:
    """Return what may change in a row to raise its score, or to lower it."""
    return MoveFinder(space).moves(row, raise_score=raise_score)


class MoveFinder:
    """Finds what rows may do; what a column may do from one value is found once."""

    def __init__(self, space: Space) -> None:
        self.space = space
        groups = {group.name: group for group in space.groups}
        columns: dict[str, list[tuple[int, Feature]]] = {}  # by feature or group, in the order of the first column
        for column, feature in enumerate(space.features):
            columns.setdefault(feature.group or feature.name, []).append((column, feature))
        self.held: list[str] = []
        self.movable: list[tuple[str, Members, Group | None]] = []
        for name, members in columns.items():
            group = groups.get(name)
            one_hot = group is not None and group.one_hot
            stays = [feature.name for _, feature in members if (feature.fixed if one_hot else _is_held(feature))]
            if len(stays) == len(members):
                self.held.append(name)
            else:
                self.held += stays
                self.movable.append((name, members, group if one_hot else None))
        self._found: dict[tuple[int, type, Value, bool], Unit | None] = {}

    def moves(self, row: Sequence[Value], *, raise_score: bool) -> Moves:
        """Return what may change in a row to raise its score, or to lower it."""
        units: list[Unit] = []
        for name, members, one_hot in self.movable:
            if len(members) > 1 or one_hot is not None:
                unit = self._unit(name, members, one_hot, row, raise_score)
            else:
                column = members[0][0]
                key = column, type(row[column]), row[column], raise_score
                if key not in self._found:
                    if len(self._found) >= KEPT:
                        self._found.clear()
                    self._found[key] = self._unit(name, members, one_hot, row, raise_score)
                unit = self._found[key]
            if unit is not None:
                units.append(unit)
        return Moves(tuple(units), tuple(self.held))

    def _unit(
        self, name: str, members: Members, one_hot: Group | None, row: Sequence[Value], raise_score: bool
    ) -> Unit | None:
        options, ordered = (
            _joint_options(members, row, raise_score, self.space)
            if one_hot is None
            else _one_hot_options(one_hot, members, row, self.space)
        )
        if not options:
            return None
        weight = max(feature.weight for _, feature in members)
        return Unit(name, tuple(column for column, _ in members), tuple(options), ordered, weight)


KEPT = 4_096
"""Values from which it is remembered what a column may do."""


def _joint_options(
    members: Members, row: Sequence[Value], raise_score: bool, space: Space
) -> tuple[list[Option], bool]:
    """Return what a feature, or linked columns that move as one, may do: every combination of what each may."""
    if len(members) == 1:
        ((column, feature),) = members
        return _options(column, feature, row[column], raise_score, space)
    ways: list[list[Option]] = []
    for column, feature in members:
        options, ordered = _options(column, feature, row[column], raise_score, space)
        ways.append(options if ordered else [Option(), *options])
    combined = [_join(combination) for combination in product(*ways)]
    return [option for option in combined if option.cells or option.paths], len(combined) == 1


def _is_held(feature: Feature) -> bool:
    return feature.fixed or not (feature.ordered or feature.options or feature.missing or feature.may_become)


def _options(column: int, feature: Feature, value: Value, raise_score: bool, space: Space) -> tuple[list[Option], bool]:
    """Return what a column may do, and whether the first way is the only one and at least as good as staying."""
    if _is_held(feature):
        return [], False
    others = [code for code in feature.may_become if code != value]
    options: list[Option] = []
    ordered = False
    if feature.ordered:
        path = find_path(feature, value, raise_score=raise_score, reference=space.reference)
        typed = None if path is None else _typed(path, value, space)
        if typed is not None:
            options.append(Option(paths=((column, typed),)))
            ordered = feature.is_ordinary(value)
    else:
        if feature.options and feature.is_ordinary(value) and value not in feature.options:
            raise feature.error(f"the row has {value!r}, which is not among its options {feature.options!r}")
        allowed = [option for option in feature.options if option != value and _within(feature, value, option)]
        others = [*(_as_like(value, option, feature, space) for option in allowed), *others]
    if feature.missing and not is_missing(value):
        others.append(None)
    options += [Option(cells=((column, other),)) for other in others]
    return options, ordered and len(options) == 1


def _within(feature: Feature, value: Value, option: Value) -> bool:
    """Say whether bounds and one-way limits let a column without direction take an option; numbers only have them."""
    if feature.kind == "categorical" or not is_number(option):
        return True
    if (feature.lower is not None and option < feature.lower) or (feature.upper is not None and option > feature.upper):
        return False
    if not is_number(value):
        return True
    return feature.may_rise if option > value else feature.may_fall


def _typed(path: Path, value: Value, space: Space) -> Path | None:
    """Give the values of a path the type that the column has; None where the type holds none of them."""
    if path.feature.kind == "binary":
        values = [_as_like(value, one, path.feature, space) for one in path.values]
        return replace(path, values=values)
    narrow = None if space.reference is None or path.feature.levels else space.reference.float_type(path.feature.name)
    return path if narrow is None else held_by(path, narrow)


def _as_like(value: Value, bit: Value, feature: Feature, space: Space) -> Value:
    """Return a bit as the column has it: True where it holds booleans, 1.0 where it holds floats."""
    if feature.kind != "binary":
        return bit
    if isinstance(value, bool) or (space.reference is not None and space.reference.is_boolean(feature.name)):
        return bool(bit)
    return float(bit) if isinstance(value, float) else int(bit)


def _join(parts: Sequence[Option]) -> Option:
    return Option(
        tuple(cell for part in parts for cell in part.cells), tuple(path for part in parts for path in part.paths)
    )


def _one_hot_options(group: Group, members: Members, row: Sequence[Value], space: Space) -> tuple[list[Option], bool]:
    """Return what one-hot columns may do: any one of them may become the 1, so that there are never two."""
    for column, feature in members:
        if row[column] not in (0, 1):
            raise feature.error(f"a one-hot column is 0 or 1, but the row has {row[column]!r}")
    ones = [(column, feature) for column, feature in members if row[column] == 1]
    if len(ones) > 1:
        names = ", ".join(repr(feature.name) for _, feature in ones)
        raise InputError(f"group {group.name!r} is one-hot, but the row has 1 in {names}")
    if not all(_within(feature, 1, 0) for _, feature in ones):
        return [], False
    leave = [(column, _as_like(row[column], 0, feature, space)) for column, feature in ones]
    options = [
        Option(cells=in_order(leave, [(column, _as_like(row[column], 1, feature, space))]))
        for column, feature in members
        if row[column] == 0 and _within(feature, 0, 1)
    ]
    if ones and group.may_be_empty:
        options.append(Option(cells=in_order(leave)))
    return options, False
