"""A space read from a table: the arguments of `Space.from_frame`, completed by what the columns hold.

Arguments come first. What they leave open is read from the table: the kind of a column from its type and values, its
bounds from its quantiles, its step from its values (`flipset.space.steps`), its categories from the values seen.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flipset.boundary.printable import shortened
from flipset.errors import InputError
from flipset.space.feature import Feature, is_number
from flipset.space.group import Group
from flipset.space.reference import Reference
from flipset.space.row_limits import read_pair
from flipset.space.steps import quantile, step_from_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flipset.space.feature import Kind, Value

MOST_CATEGORIES = 50
"""The most values of a column that is read as categories; with more, it is probably a name or free text."""


SEEN = "seen"
"""In place of a step: the column takes the values seen in the table."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of `Space.from_frame`, checked, by column."""

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
    from_data: bool
    weights: dict[str, Any]
    groups: dict[str, Any]
    member_of: dict[str, str]
    special: dict[str, Any]
    words: dict[str, dict[str, Any]]


WORDS = {
    "labels": "label",
    "units": "unit",
    "descriptions": "description",
    "value_labels": "value_labels",
    "number_formats": "number_format",
}
"""Arguments about what people call things, each with the attribute of a feature that it gives, by column."""


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
    steps: Mapping[str, float | Literal["seen"]] | Literal["seen"],
    weights: Mapping[str, float],
    groups: Mapping[str, Iterable[str]],
    special: Mapping[str, Iterable[Value]],
    words: Mapping[str, Mapping[str, Any]],
) -> tuple[list[Feature], list[Group], Reference]:
    """Return the features, groups and reference of a table; `Space.from_frame` documents the arguments."""
    reference = Reference.of(table)
    given = Arguments(
        up=set(_names("increasing", increasing)),
        down=set(_names("decreasing", decreasing)),
        fixed=set(_names("fixed", fixed)),
        listed=_listed(categorical),
        ordinal=_mapping("ordinal", ordinal),
        rising=set(_names("only_rising", only_rising)),
        falling=set(_names("only_falling", only_falling)),
        bounds=_mapping("bounds", bounds),
        quantiles=_quantiles(quantiles),
        steps={} if steps == SEEN else _steps(steps),
        from_data=steps != SEEN,
        weights=_mapping("weights", weights),
        groups=_mapping("groups", groups),
        member_of=_member_of(_mapping("groups", groups)),
        special=_mapping("special", special),
        words={name: _words_in(table, name, reference.names) | _mapping(name, words[name]) for name in WORDS},
    )
    _check_names(reference.names, given)
    if both := given.up & given.down:
        raise InputError(f"{min(both)!r} is in both increasing and decreasing; it can have one direction")
    features = [_feature(name, reference, given) for name in reference.names]
    return features, _groups(features, reference, given), reference


def _feature(name: str, reference: Reference, given: Arguments) -> Feature:
    """Return the feature of one column, from the arguments and from its cells."""
    # Special codes are outside the order, so they count neither for the kind of the column nor for its bounds.
    codes = _codes(name, reference, given)
    cells = [value for value in reference.cells(name) if value is not None and value not in codes]
    direction: Literal[1, -1] | None = 1 if name in given.up else -1 if name in given.down else None
    kind = _kind(name, reference, cells, given)
    limits = read_pair(name, given.bounds[name], given.ordinal.get(name, ())) if name in given.bounds else {}
    lower, upper = limits.pop("lower", None), limits.pop("upper", None)
    step = given.steps.get(name)
    options: tuple[Value, ...] = ()
    if kind in ("numeric", "integer") and direction is not None:
        # Bounds that are given win, each side by itself.
        numbers = sorted(value for value in cells if is_number(value))
        least, most = _range(name, numbers, given.quantiles, whole=kind == "integer")
        lower = least if lower is None else lower
        upper = most if upper is None else upper
        if step is None and given.from_data and _is_range(lower, upper):
            step = _step_of(name, numbers, lower, upper, reference, kind)
    elif kind == "ordinal":
        options = tuple(_names(f"ordinal[{name!r}]", given.ordinal[name], "values"))
    elif name in given.listed:
        options = _categories(name, cells, given.listed[name])
    if name not in given.special and direction is not None and name not in given.fixed:
        _refuse_inside(name, codes, lower, upper)
    return Feature(
        name,
        kind=kind,
        direction=direction,
        lower=lower,
        upper=upper,
        step=None if step == SEEN else step,
        may_rise=name not in given.falling,
        may_fall=name not in given.rising,
        fixed=name in given.fixed,
        weight=given.weights.get(name, 1),
        options=options,
        special=codes,
        group=given.member_of.get(name),
        **limits,
        **{attribute: given.words[word][name] for word, attribute in WORDS.items() if name in given.words[word]},
    )


ALL = "*"
"""Stands for all columns that `special` does not name."""


def _codes(name: str, reference: Reference, given: Arguments) -> tuple[Value, ...]:
    """Return the special codes of a column: its own, or else those that are given for all columns."""
    if name in given.special or ALL not in given.special:
        return tuple(_names(f"special[{name!r}]", given.special.get(name, ()), "codes"))
    # A code cannot be a level or a category as well; what is said about the column itself counts.
    taken = {*_names("ordinal", given.ordinal.get(name)), *_names("categorical", given.listed.get(name))}
    codes = [code for code in _names(f"special[{ALL!r}]", given.special[ALL], "codes") if code not in taken]
    if reference.is_boolean(name):
        return ()
    if reference.frame[name].dtype.is_numeric():
        return tuple(code for code in codes if is_number(code))
    seen = set(reference.cells(name))
    return tuple(code for code in codes if code in seen)


def _refuse_inside(name: str, codes: Iterable[Value], lower: Value, upper: Value) -> None:
    """Refuse codes for all columns that are ordinary numbers of this one."""
    if not is_number(lower) or not is_number(upper):
        return
    inside = [code for code in codes if is_number(code) and lower <= code <= upper]
    if inside:
        raise InputError(
            f"special[{ALL!r}] has {inside[0]!r}, which lies between the bounds {lower!r} and {upper!r} of {name!r}; "
            f"say which codes that column has, special={{{name!r}: [...]}}, an empty list if none, or give it bounds"
        )


def _words_in(table: Any, word: str, columns: Sequence[str]) -> dict[str, Any]:
    """Return what the `attrs` of a pandas frame say about its columns; other libraries may put anything there."""
    attrs = getattr(table, "attrs", None)
    found = attrs.get(word) if isinstance(attrs, Mapping) else None
    if not isinstance(found, Mapping):
        return {}
    kind = Mapping if word == "value_labels" else str
    return {name: found[name] for name in columns if isinstance(found.get(name), kind)}


def _kind(name: str, reference: Reference, cells: Sequence[Value], given: Arguments) -> Kind:
    """Return the kind of a column, from the arguments or from its type and its cells."""
    if name in given.ordinal:
        return "ordinal"
    if name in given.listed:
        return "categorical"
    # A column of zeros alone is not enough to call it binary, unless it is in a group without direction: there it is
    # the one-hot column of a level that the table does not have.
    hot = name in given.member_of and name not in given.up | given.down
    odd = next((cell for cell in cells if not isinstance(cell, Hashable)), None)
    if odd is not None:
        found = f"{shortened(repr(odd), 80)} ({type(odd).__name__})"
        raise InputError(f"column {name!r} holds {found}; expected one value in each cell")
    if reference.is_boolean(name) or (set(cells) <= {0, 1} and (hot or len(set(cells)) == 2)):
        return "binary"
    dtype = reference.frame[name].dtype
    if dtype.is_integer():
        return "integer"
    return "numeric" if dtype.is_numeric() else "categorical"


def _is_range(lower: Any, upper: Any) -> bool:
    """Say whether two bounds can be bounds; `Feature` says what is wrong with others."""
    return all(is_number(bound) and not isinstance(bound, bool) for bound in (lower, upper)) and lower < upper


def _step_of(
    name: str, numbers: Sequence[Value], lower: Any, upper: Any, reference: Reference, kind: Kind
) -> int | float | None:
    """Return the step of a column from its values; None where a column of whole numbers has its usual step, 1."""
    step = step_from_values(numbers, lower, upper, reference.float_type(name))
    return None if kind == "integer" and step == 1 else step


def _range(name: str, numbers: Sequence[Value], quantiles: tuple[float, float], *, whole: bool) -> tuple[Any, Any]:
    if not numbers:
        raise InputError(f"column {name!r} has no values to read bounds from; give bounds={{{name!r}: (lower, upper)}}")
    least, most = (quantile(numbers, share) for share in quantiles)
    # The bounds of integers are rounded inwards, so that they stay within the quantiles.
    return (ceil(least), floor(most)) if whole else (float(least), float(most))


def _categories(name: str, cells: Sequence[Value], options: Any) -> tuple[Value, ...]:
    """Return the allowed values of a column: those given, or else those seen."""
    if options is not None:
        return tuple(_names(f"categorical[{name!r}]", options, "values"))
    seen = dict.fromkeys(cells)
    if len(seen) > MOST_CATEGORIES:
        raise InputError(
            f"column {name!r} has {len(seen)} different values; list the allowed ones: categorical={{{name!r}: [...]}}"
        )
    # Sorted, so that the order of the options does not depend on the order of the rows.
    try:
        return tuple(sorted(seen))
    except TypeError:  # values of different types, such as text and numbers
        return tuple(sorted(seen, key=str))


def _groups(features: Sequence[Feature], reference: Reference, given: Arguments) -> list[Group]:
    made = []
    for name in given.groups:
        label = given.words["labels"].get(name, "")
        members = [feature for feature in features if feature.group == name]
        if len(members) < 2 or any(feature.kind != "binary" or feature.ordered for feature in members):
            made.append(Group(name, label=label))
            continue
        ones = np.array([[bool(value) for value in reference.cells(feature.name)] for feature in members]).sum(axis=0)
        # One row is enough to show that these are flags of their own and not levels of one column.
        if ones.max() > 1:
            row = int(np.flatnonzero(ones > 1)[0])
            raise InputError(
                f"group {name!r} looks one-hot (binary columns without direction), but row {row} has {ones[row]} ones; "
                "give the columns directions, or put only one-hot columns in it"
            )
        # A row of zeros is a level without a column, as with an encoder that drops the first level.
        made.append(Group(name, one_hot=True, may_be_empty=bool((ones == 0).any()), label=label))
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
        got = f"the string {names!r}" if isinstance(names, str) else repr(names)
        raise InputError(f"{argument} must be a list of {what}, got {got}")
    return list(names)


def _steps(given: Any) -> dict[str, Any]:
    """Read steps by column; "seen" instead of a number leaves the values seen as they are."""
    if isinstance(given, str):
        raise InputError(f'steps must be a mapping from column names, or "{SEEN}" for the values seen; got {given!r}')
    return _mapping("steps", given)


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


def _check_names(columns: Sequence[str], given: Arguments) -> None:
    for argument, names in (
        ("increasing", given.up),
        ("decreasing", given.down),
        ("fixed", given.fixed),
        ("categorical", given.listed),
        ("ordinal", given.ordinal),
        ("only_rising", given.rising),
        ("only_falling", given.falling),
        ("bounds", given.bounds),
        ("steps", given.steps),
        ("weights", given.weights),
        ("groups", given.member_of),
        ("special", given.special),
        *given.words.items(),
    ):
        for name in names:
            is_known = name in columns or (argument, name) == ("special", ALL)
            if not is_known and not (argument == "labels" and name in given.groups):
                raise InputError(
                    f"{argument} names {name!r}, which is not a column; the columns are {', '.join(map(repr, columns))}"
                )
