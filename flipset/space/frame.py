"""The features and groups of a table: what is not said is seen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flipset.errors import InputError
from flipset.space.feature import Feature, is_number, read_pair
from flipset.space.group import Group
from flipset.space.reference import Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flipset.space.feature import Kind, Value

MOST_CATEGORIES = 50
"""A column of strings with more values than this is a name or a text rather than a category."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What the caller said, by column."""

    up: set[str]
    down: set[str]
    fixed: set[str]
    listed: dict[str, Any]
    ordinal: dict[str, Any]
    rising: set[str]
    falling: set[str]
    bounds: dict[str, Any]
    quantiles: tuple[float, float]
    steps: dict[str, Any]
    weights: dict[str, Any]
    groups: dict[str, Any]
    member_of: dict[str, str]
    special: dict[str, Any]


def read_table(
    table: Any,
    *,
    increasing: Iterable[str],
    decreasing: Iterable[str],
    fixed: Iterable[str],
    categorical: Iterable[str] | Mapping[str, Sequence[Value]],
    ordinal: Mapping[str, Sequence[Value]],
    only_rising: Iterable[str],
    only_falling: Iterable[str],
    bounds: Mapping[str, tuple[Any, Any]],
    quantiles: tuple[float, float],
    steps: Mapping[str, float],
    weights: Mapping[str, float],
    groups: Mapping[str, Iterable[str]],
    special: Mapping[str, Iterable[Value]],
) -> tuple[list[Feature], list[Group], Reference]:
    """Put together what was said and what is seen; `Space.from_frame` documents it."""
    reference = Reference.of(table)
    said = Arguments(
        up=set(_names("increasing", increasing)),
        down=set(_names("decreasing", decreasing)),
        fixed=set(_names("fixed", fixed)),
        listed=_listed(categorical),
        ordinal=_mapping("ordinal", ordinal),
        rising=set(_names("only_rising", only_rising)),
        falling=set(_names("only_falling", only_falling)),
        bounds=_mapping("bounds", bounds),
        quantiles=_quantiles(quantiles),
        steps=_mapping("steps", steps),
        weights=_mapping("weights", weights),
        groups=_mapping("groups", groups),
        member_of=_member_of(_mapping("groups", groups)),
        special=_mapping("special", special),
    )
    _check_names(reference.names, said)
    if both := said.up & said.down:
        raise InputError(f"{min(both)!r} is in both increasing and decreasing; it can have one direction")
    features = [_feature(name, reference, said) for name in reference.names]
    return features, _one_hot(features, reference, said.groups), reference


def _feature(name: str, reference: Reference, said: Arguments) -> Feature:
    """Put together what was said about one column and what is seen of it."""
    codes = tuple(_names(f"special[{name!r}]", said.special.get(name, ()), "codes"))
    cells = [value for value in reference.cells(name) if value is not None and value not in codes]
    direction: Literal[1, -1] | None = 1 if name in said.up else -1 if name in said.down else None
    kind = _kind(name, reference, cells, said)
    lower, upper = read_pair(name, said.bounds[name]) if name in said.bounds else (None, None)
    options: tuple[Value, ...] = ()
    if kind in ("numeric", "integer") and direction is not None:
        least, most = _range(name, cells, said.quantiles, whole=kind == "integer")
        lower = least if lower is None else lower
        upper = most if upper is None else upper
    elif kind == "ordinal":
        options = tuple(_names(f"ordinal[{name!r}]", said.ordinal[name], "values"))
    elif name in said.listed:
        options = _categories(name, cells, said.listed[name])
    return Feature(
        name,
        kind=kind,
        direction=direction,
        lower=lower,
        upper=upper,
        step=said.steps.get(name),
        may_rise=name not in said.falling,
        may_fall=name not in said.rising,
        fixed=name in said.fixed,
        weight=said.weights.get(name, 1),
        options=options,
        special=codes,
        group=said.member_of.get(name),
    )


def _kind(name: str, reference: Reference, cells: Sequence[Value], said: Arguments) -> Kind:
    """Say what a column is."""
    if name in said.ordinal:
        return "ordinal"
    if name in said.listed:
        return "categorical"
    # In a group without direction, zeros alone are the one-hot column of a level that was not seen.
    hot = name in said.member_of and name not in said.up | said.down
    odd = next((cell for cell in cells if not isinstance(cell, Hashable)), None)
    if odd is not None:
        raise InputError(f"column {name!r} holds {odd!r} ({type(odd).__name__}); expected one value in each cell")
    if reference.is_boolean(name) or (set(cells) <= {0, 1} and (hot or len(set(cells)) == 2)):
        return "binary"
    dtype = reference.frame[name].dtype
    if dtype.is_integer():
        return "integer"
    return "numeric" if dtype.is_numeric() else "categorical"


def _range(name: str, cells: Sequence[Value], quantiles: tuple[float, float], *, whole: bool) -> tuple[Any, Any]:
    numbers = sorted(value for value in cells if is_number(value))
    if not numbers:
        raise InputError(f"column {name!r} has no values to read bounds from; give bounds={{{name!r}: (lower, upper)}}")
    least, most = (_quantile(numbers, share) for share in quantiles)
    return (ceil(least), floor(most)) if whole else (float(least), float(most))


def _quantile(ascending: Sequence[Any], share: float) -> Fraction:
    """Interpolate between the two nearest of the numbers, exactly: floats would round whole numbers from 2^53 on."""
    place = Fraction(str(share)) * (len(ascending) - 1)  # 0.05 means 1/20
    below, above = Fraction(ascending[floor(place)]), Fraction(ascending[ceil(place)])
    return below + (above - below) * (place - floor(place))


def _categories(name: str, cells: Sequence[Value], options: Any) -> tuple[Value, ...]:
    """Return the allowed values: those given, or those seen."""
    if options is not None:
        return tuple(_names(f"categorical[{name!r}]", options, "values"))
    seen = dict.fromkeys(cells)
    if len(seen) > MOST_CATEGORIES:
        raise InputError(
            f"column {name!r} has {len(seen)} different values; list the allowed ones: categorical={{{name!r}: [...]}}"
        )
    try:
        return tuple(sorted(seen))
    except TypeError:
        return tuple(sorted(seen, key=str))


def _one_hot(features: Sequence[Feature], reference: Reference, groups: Mapping[str, Iterable[str]]) -> list[Group]:
    made = []
    for name in groups:
        members = [feature for feature in features if feature.group == name]
        if len(members) < 2 or any(feature.kind != "binary" or feature.ordered for feature in members):
            made.append(Group(name))
            continue
        ones = np.array([[bool(value) for value in reference.cells(feature.name)] for feature in members]).sum(axis=0)
        if ones.max() > 1:
            row = int(np.flatnonzero(ones > 1)[0])
            raise InputError(
                f"group {name!r} looks one-hot (binary columns without direction), but row {row} has {ones[row]} ones; "
                "give the columns directions, or put only one-hot columns in it"
            )
        made.append(Group(name, one_hot=True, may_be_empty=bool((ones == 0).any())))
    return made


def _member_of(groups: Mapping[str, Iterable[str]]) -> dict[str, str]:
    member_of: dict[str, str] = {}
    for group, names in groups.items():
        for name in _names(f"groups[{group!r}]", names):
            if name in member_of:
                raise InputError(
                    f"column {name!r} is in the groups {member_of[name]!r} and {group!r}; it can be in one"
                )
            member_of[name] = group
    return member_of


def _names(argument: str, names: Any, what: str = "column names") -> list[Any]:
    if names is None:
        return []
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        said = f"the string {names!r}" if isinstance(names, str) else repr(names)
        raise InputError(f"{argument} must be a list of {what}, got {said}")
    return list(names)


def _mapping(argument: str, given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"{argument} must be a mapping from column names, got {given!r}")
    return dict(given)


def _quantiles(given: Any) -> tuple[float, float]:
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not 0 <= low <= high <= 1:
        raise InputError(f"quantiles must be a pair such as (0.05, 0.95), got {given!r}")
    return low, high


def _listed(categorical: Any) -> dict[str, Any]:
    if isinstance(categorical, Mapping):
        return dict(categorical)
    return dict.fromkeys(_names("categorical", categorical))


def _check_names(known: Sequence[str], said: Arguments) -> None:
    for argument, names in (
        ("increasing", said.up),
        ("decreasing", said.down),
        ("fixed", said.fixed),
        ("categorical", said.listed),
        ("ordinal", said.ordinal),
        ("only_rising", said.rising),
        ("only_falling", said.falling),
        ("bounds", said.bounds),
        ("steps", said.steps),
        ("weights", said.weights),
        ("groups", said.member_of),
        ("special", said.special),
    ):
        for name in names:
            if name not in known:
                raise InputError(
                    f"{argument} names {name!r}, which is not a column; the columns are {', '.join(map(repr, known))}"
                )
