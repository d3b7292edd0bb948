"""The rules of explanations read from JSON. Whether they can be applied is checked with the explanation."""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING, get_args

from flipset.boundary.limits import MOST_COLUMNS, MOST_OPTIONS
from flipset.boundary.reading import Field, shown
from flipset.errors import InputError
from flipset.results.cells_from_json import if_there, optional, read_value
from flipset.space.feature import is_number
from flipset.space.files import MOST_RULES
from flipset.space.multiples import MOST_STEPS
from flipset.space.row_rules import RowConstraint
from flipset.space.told_rules import Steps, ToldRules
from flipset.space.words import NumberType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.space.feature import Value
    from flipset.space.told_rules import Stops


def read_rules(field: Field, row: Mapping[str, Value]) -> ToldRules:
    """Read the rules of an explanation; whether they can be applied is checked with the explanation."""
    parts = field.members(("constraints", "derived", "follows", "codes", "stops"))
    told = ToldRules(
        constraints=tuple(_read_constraint(one) for one in parts["constraints"].items(MOST_RULES)),
        derived={intern(name): optional(one, Field.text) for name, one in parts["derived"].entries(MOST_RULES).items()},
        follows={intern(name): one.text() for name, one in parts["follows"].entries(MOST_RULES).items()},
        codes={
            intern(name): tuple(map(read_value, one.items(MOST_OPTIONS)))
            for name, one in parts["codes"].entries(MOST_COLUMNS).items()
        },
        stops={intern(name): _read_stops(one) for name, one in parts["stops"].entries(MOST_COLUMNS).items()},
    )
    for part in ("derived", "follows", "codes", "stops"):
        if strange := [name for name in getattr(told, part) if name not in row]:
            raise InputError(f"{field.path}.{part} has {shown(strange[0])}, which is not a column of the row")
    return told


def _read_constraint(field: Field) -> RowConstraint:
    data = field.members(("text", "broken"))
    return RowConstraint(data["text"].text(), data["broken"].flag())


def _read_stops(field: Field) -> Stops:
    if isinstance(field.value, dict):
        data = field.members(("first", "last", "step"), ("number_type",))
        first, last, step = (data[name].number() for name in ("first", "last", "step"))
        if step == 0 or (last - first) * step < 0 or abs((last - first) / step) > MOST_STEPS:
            field.refuse("steps that lead from first to last")
        narrow = if_there(data.get("number_type"), lambda part: intern(part.one_of(*get_args(NumberType))))
        return Steps(first, last, step, narrow)
    stops = tuple(map(read_value, field.items(MOST_OPTIONS)))
    numbers = [value for value in stops if is_number(value)]
    in_order = numbers in (sorted(numbers), sorted(numbers, reverse=True))
    if not stops or len(set(map(repr, stops))) < len(stops) or len(numbers) not in (0, len(stops)) or not in_order:
        field.refuse("a list of different values, in order")
    return stops
