"""What may change in one row for the other decision: the flips of the search, and the rows they stand for.

A unit is a feature or a group that can move. A unit that follows an order has one option: to move to its best allowed
value. Any other unit has several options: the values it may take. A set of units flips if *some* combination of their
options flips, where a unit with several options may also stay. This is monotone by definition, whatever the model does
in those features. The price is that asking about one set may take a block of several queries.

Rows are given by the cells in which they differ from the row explained.

Constraints between columns may not allow all units of a set at their best values together. Then a set stands for the
highest rows that are allowed (`flipset.space.row_rules`). This is monotone, too: with more units, one gets at least as
far.

Invariants: an ordered unit is never worse at its best value than where it is. A feature that is already at its best
value is no unit: it belongs to no minimal flip set.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, TypeAlias

from flipset.errors import InputError
from flipset.protocol import features_of, flips_of
from flipset.space.held import Why, is_held_fixed, why_held, why_hot_held
from flipset.space.identity import cell_key
from flipset.space.row_rules import RowRules
from flipset.space.unit_options import MOST_BLOCK, Members, Option, in_order, joint_options, one_hot_options, own_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Flips
    from flipset.space import Feature, Group, Space
    from flipset.space.cells import Cells
    from flipset.space.feature import Value


@dataclass(frozen=True, slots=True)
class Unit:
    """A feature or group that can move.

    Attributes
    ----------
    name
        The name of the feature or group.
    columns
        Its columns.
    options
        The ways in which it can move.
    ordered
        Whether it has one option, which is at least as good as staying.
    weight
        How much a change of it counts.
    end
        The cell at its best allowed value, if the unit is one ordered column; otherwise None.
    key
        What the unit is but for its paths: equal for units with the same values of the same types at their ends.
    """

    name: str
    columns: tuple[int, ...]
    options: tuple[Option, ...]
    ordered: bool
    weight: float
    end: tuple[int, Any] | None = field(init=False, repr=False, compare=False)
    key: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ends = self.options[0].end if self.ordered else ()
        object.__setattr__(self, "end", ends[0] if len(ends) == 1 else None)
        about = self.name, self.columns, self.ordered, type(self.weight), self.weight
        cells = [tuple((column, cell_key(value)) for column, value in option.end) for option in self.options]
        object.__setattr__(self, "key", (*about, *cells))

    @property
    def block(self) -> int:
        """How many choices the unit has: its options, and staying, unless it is ordered."""
        return len(self.options) + (not self.ordered)


@dataclass(frozen=True, slots=True)
class Moves:
    """What may change in a row.

    Attributes
    ----------
    units
        The features and groups that can move.
    held_fixed
        The names of those that are held fixed.
    held_because
        Why some of them are held fixed in this row alone, by name; `Why` has the reasons.
    rules
        The constraints between columns, for this row; None where no column of a constraint can move.
    best_cells
        For each unit the cell at its best allowed value, if every unit is one ordered column, and the columns come in
        order; otherwise None.
    ends
        The same where there are no constraints; otherwise None. A set of units is then a selection of these cells.
    """

    units: tuple[Unit, ...]
    held_fixed: tuple[str, ...]
    held_because: tuple[tuple[str, str], ...] = ()
    rules: RowRules | None = field(default=None, repr=False, compare=False)
    best_cells: Cells | None = field(init=False, repr=False, compare=False)
    ends: Cells | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ends = tuple([unit.end for unit in self.units if unit.end is not None])
        plain = len(ends) == len(self.units) and all(a[0] < b[0] for a, b in pairwise(ends))
        object.__setattr__(self, "best_cells", ends if plain else None)
        # Most searches run in this case, in which every set of units is a single query.
        object.__setattr__(self, "ends", self.best_cells if self.rules is None else None)

    def rows(self, flips: Flips) -> list[Cells]:
        """Return the block of rows for a set of units: what each combination of their options becomes."""
        if self.rules is None:
            return self.choices(flips)
        # Several combinations may become the same row.
        return list(dict.fromkeys(cells for choice in self.choices(flips) for cells in self.rules.rows(choice)))

    def choices(self, flips: Flips) -> list[Cells]:
        """Return the cells of each combination of the options of some units, whatever constraints say."""
        if self.best_cells is not None:
            return [tuple([self.best_cells[i] for i in features_of(flips)])]
        ordered: list[tuple[int, Any]] = []
        others: list[list[Cells]] = []
        for i in features_of(flips):
            unit = self.units[i]
            # An ordered unit moves to its best value in every row of the block: staying is never better.
            if unit.ordered:
                ordered += unit.options[0].end
            else:
                others.append([(), *(option.end for option in unit.options)])
        return [in_order(ordered, *choice) for choice in product(*others)]

    def names(self, flips: Flips) -> tuple[str, ...]:
        """Return the names of a set of units."""
        return tuple([self.units[i].name for i in features_of(flips)])

    def flips(self, names: Sequence[str]) -> Flips:
        """Return the set of the units with these names."""
        numbers = {unit.name: i for i, unit in enumerate(self.units)}
        for name in names:
            if name not in numbers:
                raise InputError(f"{name!r} cannot move on this row; what can is {', '.join(map(repr, numbers))}")
        return flips_of(numbers[name] for name in names)

    def check_block(self, max_block: int) -> None:
        """Refuse a row for which the largest block has too many queries; the error names the units that make it so."""
        # The largest block is that of all units, which every search asks about.
        size = 1
        for unit in self.units:
            # Cut off at every step: with hundreds of units the product would be a number of hundreds of digits.
            size = min(size * unit.block, MOST_BLOCK)
        if size <= max_block and self.rules is not None:
            size = len(self.rows((1 << len(self.units)) - 1))
            if size > max_block:
                columns = ", ".join(map(repr, self.rules.paths))
                raise InputError(
                    f"the constraints between {columns} make one set of features take {size:,} queries, more than "
                    f"max_block={max_block:,}: several of these columns get better in opposite directions of one "
                    "rule. Give them larger steps or narrower bounds, hold some fixed, or raise max_block"
                )
        if size > max_block:
            several = sorted((unit for unit in self.units if unit.block > 1), key=lambda unit: -unit.block)
            listed = ", ".join(f"{unit.name!r} ({unit.block})" for unit in several[:6])
            more = f" and {len(several) - 6} more" if len(several) > 6 else ""
            queries = f"{size:,} queries{' and more' if size == MOST_BLOCK else ''}"
            raise InputError(
                f"one set of features would take up to {queries}, more than max_block={max_block:,}: every combination "
                f"of the options of {listed}{more}. Fix some of them, allow fewer options, declare an order (ordinal, "
                "with a direction), or raise max_block"
            )


Held: TypeAlias = "Sequence[tuple[str, Why]]"
"""Columns and groups that are held fixed in one row, with the reason."""


def find_moves(space: Space, row: Sequence[Value], *, raise_score: bool) -> Moves:
    """Return what may change in a row to raise its score, or to lower it."""
    return MoveFinder(space).moves(row, raise_score=raise_score)


class MoveFinder:
    """Finds what may change in the rows of a table.

    What a single column may do depends on its value alone, and on the row's own bounds where it has some. So the unit
    of a column is kept for the next row with the same values.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        groups = {group.name: group for group in space.groups}
        columns: dict[str, list[tuple[int, Feature]]] = {}  # by unit, in the order of the first column of each
        for column, feature in enumerate(space.features):
            columns.setdefault(feature.group or feature.name, []).append((column, feature))
        computed = () if space.computed is None else space.computed.names
        self.held: list[str] = []
        self.movable: list[tuple[str, Members, Group | None]] = []
        for name, members in columns.items():
            if name in computed:  # neither moves by itself nor is held fixed
                continue
            group = groups.get(name)
            one_hot = group is not None and group.one_hot
            # One-hot columns have neither direction nor options of their own: the group is what gives them a choice.
            fixed = [feature.name for _, feature in members if (feature.fixed if one_hot else is_held_fixed(feature))]
            if len(fixed) == len(members):
                self.held.append(name)
            else:
                self.held += fixed
                self.movable.append((name, members, group if one_hot else None))
        self._found: dict[tuple[Any, ...], tuple[Unit | None, Held]] = {}

    def moves(self, row: Sequence[Value], *, raise_score: bool) -> Moves:
        """Return what may change in a row to raise its score, or to lower it."""
        units: list[Unit] = []
        held: list[tuple[str, Why]] = []
        stuck = frozenset() if self.space.computed is None else self.space.computed.stuck(row)
        for name, members, one_hot in self.movable:
            if len(members) > 1 or one_hot is not None:
                unit, because = self._find(name, members, one_hot, row, raise_score)
            else:
                key = _key(*members[0], row, raise_score)
                if key not in self._found:
                    if len(self._found) >= KEPT:
                        self._found.clear()
                    self._found[key] = self._find(name, members, one_hot, row, raise_score)
                unit, because = self._found[key]
            if unit is not None and stuck and not stuck.isdisjoint(feature.name for _, feature in members):
                held.append((name, "missing input"))
                continue
            if unit is not None:
                units.append(unit)
            held += because
        names = (*self.held, *(name for name, _ in held)) if held else tuple(self.held)
        return Moves(tuple(units), names, tuple(held), self._rules(row, units))

    def _rules(self, row: Sequence[Value], units: Sequence[Unit]) -> RowRules | None:
        """Return the constraints for a row; None where they leave everything as it is."""
        if self.space.rules is None or not self.space.rules.constraints:
            return None
        paths = {column: path for unit in units for option in unit.options for column, path in option.paths}
        return RowRules(self.space.rules, self.space.features, row, paths)

    def _find(
        self, name: str, members: Members, one_hot: Group | None, row: Sequence[Value], raise_score: bool
    ) -> tuple[Unit | None, Held]:
        """Return the unit of some columns, None if they cannot move, and what is held fixed at the row's values."""
        if one_hot is not None:
            found = [(name, why_hot_held([row[column] for column, _ in members]))]
        else:
            found = [(one.name, why_held(one, row[i])) for i, one in members if not is_held_fixed(one)]
        held = [(column, why) for column, why in found if why is not None]
        if one_hot is not None and held:
            return None, held
        return self._make_unit(name, members, one_hot, row, raise_score), held

    def _make_unit(
        self, name: str, members: Members, one_hot: Group | None, row: Sequence[Value], raise_score: bool
    ) -> Unit | None:
        options, ordered = (
            joint_options(members, row, raise_score, self.space)
            if one_hot is None
            else one_hot_options(one_hot, members, row, self.space)
        )
        if not options:
            return None
        weight = max(feature.weight for _, feature in members)  # a group counts once, like its heaviest column
        return Unit(name, tuple(column for column, _ in members), tuple(options), ordered, weight)


def _key(column: int, feature: Feature, row: Sequence[Value], raise_score: bool) -> tuple[Any, ...]:
    """Return what the moves of a single column depend on."""
    # The type is part of the key because 1, 1.0 and True are equal, and lead to values of other types.
    key = column, type(row[column]), row[column], raise_score
    if feature.lower_from is None and feature.upper_from is None:
        return key
    bounds = own_bounds(row)
    return (*key, *(cell_key(bounds.get(name or "")) for name in (feature.lower_from, feature.upper_from)))


KEPT = 4_096
"""How many units of single columns are kept."""
