"""Further limits on the features of a space, as for one row or one table.

What is held fixed stays fixed. Bounds, `max_rise` and `max_fall` replace those of the feature.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.space.row_limits import read_pair

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flipset.space.computed_columns import ComputedColumns
    from flipset.space.feature import Feature


def held_names(features: Sequence[Feature], fixed: Any, within: Any) -> list[str]:
    """Return the features and groups that are to be held fixed: those in `fixed`, and all that are not in `within`."""
    held = _names("fixed", fixed)
    if within is None:
        return held
    wanted = _names("within", within)
    units = dict.fromkeys(feature.group or feature.name for feature in features)
    group_of = {feature.name: feature.group for feature in features}
    for name in wanted:
        if name in units:
            continue
        if name not in group_of:
            raise _unknown(name, features)
        problem = f"within names {name!r}, a column of the group {group_of[name]!r}, which moves as one"
        raise InputError(f"{problem}: name the group")
    allowed = set(wanted)
    return [*held, *(name for name in units if name not in allowed)]


def hold(features: Sequence[Feature], names: Iterable[str]) -> list[Feature]:
    """Return features of which some are held fixed; a group is held as a whole, by its name."""
    columns = {feature.name: {feature.name} for feature in features}
    for feature in features:
        if feature.group is not None:
            columns.setdefault(feature.group, set()).add(feature.name)
    held: set[str] = set()
    for name in names:
        if name not in columns:
            raise _unknown(name, features)
        held |= columns[name]
    return [replace(one, fixed=True) if one.name in held and not one.fixed else one for one in features]


def refuse_computed(computed: ComputedColumns, named: Mapping[str, Iterable[str] | None]) -> None:
    """Refuse limits on computed columns, which would have no effect; `named` has the names in each argument."""
    for argument, names in named.items():
        for name in names or ():
            if name in computed.names:
                inputs = next(one.inputs for one in computed.columns if one.name == name)
                verb = "hold" if argument == "fixed" else "limit"
                raise InputError(
                    f"{argument} names {name!r}, which is computed from {', '.join(map(repr, inputs[:6]))}: {verb} "
                    "these columns, or write a constraint about them"
                )


def limit(
    features: Sequence[Feature],
    bounds: Mapping[str, Any] | None,
    max_rise: Mapping[str, Any] | None,
    max_fall: Mapping[str, Any] | None,
) -> list[Feature]:
    """Return features with other bounds and further limits, by name."""
    changed = {feature.name: feature for feature in features}
    for name, pair in _mapping("bounds", bounds, "(lower, upper)").items():
        feature = _named(changed, name)
        changed[name] = replace(feature, **read_pair(name, pair, feature.levels))
    for argument, given in (("max_rise", max_rise), ("max_fall", max_fall)):
        for name, amount in _mapping(argument, given, "amounts or shares").items():
            changed[name] = replace(_named(changed, name), **{argument: amount})
    return list(changed.values())


def _named(features: Mapping[str, Feature], name: str) -> Feature:
    if name not in features:
        raise _unknown(name, list(features.values()))
    return features[name]


def _unknown(name: str, features: Sequence[Feature]) -> InputError:
    names = ", ".join(repr(feature.name) for feature in features)
    return InputError(f"there is no feature {name!r}; the features are {names}")


def _mapping(argument: str, given: Any, of_what: str) -> dict[str, Any]:
    if given is not None and not hasattr(given, "items"):
        raise InputError(f"{argument} must be a mapping from names to {of_what}, got {given!r}")
    return dict(given or {})


def _names(argument: str, given: Any) -> list[str]:
    if isinstance(given, str):
        raise InputError(f"{argument} must be a list of names, got the string {given!r}")
    if given is not None and not hasattr(given, "__iter__"):
        raise InputError(f"{argument} must be a list of names, got {given!r}")
    return list(given or ())
