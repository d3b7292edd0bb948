"""The rules that an explanation was made with, as it tells them: enough to apply them again without the space.

With an explanation come the constraints, which of them the row itself breaks, the formulas of computed columns, and for
every column of a constraint where it may stop on its way. `rules_of` makes the constraints of these again, so that the
rows of a proof can be made from a file alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from flipset.space.feature import Feature, is_number, step_of
from flipset.space.multiples import Multiples
from flipset.space.path import Path
from flipset.space.room import decimal
from flipset.space.row_rules import RowConstraint, RowRules
from flipset.space.rules import read_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.space import Space
    from flipset.space.computed_columns import ComputedColumns
    from flipset.space.feature import Value
    from flipset.space.moves import Moves
    from flipset.space.reference import Reference

LISTED = 8
"""Up to this many stops are listed, also where they are multiples of a step."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Stops at equal distances: from the first to the last, each a step after the one before.

    A step that is negative leads downwards. `number_type` is the type of a column of narrow floats, such as "float32".
    """

    first: float
    last: float
    step: float
    number_type: str | None = None

    def values(self) -> Sequence[Value]:
        """Return the stops."""
        step = decimal(abs(self.step))
        start, end = (round(decimal(one) / step) for one in (self.first, self.last))
        dtype = None if self.number_type is None else np.dtype(self.number_type)
        whole = all(isinstance(one, int) for one in (self.first, self.last, self.step))
        length = abs(end - start) + 1
        return Multiples(start, length, step, rising=self.step > 0, whole=whole, dtype=dtype)


Stops: TypeAlias = tuple[Any, ...] | Steps
"""Where a column may stop, nearest first."""


@dataclass(frozen=True, slots=True)
class ToldRules:
    """The rules of an explanation.

    Attributes
    ----------
    constraints
        The constraints, and which of them the row itself breaks: these keep their violation, and may not worsen it.
    derived, follows
        The formulas of computed columns; None for a function.
    codes
        The special codes of columns in constraints: cells that rules do not concern.
    stops
        For each column in a constraint that may move on this row, where it may stop.
    """

    constraints: tuple[RowConstraint, ...] = ()
    derived: Mapping[str, str | None] = field(default_factory=dict)
    follows: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    stops: Mapping[str, Stops] = field(default_factory=dict)

    @property
    def broken(self) -> tuple[str, ...]:
        """The constraints that the row itself breaks."""
        return tuple(one.text for one in self.constraints if one.broken)

    @property
    def computed(self) -> tuple[str, ...]:
        """The names of the computed columns."""
        return (*self.derived, *self.follows)

    @property
    def functions(self) -> tuple[str, ...]:
        """The derived columns that functions compute: nobody can compute them from a file."""
        return tuple(name for name, formula in self.derived.items() if formula is None)


def tell_rules(space: Space, moves: Moves) -> ToldRules | None:
    """Return the rules of a space, for a row with these moves; None where there are none."""
    if space.rules is None:
        return None
    about = {name for one in space.rules.constraints for name in one.columns}
    codes = {one.name: one.special for one in space.features if one.name in about and one.special}
    derived = {name: formula if isinstance(formula, str) else None for name, formula in space.derived.items()}
    paths = {} if moves.rules is None else moves.rules.paths
    stops = {name: _stops(path, space) for name, path in paths.items()}
    told = () if moves.rules is None else moves.rules.told
    return ToldRules(told, derived, dict(space.follows), codes, stops)


def _stops(path: Path, space: Space) -> Stops:
    step = None if path.feature.levels else step_of(path.feature)
    if step is None or len(path.values) <= LISTED:
        return tuple(path.values)
    narrow = None if space.reference is None else space.reference.float_type(path.feature.name)
    first, last = path.values[0], path.values[-1]
    whole = isinstance(first, int)
    signed = (int(step) if whole else step) * (1 if path.rising else -1)
    return Steps(first, last, signed, None if narrow is None else narrow.name)


def rules_of(told: ToldRules, row: Mapping[str, Value]) -> RowRules | None:
    """Return the constraints for the row of an explanation, from what it tells; None where there are none.

    Raises
    ------
    InputError
        A constraint cannot be read, or names a column that the row does not have.
    """
    if not told.constraints:
        return None
    features = _features(told, row)
    rules = read_rules(features, [one.text for one in told.constraints], *_formulas(told), None)
    assert rules is not None, "there are constraints"
    paths = {}
    for i, feature in enumerate(features):
        if feature.name in told.stops:
            given = told.stops[feature.name]
            values = given.values() if isinstance(given, Steps) else list(given)
            paths[i] = Path(feature, row[feature.name], values, _is_rising(row[feature.name], given), "")
    return RowRules(rules, features, list(row.values()), paths)


def computed_of(
    told: ToldRules, row: Mapping[str, Value], reference: Reference | None = None
) -> ComputedColumns | None:
    """Return the computed columns of an explanation that have formulas; None where there are none.

    `reference` is a table with the types in which the columns hold their values, if it is known.
    """
    derived, follows = _formulas(told)
    rules = read_rules(_features(told, row), (), derived, follows, reference)
    return None if rules is None else rules.computed


def _features(told: ToldRules, row: Mapping[str, Value]) -> list[Feature]:
    # Without bounds and directions: what may move, and how far, is said by the stops.
    return [Feature(name, special=told.codes.get(name, ())) for name in row]


def _formulas(told: ToldRules) -> tuple[dict[str, str], Mapping[str, str]]:
    return {name: text for name, text in told.derived.items() if text is not None}, told.follows


def _is_rising(before: Value, stops: Stops) -> bool:
    """Say whether stops rise; labels, which have no order of their own, count as rising."""
    first, last = (stops.first, stops.last) if isinstance(stops, Steps) else (stops[0], stops[-1])
    if not is_number(first):
        return True
    return bool(last > first) if first != last or not is_number(before) else bool(first > before)
