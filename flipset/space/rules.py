"""The rules of a space: constraints between columns, and columns that are computed from others.

They say what a row becomes before the model sees it. `read_rules` checks them against the features once; what they mean
for one row is in `flipset.space.row_rules`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

from flipset.boundary.reading import shown
from flipset.errors import InputError
from flipset.space.computed_columns import ComputedColumns, linear_sums, read_computed
from flipset.space.constraints.conditions import Implication
from flipset.space.constraints.constraint import Constraint, read_constraint
from flipset.space.constraints.inequalities import Inequality, substituted
from flipset.space.feature import is_number
from flipset.space.held import is_held_fixed
from flipset.space.room import exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flipset.space.computed_columns import Function
    from flipset.space.constraints.conditions import Condition
    from flipset.space.constraints.inequalities import Sum
    from flipset.space.feature import Feature
    from flipset.space.reference import Reference


@dataclass(frozen=True, slots=True)
class SpaceRules:
    """The rules of a space.

    Attributes
    ----------
    constraints
        The constraints, with computed columns replaced by what they are computed from.
    components
        The columns of the constraints, by name: columns that some constraint has in common are together.
    parts
        The same, with the columns of formulas: columns that some constraint or formula has in common are together.
    computed
        The computed columns; None where there are none.
    """

    constraints: tuple[Constraint, ...]
    components: tuple[frozenset[str], ...] = field(compare=False, repr=False)
    parts: tuple[frozenset[str], ...] = field(compare=False, repr=False)
    computed: ComputedColumns | None


def read_rules(
    features: Sequence[Feature],
    constraints: Iterable[str],
    derived: Mapping[str, str | Function],
    follows: Mapping[str, str],
    reference: Reference | None,
) -> SpaceRules | None:
    """Read the rules of a space, and check them against its features; None where there are none."""
    if isinstance(constraints, str) or not hasattr(constraints, "__iter__"):
        raise InputError(f'constraints must be a list of texts, such as ["a <= b"], got {shown(constraints)}')
    given = list(constraints)
    names = [feature.name for feature in features]
    by_name = {feature.name: feature for feature in features}

    # Not a closure: spaces are sent to other processes.
    computed = read_computed(derived, follows, names, partial(_as_held, tuple(names), reference))
    if computed is not None:
        _check_computed(computed, by_name)
    if not given and computed is None:
        return None
    sums = {} if computed is None else linear_sums(computed)
    read = [read_constraint(text) for text in given]
    for one in read:
        _check_names(one, by_name)
    moving = [_without_computed(one, computed, sums) for one in read]
    for one in moving:
        _check(one, by_name)
    of_constraints = [set(one.columns) for one in moving]
    of_formulas = [] if computed is None else [{one.name, *one.inputs} for one in computed.columns]
    return SpaceRules(tuple(moving), _joined(of_constraints), _joined([*of_constraints, *of_formulas]), computed)


def _as_held(names: Sequence[str], reference: Reference | None, place: int, value: float) -> float:
    """Return a computed value as the type of its column holds it."""
    name = names[place]
    if reference is None:
        return value
    if reference.holds_whole(name):
        if value != int(value):
            raise InputError(f"the column {name!r} holds whole numbers, and its formula gives {value!r}")
        return int(value)
    narrow = reference.float_type(name)
    return value if narrow is None else float(narrow.type(value))


def _check_names(one: Constraint, features: Mapping[str, Feature]) -> None:
    for name in one.columns:
        if name not in features:
            near = get_close_matches(name, features, 1)
            hint = (
                f"did you mean {near[0]!r}?" if near else f"the columns are {', '.join(map(repr, list(features)[:12]))}"
            )
            raise InputError(f"the constraint {one.text!r}: there is no column {name!r}; {hint}")


def _check_computed(computed: ComputedColumns, features: Mapping[str, Feature]) -> None:
    for one in computed.columns:
        feature = features[one.name]
        if not is_held_fixed(feature) or feature.group is not None:
            raise InputError(
                f"{one.what} cannot move by itself: leave out its direction, its options and its group, or hold it "
                "fixed. Directions are for the columns that it is computed from"
            )
        for name in one.inputs if one.text else ():
            _check_number(features[name], one.what)


def _check_number(feature: Feature, what: str) -> None:
    """Refuse a column whose values are no numbers."""
    labels = [level for level in feature.levels or feature.options if not is_number(level)]
    if feature.kind == "categorical" or labels:
        kind = "categorical" if feature.kind == "categorical" else f"ordered labels, such as {labels[0]!r}"
        raise InputError(
            f"{what} computes with the column {feature.name!r}, which is {kind}; use columns of numbers, or a rule "
            f'such as "{feature.name} == {_example(feature)} implies ..."'
        )


def _example(feature: Feature) -> str:
    values = feature.levels or feature.options
    return repr(values[0]) if values else "'...'"


def _without_computed(one: Constraint, computed: ComputedColumns | None, sums: Mapping[str, Sum]) -> Constraint:
    """Return a constraint about the columns that can move; a computed column is replaced by its sum."""
    found = [name for name in one.columns if computed is not None and name in computed.names]
    if not found:
        return one
    rules: list[Any] = []
    for rule in one.rules:
        others = [name for name in rule.columns if name in found and name not in sums]
        if not isinstance(rule, Inequality) or others:
            name = (others or found)[0]
            raise InputError(
                f"the constraint {one.text!r} is about the computed column {name!r}, which is no sum of columns"
                f"{_not_own(computed, name)}; write it about the columns that it is computed from"
            )
        rules.append(substituted(rule, sums))
    return replace(one, rules=tuple(rules))


def _not_own(computed: ComputedColumns | None, name: str) -> str:
    follows = computed is not None and any(one.follows for one in computed.columns if one.name == name)
    return f" that gives {name!r} its own value where nothing has changed" if follows else ""


def _check(one: Constraint, features: Mapping[str, Feature]) -> None:
    what = f"the constraint {one.text!r}"
    for rule in one.rules:
        if isinstance(rule, Implication):
            _check_condition(what, rule.if_, features[rule.if_.column])
            _check_condition(what, rule.then, features[rule.then.column])
        if not isinstance(rule, Inequality):
            continue
        for name in rule.columns:
            _check_number(features[name], what)
        least = _least_total(rule, features)
        if least is not None and not rule.allows(least):
            raise InputError(
                f"{what} cannot be kept: within the bounds of its columns, {_sides(rule)} is at least "
                f"{float(least):.6g}, and would have to be {'less than' if rule.strict else 'at most'} "
                f"{float(rule.limit):.6g}; change the constraint or the bounds"
            )


def _check_condition(what: str, condition: Condition, feature: Feature) -> None:
    """Refuse a condition that compares labels as if they had the order of the alphabet, or a number with a text."""
    texts = [value for value in condition.values if isinstance(value, str)]
    if not texts:
        return
    labels = any(isinstance(level, str) for level in feature.levels or feature.options)
    if condition.operator not in ("==", "!=") and (feature.kind == "categorical" or labels):
        raise InputError(
            f"{what} compares the labels of {feature.name!r} by {condition.operator}, which would be the order of the "
            f'alphabet; list the labels that are meant, such as "{feature.name} in [{texts[0]!r}]"'
        )
    is_number_column = feature.kind in ("integer", "binary") or (feature.kind == "numeric" and feature.direction)
    if is_number_column and not labels:
        raise InputError(f"{what} compares {feature.name!r}, a column of numbers, with the text {texts[0]!r}")


def _least_total(rule: Inequality, features: Mapping[str, Feature]) -> Any:
    """Return the least sum that the bounds of the columns allow; None if some column has no bounds."""
    if rule.before:
        return None
    total: Any = 0
    for name, factor in rule.terms:
        feature = features[name]
        ends = (feature.levels[0], feature.levels[-1]) if feature.levels else (feature.lower, feature.upper)
        if feature.fixed or not feature.ordered or None in ends:
            return None
        total += min(factor * exact(end) for end in ends if end is not None)
    return total


def _sides(rule: Inequality) -> str:
    parts = [
        name if factor == 1 else f"-{name}" if factor == -1 else f"{float(factor):g} * {name}"
        for name, factor in rule.terms
        if factor
    ]
    return " + ".join(parts)


def _joined(given: Iterable[set[str]]) -> tuple[frozenset[str], ...]:
    """Return the unions of sets that have members in common."""
    sets: list[set[str]] = []
    for one in given:
        joined = set(one)
        apart = []
        for other in sets:
            if other & joined:
                joined |= other
            else:
                apart.append(other)
        sets = [*apart, joined]
    return tuple(map(frozenset, sets))
