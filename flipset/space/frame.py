"""A space read off a table: what is not said is seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError
from flipset.space.feature import Feature, is_number
from flipset.space.reference import Reference
from flipset.space.space import Group, Space, read_pair

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flipset.space.feature import Kind, Value

MOST_CATEGORIES = 50
"""A column of strings with more values than this is a name or a text rather than a category."""


def read_space(
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
) -> Space:
    """Put together what was said and what is seen; `Space.from_frame` documents it."""
    reference = Reference.of(table)
    up, down, held = (
        set(_names(n, v)) for n, v in (("increasing", increasing), ("decreasing", decreasing), ("fixed", fixed))
    )
    rising, falling = set(_names("only_rising", only_rising)), set(_names("only_falling", only_falling))
    listed: dict[str, Sequence[Value] | None]
    if isinstance(categorical, Mapping):
        listed = dict(categorical)
    else:
        listed = dict.fromkeys(_names("categorical", categorical))
    member_of = _member_of(groups)
    _check_names(
        reference.names,
        {
            "increasing": up, "decreasing": down, "fixed": held, "categorical": listed, "ordinal": ordinal,
            "only_rising": rising, "only_falling": falling, "bounds": bounds, "steps": steps, "weights": weights,
            "groups": member_of, "special": special,
        },
    )  # fmt: skip
    if both := up & down:
        raise InputError(f"{min(both)!r} is in both increasing and decreasing; it can have one direction")
    if not (isinstance(quantiles, tuple) and len(quantiles) == 2 and 0 <= quantiles[0] <= quantiles[1] <= 1):
        raise InputError(f"quantiles must be a pair such as (0.05, 0.95), got {quantiles!r}")
    features = []
    for name in reference.names:
        codes = tuple(special.get(name, ()))
        cells = [value for value in reference.cells(name) if value is not None and value not in codes]
        options = listed.get(name)
        levels = tuple(ordinal[name]) if name in ordinal else ()
        kind: Kind = (
            "ordinal" if name in ordinal else "categorical" if name in listed else _kind(name, reference, cells)
        )
        direction = 1 if name in up else -1 if name in down else None
        lower, upper = read_pair(name, bounds[name]) if name in bounds else (None, None)
        if kind in ("numeric", "integer") and direction is not None:
            least, most = _range(name, cells, quantiles, whole=kind == "integer")
            lower = least if lower is None else lower
            upper = most if upper is None else upper
        if kind == "categorical" and direction is None and (name in listed or name not in held):
            options = _categories(name, cells, options, said=name in listed)
        features.append(
            Feature(
                name,
                kind=kind,
                direction=direction,  # type: ignore[arg-type]
                lower=lower,
                upper=upper,
                step=steps.get(name),
                may_rise=name not in falling,
                may_fall=name not in rising,
                fixed=name in held,
                weight=weights.get(name, 1),
                options=tuple(levels or options or ()),
                special=codes,
                group=member_of.get(name),
            )
        )
    return Space(features, _one_hot(features, reference, groups), reference)


def _kind(name: str, reference: Reference, cells: Sequence[Value]) -> Kind:
    dtype = reference.frame[name].dtype
    if dtype.is_integer() or (cells and all(isinstance(value, bool) for value in cells)):
        return "binary" if set(cells) <= {0, 1} and len(set(cells)) == 2 else "integer"
    if dtype.is_numeric():
        return "binary" if set(cells) == {0, 1} else "numeric"
    return "categorical"


def _range(name: str, cells: Sequence[Value], quantiles: tuple[float, float], *, whole: bool) -> tuple[Any, Any]:
    numbers = [float(value) for value in cells if is_number(value)]
    if not numbers:
        raise InputError(f"column {name!r} has no values to read bounds from; give bounds={{{name!r}: (lower, upper)}}")
    least, most = np.quantile(numbers, quantiles).tolist()
    return (int(np.ceil(least)), int(np.floor(most))) if whole else (least, most)


def _categories(name: str, cells: Sequence[Value], options: Any, *, said: bool) -> tuple[Value, ...]:
    """Return the allowed values: those given, or those seen, if the column was called categorical."""
    if options is not None:
        return tuple(options)
    if not said:
        return ()  # without a word about it, a column of strings is held fixed
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


def _names(argument: str, names: Iterable[str]) -> list[str]:
    if isinstance(names, str):
        raise InputError(f"{argument} must be a list of column names, got the string {names!r}")
    return list(names)


def _check_names(known: Sequence[str], said: Mapping[str, Iterable[str]]) -> None:
    for argument, names in said.items():
        for name in names:
            if name not in known:
                raise InputError(
                    f"{argument} names {name!r}, which is not a column; the columns are {', '.join(map(repr, known))}"
                )
