"""One column of a table: what its values are, in which direction the score rises, and how far it may move."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from flipset.boundary.reading import WEIGHTS, is_weight, shown
from flipset.errors import InputError
from flipset.space.multiples import MOST_STEPS, first_and_last, show_step
from flipset.space.room import read_room
from flipset.space.words import YES_NO, FeatureWords, NumberFormat, check_format, read_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

Value: TypeAlias = Any
"""A cell: a number, a string, a boolean, or None where the value is missing."""

Kind: TypeAlias = Literal["numeric", "integer", "ordinal", "binary", "categorical"]

Missing: TypeAlias = Literal["stays", "may be filled", "may become missing", "either way"]
"""What may happen to a missing value, and whether a value may become missing."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One column, and what may happen to it.

    Attributes
    ----------
    name
        The column's name.
    kind
        "numeric", "integer", "binary" (0 and 1), "ordinal" (numbers, or `options` from lowest to highest), or
        "categorical" (no order).
    direction
        +1 if a higher value raises the score, -1 if it lowers the score. None if neither is known: the feature then
        moves among its `options`, and without options it is held fixed.
    lower, upper
        The allowed range: the lowest and the highest value the feature may move to. A row outside it may stay there.
    step
        The grid of values: the multiples of the step between the bounds, so every value that is reported is one. By
        default 1 where values are whole numbers.
    may_rise, may_fall
        False if the value can move one way only: an age does not fall.
    fixed
        True to hold the feature fixed.
    weight
        How much a change of this feature counts, in the size of flip sets and in costs.
    options
        The allowed values of a feature without direction; for an ordinal feature, its values from lowest to highest.
    special
        Codes outside the order, such as -7 for "never". A row with a code keeps it, and no row moves to a code, unless
        `may_leave` or `may_become` allows it.
    may_become, may_leave
        The special codes that the feature may move to, and those that it may move away from.
    missing
        "stays": a missing value stays missing, and no value becomes missing. "may be filled": a missing value may
        become any allowed value. "may become missing": a value may become missing. "either way": both. True means
        "either way", False means "stays".
    max_rise, max_fall
        How much the value may rise or fall at most, from where it is in the row: an amount, such as 5000, or a share of
        the value, such as "20 %". For levels, a number of levels.
    lower_from, upper_from
        Columns of the table that hold each row's own bounds, which narrow `lower` and `upper`. They need not be columns
        of the space: the model does not see them. A missing bound leaves the range as it is.
    group
        The name of the feature's group. The columns of a group move together, as one feature.
    label, unit, description
        For people: what the column is called, what follows its numbers ("thousand USD"), and what it means.
    value_labels
        For people: the labels of some values, such as {1: "some", 0: "none"}.
    number_format
        For people: "plain", "thousands" for 12,000, or "percent" for shares that are written as 14.5 %.

    Examples
    --------
    >>> Feature("debt", direction=-1, lower=0, upper=60, step=0.5)
    Feature(name='debt', direction=-1, lower=0, upper=60, step=0.5)
    """

    name: str
    kind: Kind = "numeric"
    direction: Literal[1, -1] | None = None
    lower: Value = None
    upper: Value = None
    step: float | None = None
    may_rise: bool = True
    may_fall: bool = True
    fixed: bool = False
    weight: float = 1
    options: tuple[Value, ...] = ()
    special: tuple[Value, ...] = ()
    may_become: tuple[Value, ...] = ()
    may_leave: tuple[Value, ...] = ()
    missing: Missing | bool = "stays"
    max_rise: float | str | None = None
    max_fall: float | str | None = None
    lower_from: str | None = None
    upper_from: str | None = None
    group: str | None = None
    label: str = ""
    unit: str = ""
    description: str = ""
    value_labels: tuple[tuple[str, str], ...] | Mapping[Value, str] = ()
    number_format: NumberFormat = "plain"

    def __post_init__(self) -> None:
        # Values may come from NumPy or pandas. They are compared with cells and written to files, so they become plain.
        for name in SEQUENCES:
            given = getattr(self, name)
            if isinstance(given, str) or not hasattr(given, "__iter__"):
                raise self.error(f"{name} must be a sequence of values, got {given!r}")
            object.__setattr__(self, name, tuple(map(plain, given)))
        for name in PLAIN:
            given = getattr(self, name)
            value = plain(given)
            if value is None and given is not None:  # NaN and the like are refused: only None means "not given"
                raise self.error(f"{name} is {given!r}, which is no value; leave it out, or give one")
            object.__setattr__(self, name, value)
        if isinstance(self.missing, bool):
            object.__setattr__(self, "missing", "either way" if self.missing else "stays")
        try:
            object.__setattr__(self, "value_labels", read_labels(self.value_labels))
            check_format("number_format", self.number_format)
        except InputError as error:
            raise self.error(str(error)) from None
        _check(self)

    def __repr__(self) -> str:
        shown = [f"name={self.name!r}"]
        for field in self.__slots__[1:]:
            value = getattr(self, field)
            if value != _DEFAULTS[field]:
                shown.append(f"{field}={value!r}")
        return f"Feature({', '.join(shown)})"

    @property
    def words(self) -> FeatureWords:
        """What people call the column and its values. A binary column is a flag: "no" and "yes" by default."""
        labels: Any = self.value_labels
        if not labels and self.kind == "binary":
            labels = YES_NO
        return FeatureWords(self.label or self.name, self.unit, labels, self.number_format)

    @property
    def levels(self) -> tuple[Value, ...]:
        """The values in order, if they are listed one by one; empty for numbers on a scale."""
        if self.kind == "binary":
            return self.options or (0, 1)
        return self.options if self.kind == "ordinal" else ()

    @property
    def ordered(self) -> bool:
        """Whether the score follows the order of its values."""
        return self.direction is not None

    @property
    def may_fill(self) -> bool:
        """Whether a missing value may become another one."""
        return self.missing in ("may be filled", "either way")

    @property
    def may_go_missing(self) -> bool:
        """Whether a value may become missing."""
        return self.missing in ("may become missing", "either way")

    def is_ordinary(self, value: Value) -> bool:
        """Say whether a value is part of the order: not missing, no special code, and no label that is not listed."""
        if is_missing(value) or value in self.special:
            return False
        # The kind is looked at first: nearly all features are on a scale, and this is asked for every cell.
        return self.kind in SCALES or not (self.ordered and self.levels) or value in self.levels

    def error(self, problem: str) -> InputError:
        """Return an error about this feature."""
        return InputError(f"feature {self.name!r}: {problem}")


SCALES = ("numeric", "integer")
"""The kinds whose values are numbers on a scale: they have no levels."""

SEQUENCES = ("options", "special", "may_become", "may_leave")
"""The attributes that are lists of values."""

PLAIN = (
    "direction", "lower", "upper", "step", "weight", "may_rise", "may_fall", "fixed", "missing", "max_rise", "max_fall",
)  # fmt: skip
"""The attributes that are single values."""

_DEFAULTS: dict[str, Any] = {name: field.default for name, field in Feature.__dataclass_fields__.items()}


def is_missing(value: Value) -> bool:
    """Say whether a cell holds no value: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def plain(value: Value) -> Value:
    """Return a cell as a plain Python value; every kind of missing value becomes None."""
    kind = type(value)
    if kind is float:  # nearly all cells are of these types, so they come first
        return None if math.isnan(value) else value
    if kind is int or kind is str or kind is bool or value is None:
        return value
    if hasattr(value, "item") and not isinstance(value, (str, bytes)) and getattr(value, "shape", None) == ():
        value = value.item()  # a NumPy scalar
    if is_missing(value) or type(value).__name__ in {"NAType", "NaTType"}:  # of pandas, which is not imported for this
        return None
    return value


def is_number(value: Value) -> bool:
    """Say whether a cell is a finite number; booleans count as 0 and 1."""
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number too large for a float
        return False


def _check(feature: Feature) -> None:
    # True and False are integers in Python. As a direction, a weight, a step or a bound they are probably a mistake.
    if not isinstance(feature.name, str) or not feature.name:
        raise InputError(f"a feature's name must be a string that is not empty, got {feature.name!r}")
    if not isinstance(feature.kind, str) or feature.kind not in get_args(Kind):
        raise feature.error(f"kind must be one of {', '.join(get_args(Kind))}, got {feature.kind!r}")
    if feature.direction not in (1, -1, None) or isinstance(feature.direction, bool):
        raise feature.error(f"direction must be +1, -1 or None, got {feature.direction!r}")
    if not is_number(feature.weight) or isinstance(feature.weight, bool) or not is_weight(feature.weight):
        raise feature.error(f"weight must be a positive number, {WEIGHTS}, got {shown(feature.weight)}")
    if feature.step is not None and (
        not is_number(feature.step) or isinstance(feature.step, bool) or feature.step <= 0
    ):
        raise feature.error(f"step must be a positive number, got {feature.step!r}")
    _check_flags(feature)
    _check_values(feature)
    _check_limits(feature)
    _check_order(feature)


def _check_flags(feature: Feature) -> None:
    for name in ("may_rise", "may_fall", "fixed"):
        if not isinstance(getattr(feature, name), bool):
            raise feature.error(f"{name} must be True or False, got {getattr(feature, name)!r}")
    if feature.missing not in get_args(Missing):
        allowed = ", ".join(map(repr, get_args(Missing)))
        raise feature.error(f"missing must be one of {allowed}, or True or False, got {feature.missing!r}")
    for name in ("label", "unit", "description"):
        if not isinstance(getattr(feature, name), str):
            raise feature.error(f"{name} must be a text, got {getattr(feature, name)!r}")
    if feature.group is not None and (not isinstance(feature.group, str) or not feature.group):
        raise feature.error(f"group must be a name, got {feature.group!r}")


def _check_values(feature: Feature) -> None:
    for name in SEQUENCES:
        for value in getattr(feature, name):
            if not isinstance(value, (str, bool, int, float)):
                what = "use missing= for a missing value" if value is None else f"got {value!r}"
                raise feature.error(f"{name} must be numbers, strings or booleans; {what}")
        if len(set(getattr(feature, name))) < len(getattr(feature, name)):
            raise feature.error(f"{name} has a value twice: {getattr(feature, name)!r}")
    special = set(feature.special)  # lists may be long, and looking each code up in one takes quadratic time
    for name in ("may_become", "may_leave"):
        strangers = [code for code in getattr(feature, name) if code not in special]
        if strangers:
            raise feature.error(
                f"{name} has {strangers[0]!r}, which is not among its special codes {feature.special!r}"
            )


def _check_limits(feature: Feature) -> None:
    """Check the limits that depend on the row."""
    for name in ("max_rise", "max_fall", "lower_from", "upper_from"):
        given = getattr(feature, name)
        if given is None:
            continue
        if feature.kind == "categorical":
            problem = f"{name} needs an order, and a categorical feature has none"
            raise feature.error(f"{problem}; list what is allowed in options")
        if name.endswith("_from"):
            if not isinstance(given, str) or not given:
                raise feature.error(f"{name} must be the name of a column of the table, got {given!r}")
        elif feature.levels and (isinstance(given, bool) or not isinstance(given, int) or given < 0):
            raise feature.error(f"{name} counts levels here: expected a whole number such as 1, got {given!r}")
        elif read_room(given) is None:
            raise feature.error(
                f'{name} must be an amount of at least 0, such as 5000, or a share, such as "20 %", got {given!r}'
            )


def _check_order(feature: Feature) -> None:
    if feature.kind == "categorical":
        if feature.ordered:
            raise feature.error(
                "a categorical feature has no order, so no direction; "
                'give kind="ordinal" and its options from lowest to highest, or leave the direction out'
            )
        if feature.lower is not None or feature.upper is not None or feature.step is not None:
            raise feature.error("a categorical feature has no bounds and no step; list what is allowed in options")
    if feature.kind == "binary" and feature.options and set(feature.options) != {0, 1}:
        raise feature.error(f'the options of a binary feature are 0 and 1, got {feature.options!r}; use kind="ordinal"')
    if feature.kind in ("numeric", "integer") and feature.ordered and feature.options:
        raise feature.error(
            "options are for features without direction; codes outside the order go to special and may_become"
        )
    if feature.levels:
        _check_levels(feature)
    else:
        _check_scale(feature)


def _check_levels(feature: Feature) -> None:
    for name in ("lower", "upper"):
        bound = getattr(feature, name)
        if bound is not None and bound not in feature.levels:
            raise feature.error(f"{name} must be one of its values {feature.levels!r}, got {bound!r}")
    least, most = level_range(feature)
    if least > most:
        raise feature.error(f"lower is above upper: {feature.lower!r} > {feature.upper!r}")
    levels = set(feature.levels)
    inside = [code for code in feature.special if code in levels]
    if inside:
        raise feature.error(f"{inside[0]!r} is both a special code and one of its values")


def _check_scale(feature: Feature) -> None:
    for name in ("lower", "upper"):
        bound = getattr(feature, name)
        if bound is not None and (not is_number(bound) or isinstance(bound, bool)):
            raise feature.error(f"{name} must be a finite number, got {shown(bound)}")
        if bound is not None and feature.kind == "integer" and bound != int(bound):
            raise feature.error(f"{name} of an integer feature must be a whole number, got {shown(bound)}")
        # The values of a path are floats: a bound that no float equals could not be reached.
        if bound is not None and feature.kind != "integer" and float(bound) != bound:
            raise feature.error(
                f"{name} of a feature of kind {feature.kind!r} must be a number that a float holds, got "
                f'{shown(bound)}; give {float(bound)!r}, or kind="integer" for whole numbers of this size'
            )
    if feature.kind == "integer" and feature.step is not None and feature.step != int(feature.step):
        raise feature.error(f"the step of an integer feature must be a whole number, got {feature.step!r}")
    if feature.ordered and not feature.fixed and (feature.lower is None or feature.upper is None):
        raise feature.error("a feature with a direction needs lower and upper: how far may it move?")
    if feature.lower is not None and feature.upper is not None and feature.lower > feature.upper:
        raise feature.error(f"lower is above upper: {shown(feature.lower)} > {shown(feature.upper)}")
    _check_step(feature)
    # A path runs through all numbers between the bounds, so a code among them could be proposed as a value.
    if feature.ordered and not feature.fixed:
        inside = [code for code in feature.special if is_number(code) and feature.lower <= code <= feature.upper]
        if inside:
            raise feature.error(
                f"the special code {inside[0]!r} lies between its bounds {feature.lower!r} and {feature.upper!r}; "
                "choose bounds without it"
            )


def step_of(feature: Feature) -> float | None:
    """Return the step of a feature: its own, 1 where only whole numbers make sense, or None."""
    return feature.step or (None if feature.kind == "numeric" else 1)


def _check_step(feature: Feature) -> None:
    """Refuse a step of which no multiple lies between the bounds, or more than can be counted."""
    step = step_of(feature)
    if feature.fixed or not feature.ordered or step is None:
        return
    first, last = first_and_last(feature.lower, feature.upper, step)
    if first > last:
        lower, upper = shown(feature.lower), shown(feature.upper)
        raise feature.error(
            f"no multiple of its step {show_step(step)} lies between its bounds {lower} and {upper}; "
            "give it a smaller step, or other bounds"
        )
    if last - first > MOST_STEPS:
        raise feature.error(
            f"there are more than {MOST_STEPS:,} steps of {show_step(step)} between its bounds; give it a larger "
            "step, or nearer bounds"
        )


def level_range(feature: Feature) -> tuple[int, int]:
    """Return the positions of the lowest and the highest level that the feature may move to."""
    levels = feature.levels
    least = 0 if feature.lower is None else levels.index(feature.lower)
    most = len(levels) - 1 if feature.upper is None else levels.index(feature.upper)
    return least, most
