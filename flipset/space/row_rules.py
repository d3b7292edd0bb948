"""What a row becomes before the model sees it: the rules of a space, for one row.

A search asks about cells: "the row with these values". Where there are constraints, the model is asked about the
highest allowed rows at or below that (`flipset.space.constraints.projection`). With rules that have one way to give
way, this is one row; otherwise there are several, and the answer is the best one among theirs.

Invariants:

- A rule concerns a row only where all of its columns have values of their order: not missing, and no special code.
- A row that breaks a rule keeps its own violation: the limit is moved to where the row stands. So the row itself is
  always allowed.
- What becomes of allowed cells is themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.space.constraints.conditions import Implication, Together
from flipset.space.constraints.inequalities import Inequality
from flipset.space.constraints.projection import (
    MOST_POINTS,
    Scale,
    Setting,
    TooManyPoints,
    highest_points,
    most_ways,
)
from flipset.space.feature import is_missing, is_number
from flipset.space.room import exact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from flipset.space.cells import Cells
    from flipset.space.constraints.constraint import Rule
    from flipset.space.constraints.inequalities import Exact
    from flipset.space.feature import Feature, Value
    from flipset.space.path import Path
    from flipset.space.rules import SpaceRules

KEPT = 65_536
"""How many results are kept for one row."""


@dataclass(frozen=True, slots=True)
class RowConstraint:
    """A constraint as it is told with an answer: its text, and whether the row itself breaks it."""

    text: str
    broken: bool


class RowRules:
    """The constraints of a space, for one row.

    Attributes
    ----------
    told
        All constraints of the space, and whether the row breaks them.
    paths
        The paths of the columns that some constraint names, by name.
    gives_one_row
        Whether every rule has at most one way to give way: then what becomes of any cells is one row, or none.
    """

    def __init__(
        self, rules: SpaceRules, features: Sequence[Feature], row: Sequence[Value], paths: Mapping[int, Path]
    ) -> None:
        place = {feature.name: i for i, feature in enumerate(features)}
        about = _AboutRow({feature.name: feature for feature in features}, dict(zip(place, row, strict=True)))
        self.told = tuple(RowConstraint(one.text, any(map(about.breaks, one.rules))) for one in rules.constraints)
        named = {name for one in rules.constraints for name in one.columns}
        self.paths = {one.name: paths[i] for i, one in enumerate(features) if i in paths and one.name in named}
        self._components: list[_Component] = []
        kept = [(rule, kept) for one in rules.constraints for rule in one.rules if (kept := about.kept(rule))]
        for names in rules.components:
            own = [relaxed for rule, relaxed in kept if names.issuperset(rule.columns)]
            scales = {
                name: Scale(path.before, path.values, path.rising, int(not path.feature.is_ordinary(path.before)))
                for name in sorted(names, key=place.__getitem__)
                if (path := paths.get(place[name])) is not None
            }
            # Also without scales: columns that take options, such as categories, have rules to keep.
            if own:
                self._components.append(_Component(own, scales, place, about))
        self._component_of = {i: number for number, one in enumerate(self._components) for i in one.columns}
        self.columns = frozenset(self._component_of)
        self.gives_one_row = all(one.gives_one_row for one in self._components)
        self._kept: dict[Cells, tuple[Cells, ...]] = {}

    def rows(self, cells: Cells) -> tuple[Cells, ...]:
        """Return the highest allowed rows at or below a row, as cells; none if nothing of it is allowed."""
        # Searches ask about the same cells again and again: to query them, to read the answer, to report it.
        if cells not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[cells] = self._rows(cells)
        return self._kept[cells]

    def _rows(self, cells: Cells) -> tuple[Cells, ...]:
        # Components of which no column is among the cells stay as they are, which is allowed.
        own: dict[int, list[tuple[int, Any]]] = {}
        for cell in cells:
            number = self._component_of.get(cell[0])
            if number is not None:
                own.setdefault(number, []).append(cell)
        if not own:
            return (cells,)
        parts = [self._components[number].rows(tuple(own[number])) for number in sorted(own)]
        if all(len(part) == 1 for part in parts):
            changed = dict(cell for part in parts for cell in part[0])
            if all(column not in self.columns or changed.get(column) is value for column, value in cells):
                return (cells,)
        others = [cell for cell in cells if cell[0] not in self.columns]
        return tuple(
            tuple(sorted((*others, *(cell for part in choice for cell in part)), key=_column))
            for choice in product(*parts)
        )


def _column(cell: tuple[int, Any]) -> int:
    return cell[0]


@dataclass(frozen=True, slots=True)
class _AboutRow:
    """What the rules say about the row itself."""

    features: Mapping[str, Feature]
    row: Mapping[str, Value]

    def is_ordinary(self, name: str, value: Value) -> bool:
        """Say whether a value of a column is one that rules speak of: not missing, and no special code."""
        return not is_missing(value) and value not in self.features[name].special

    def is_code(self, name: str, value: Value) -> bool:
        """Say whether a value of a column is a special code that is a number."""
        return value in self.features[name].special and is_number(value)

    def numbers(self, names: Sequence[str], rule: Inequality) -> dict[str, Any] | None:
        """Return the row's values as exact numbers; None if a rule does not concern some of them."""
        values = {name: self.row[name] for name in names}
        for name, value in values.items():
            if not is_number(value) or not (name in rule.through or self.is_ordinary(name, value)):
                return None
        return {name: exact(value) for name, value in values.items()}

    def breaks(self, rule: Rule) -> bool:
        """Say whether the row itself breaks a rule."""
        match rule:
            case Inequality():
                rule = self._computable(rule)
                values = self.numbers(rule.columns, rule)
                if values is None:
                    return False
                return not rule.allows(rule.total(values) + sum(factor * values[name] for name, factor in rule.before))
            case Implication():
                if not all(self.is_ordinary(name, self.row[name]) for name in rule.columns):
                    return False
                return rule.if_.holds(self.row[rule.if_.column]) and not rule.then.holds(self.row[rule.then.column])
            case Together():
                return False

    def kept(self, rule: Rule) -> Rule | None:
        """Return the rule that is kept for this row, with a limit that the row keeps; None if there is none."""
        if not isinstance(rule, Inequality):
            return None if self.breaks(rule) else rule
        rule = self._computable(rule)
        if not rule.terms:
            return None
        before = self.numbers([name for name, _ in rule.before], rule)
        if before:
            limit = rule.limit - sum(factor * before[name] for name, factor in rule.before)
            rule = replace(rule, limit=limit, before=())
        values = self.numbers([name for name, _ in rule.terms], rule)
        if values is None or rule.allows(total := rule.total(values)):
            return rule
        return replace(rule, limit=total, strict=False)

    def _computable(self, rule: Inequality) -> Inequality:
        """Return the rule as it was written where a value that its formulas need of the row is missing."""
        is_known = self.numbers([name for name, _ in rule.before], rule) is not None
        return rule if is_known or rule.written is None else rule.written


@dataclass(slots=True)
class _Component:
    """Rules that share columns, for one row."""

    rules: list[Rule]
    scales: dict[str, Scale]
    place: Mapping[str, int]
    about: _AboutRow
    names: dict[int, str] = field(init=False)
    columns: frozenset[int] = field(init=False)
    own: dict[str, Value] = field(init=False)  # the values of the row itself that rules speak of
    codes: dict[str, Value] = field(init=False)  # its special codes
    _kept: dict[Cells, tuple[Cells, ...]] = field(default_factory=dict)
    _numbers: dict[Any, Exact | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = {self.place[name]: name for rule in self.rules for name in (*rule.columns, *self.scales)}
        self.columns = frozenset(self.names)
        row = self.about.row
        self.own = {name: row[name] for name in self.names.values() if self._is_ordinary(name, row[name])}
        self.codes = {name: row[name] for name in self.names.values() if self.about.is_code(name, row[name])}

    @property
    def gives_one_row(self) -> bool:
        """Whether there is at most one way to keep each rule, whatever moves."""
        return all(most_ways(rule, self.scales) <= 1 for rule in self.rules)

    def rows(self, cells: Cells) -> tuple[Cells, ...]:
        """Return the highest allowed cells at or below some cells of these columns."""
        if cells not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[cells] = self._rows(cells)
        return self._kept[cells]

    def _rows(self, cells: Cells) -> tuple[Cells, ...]:
        # Most cells that are asked about are allowed. To see that, no scales are needed.
        if self._are_allowed(cells):
            return (cells,)
        start: dict[str, int] = {}
        held: dict[int, Any] = {}
        between = False
        for column, value in cells:
            name = self.names[column]
            scale = self.scales.get(name)
            place = None if scale is None or not self._is_ordinary(name, value) else scale.place(value)
            if place is not None:
                start[name] = place
            else:
                held[column] = value
                # A number between two stops is not lowered: it is allowed as it is, or, as here, it is not.
                between |= scale is not None and self._is_ordinary(name, value)
        setting = self._setting(start, held)
        if between:
            return ()
        try:
            points = highest_points(self.rules, setting, start)
        except TooManyPoints:
            names = ", ".join(map(repr, self.scales))
            raise InputError(
                f"the constraints between {names} leave more than {MOST_POINTS:,} combinations to look at: several of "
                "these columns get better in opposite directions of one rule. Give them larger steps or narrower "
                "bounds, or hold some fixed"
            ) from None
        return tuple(self._cells(point, held) for point in points)

    def _are_allowed(self, cells: Cells) -> bool:
        """Say whether a row with these cells keeps all rules that concern it."""
        values = dict(self.own)
        moved = set()
        for column, value in cells:
            name = self.names[column]
            moved.add(name)
            if self._is_ordinary(name, value):
                values[name] = value
            else:
                values.pop(name, None)
        return all(self._is_kept(rule, values, moved) for rule in self.rules)

    def _is_kept(self, rule: Rule, values: Mapping[str, Value], moved: AbstractSet[str]) -> bool:
        if isinstance(rule, Inequality):
            total: Exact = 0
            for name, factor in rule.terms:
                number = self._number(values.get(name))
                if number is None:
                    return True  # it says nothing about this row
                total += factor * number
            return rule.allows(total)
        if isinstance(rule, Implication):
            one, other = rule.if_.column, rule.then.column
            concerns = one in values and other in values
            return not concerns or not rule.if_.holds(values[one]) or rule.then.holds(values[other])
        return rule.mover not in moved or rule.needs in moved

    def _number(self, value: Any) -> Exact | None:
        if value not in self._numbers:
            self._numbers[value] = exact(value) if is_number(value) else None
        return self._numbers[value]

    def _is_ordinary(self, name: str, value: Value) -> bool:
        return self.about.is_ordinary(name, value)

    def _setting(self, start: Mapping[str, int], held: Mapping[int, Value]) -> Setting:
        values = {name: value for name, value in self.own.items() if name not in start}
        codes = dict(self.codes)
        for column, value in held.items():
            name = self.names[column]
            values.pop(name, None)
            codes.pop(name, None)
            if self._is_ordinary(name, value):
                values[name] = value
            elif self.about.is_code(name, value):
                codes[name] = value
        changed = frozenset(self.names[column] for column in held)
        return Setting({name: self.scales[name] for name in start}, values, changed, codes)

    def _cells(self, point: Mapping[str, int], held: Mapping[int, Value]) -> Cells:
        moved = [(self.place[name], self.scales[name].value(place)) for name, place in point.items() if place]
        return tuple(sorted((*held.items(), *moved), key=_column))
