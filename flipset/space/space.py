"""`Space`: what may change in the rows of a table, and how far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from flipset.errors import InputError
from flipset.space.changes import held_names, hold, limit, refuse_computed
from flipset.space.feature import Feature
from flipset.space.files import read_json, read_toml, write_json, write_toml
from flipset.space.frame import read_table
from flipset.space.group import Group, check_members
from flipset.space.reference import Reference
from flipset.space.row_limits import own_columns
from flipset.space.rules import SpaceRules, read_rules
from flipset.space.words import Decision, FeatureWords, Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flipset.space.computed_columns import ComputedColumns, Function
    from flipset.space.feature import Value
    from flipset.space.words import NumberFormat, NumberType


@dataclass(frozen=True, slots=True)
class Space:
    """The features of a table, in the order of its columns.

    Attributes
    ----------
    features
        One feature for each column that the model takes.
    groups
        The groups that the features name. A group that is left out here is one-hot if it has several columns and all
        of them are binary without direction.
    reference
        The table that the space was read from, if any. It gives the population for costs, the grids of values, and the
        types of the columns. It is not written to files.
    decision
        The threshold and the words for the decision that the score leads to.
    names
        The names of the columns.
    words
        What people call the columns, the groups, the score and the outcomes.
    own_columns
        The columns of a table that have bounds of each row's own, as features name them.
    constraints
        Rules between columns that every suggested row keeps, such as "late_90 <= late_60".
    derived
        Columns that are computed from others before the model sees a row: formulas such as "debt / income", or
        functions of a row's other columns.
    follows
        Columns that change because others do: formulas such as "age + (years - years.before)".
    rules
        Constraints and formulas as they were read; None where there are none.

    Examples
    --------
    >>> space = Space([Feature("income", direction=+1, lower=0, upper=90), Feature("age", fixed=True)])
    >>> space.names
    ('income', 'age')
    """

    features: tuple[Feature, ...]
    groups: tuple[Group, ...] = ()
    reference: Reference | None = field(default=None, compare=False, repr=False)
    decision: Decision = field(default_factory=Decision)
    names: tuple[str, ...] = field(init=False, compare=False, repr=False)
    words: Words = field(init=False, compare=False, repr=False)
    own_columns: tuple[str, ...] = field(init=False, compare=False, repr=False)
    constraints: tuple[str, ...] = ()
    derived: Mapping[str, str | Function] = field(default_factory=dict, hash=False)
    follows: Mapping[str, str] = field(default_factory=dict, hash=False)
    rules: SpaceRules | None = field(init=False, compare=False, repr=False)

    def __init__(
        self,
        features: Iterable[Feature],
        groups: Iterable[Group] = (),
        reference: Reference | Any = None,
        decision: Decision | None = None,
        *,
        constraints: Iterable[str] = (),
        derived: Mapping[str, str | Function] | None = None,
        follows: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(features, Feature) or not hasattr(features, "__iter__"):
            raise InputError(f"a space is made of a list of features, got {features!r}")
        # The class is frozen: its own constructor has to go around that.
        object.__setattr__(self, "features", tuple(features))
        object.__setattr__(self, "reference", None if reference is None else Reference.of(reference))
        if decision is not None and not isinstance(decision, Decision):
            raise InputError(f"decision must be a flipset.Decision, got {decision!r}")
        object.__setattr__(self, "decision", decision or Decision())
        for group in groups:
            if not isinstance(group, Group):
                raise InputError(f"groups must be flipset.Group objects, got {group!r}")
        for item in self.features:
            if not isinstance(item, Feature):
                raise InputError(f"a space is made of features, got {type(item).__name__}: {item!r}")
        if not self.features:
            raise InputError("a space needs at least one feature")
        object.__setattr__(self, "names", tuple(feature.name for feature in self.features))
        twice = _first_twice(self.names)
        if twice is not None:
            raise InputError(f"two features are called {twice!r}; names must differ")
        object.__setattr__(self, "groups", self._complete(tuple(groups)))
        object.__setattr__(self, "words", self._words())
        object.__setattr__(self, "own_columns", own_columns(self.features))
        rules = read_rules(self.features, constraints, derived or {}, follows or {}, self.reference)
        object.__setattr__(self, "rules", rules)
        object.__setattr__(self, "constraints", () if rules is None else tuple(one.text for one in rules.constraints))
        object.__setattr__(self, "derived", dict(derived or {}))
        object.__setattr__(self, "follows", dict(follows or {}))

    def _like(self, **changes: Any) -> Space:
        """Return a copy of the space with some parts replaced."""
        parts: dict[str, Any] = {
            "features": self.features, "groups": self.groups, "reference": self.reference, "decision": self.decision,
            "constraints": self.constraints, "derived": self.derived, "follows": self.follows,
        }  # fmt: skip
        return Space(**(parts | changes))

    @property
    def computed(self) -> ComputedColumns | None:
        """The columns that are computed from others; None where there are none."""
        return None if self.rules is None else self.rules.computed

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        increasing: Iterable[str] = (),
        decreasing: Iterable[str] = (),
        fixed: Iterable[str] = (),
        categorical: Iterable[str] | Mapping[str, Sequence[Value]] = (),
        ordinal: Mapping[str, Sequence[Value]] | None = None,
        only_rising: Iterable[str] = (),
        only_falling: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        quantiles: tuple[float, float] = (0.0, 1.0),
        steps: Mapping[str, float | Literal["seen"]] | Literal["seen"] | None = None,
        weights: Mapping[str, float] | None = None,
        groups: Mapping[str, Iterable[str]] | None = None,
        special: Mapping[str, Iterable[Value]] | None = None,
        labels: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        descriptions: Mapping[str, str] | None = None,
        value_labels: Mapping[str, Mapping[Value, str]] | None = None,
        number_formats: Mapping[str, NumberFormat] | None = None,
        decision: Decision | None = None,
        constraints: Iterable[str] = (),
        derived: Mapping[str, str | Function] | None = None,
        follows: Mapping[str, str] | None = None,
    ) -> Space:
        """Read a space from a pandas, polars or Arrow frame that has exactly the columns that the model takes.

        Parameters
        ----------
        table
            The training table, or one like it.
        increasing, decreasing
            Columns whose higher values raise, or lower, the score. All other columns are held fixed, except those in
            `categorical` and in one-hot `groups`.
        fixed
            Columns to hold fixed, whatever the other arguments say.
        categorical
            Columns without an order. As a list: each may take any value seen in the table. As a mapping: any of the
            values given.
        ordinal
            Columns of labels that have an order, each with its labels from lowest to highest. List these columns in
            `increasing` or `decreasing` as well.
        only_rising, only_falling
            Columns that can move one way only: an age does not fall.
        bounds
            The allowed range, (lower, upper), of some columns. None in a pair leaves that side to `quantiles`. The name
            of a column of tables stands for each row's own bound, which that column has.
        quantiles
            The quantiles of the table that bound the columns not in `bounds`. By default (0, 1), the least and the
            greatest value seen.
        steps
            For some columns, the step of the grid of values. The other columns get a step from the table: 1, 2 or 5
            times a power of ten, so that values can be told to people. "seen" instead of a step, or of all steps, takes
            the values seen in the table as the grid.
        weights
            For some columns, how much a change counts.
        groups
            Columns that move together, by the name of the group. Binary columns without direction are one-hot.
        special
            For some columns, the codes that are outside the order. Under "*", codes for all other columns that hold
            numbers.
        labels, units, descriptions, value_labels, number_formats
            What people call some columns, groups and values, as `Feature` has it. If these are left out, entries of
            the same names in the `attrs` of a pandas frame are used.
        decision
            The threshold, and the words for the decision that the score leads to.
        constraints, derived, follows
            Rules between columns, and columns that are computed from others, as `Space` has them.
        """
        features, named, reference = read_table(
            table,
            increasing=increasing,
            decreasing=decreasing,
            fixed=fixed,
            categorical=categorical,
            ordinal=ordinal or {},
            only_rising=only_rising,
            only_falling=only_falling,
            bounds=bounds or {},
            quantiles=quantiles,
            steps={} if steps is None else steps,
            weights=weights or {},
            groups=groups or {},
            special=special or {},
            words={
                "labels": labels or {},
                "units": units or {},
                "descriptions": descriptions or {},
                "value_labels": value_labels or {},
                "number_formats": number_formats or {},
            },
        )
        rules: dict[str, Any] = {"constraints": constraints, "derived": derived, "follows": follows}
        return cls(features, named, reference, decision, **rules)

    @classmethod
    def from_json(cls, text: str) -> Space:
        """Read a space that `to_json` has written."""
        return cls(**read_json(text))

    @classmethod
    def from_toml(cls, text: str) -> Space:
        """Read a space from TOML, the format that people edit."""
        return cls(**read_toml(text))

    def to_json(self) -> str:
        """Write the space as JSON."""
        return write_json(self)

    def to_toml(self, notes: Mapping[str, str] | None = None, hints: Mapping[str, Sequence[str]] | None = None) -> str:
        """Write the space as TOML, for people to review and edit.

        `notes` become comments at columns, by name, and `hints` lines that are commented out.
        """
        return write_toml(self, notes, hints)

    @property
    def table_columns(self) -> tuple[str, ...]:
        """The columns that a table needs: those that the model takes, and those with bounds of each row's own."""
        return tuple(dict.fromkeys((*self.names, *self.own_columns)))

    def __getitem__(self, name: str) -> Feature:
        """Return the feature of this name."""
        return self.features[self.position(name)]

    def position(self, name: str) -> int:
        """Return the position of a feature among the columns."""
        for i, feature in enumerate(self.features):
            if feature.name == name:
                return i
        raise InputError(f"there is no feature {name!r}; the features are {', '.join(map(repr, self.names))}")

    def seen(self, name: str) -> list[float]:
        """Return the numbers that a column of the reference holds, ascending."""
        if self.reference is None or name not in self.names or self[name].levels:
            return []
        return self.reference.scale(self[name])

    def members(self, group: str) -> tuple[Feature, ...]:
        """Return the columns of a group."""
        return tuple(feature for feature in self.features if feature.group == group)

    def with_changes(
        self,
        fixed: Iterable[str] = (),
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        *,
        within: Iterable[str] | None = None,
        max_rise: Mapping[str, Any] | None = None,
        max_fall: Mapping[str, Any] | None = None,
        constraints: Iterable[str] = (),
    ) -> Space:
        """Return a copy of the space with further limits, as for one row; `Explainer.explain` says what they mean.

        `constraints` are added to those that the space has.
        """
        changed = hold(self.features, held_names(self.features, fixed, within))
        changed = limit(changed, bounds, max_rise, max_fall)
        if self.computed is not None:
            named = {"fixed": fixed, "bounds": bounds, "max_rise": max_rise, "max_fall": max_fall}
            refuse_computed(self.computed, named)
        is_list = not isinstance(constraints, str) and hasattr(constraints, "__iter__")
        # The space itself refuses what is not a list.
        rules = tuple(dict.fromkeys((*self.constraints, *constraints))) if is_list else constraints
        is_same = all(one is other for one, other in zip(changed, self.features, strict=True))
        return self if is_same and rules == self.constraints else self._like(features=changed, constraints=rules)

    def with_reference(self, reference: Reference | Any) -> Space:
        """Return a copy of the space with another table as its reference."""
        return self._like(reference=reference)

    def with_decision(self, decision: Decision) -> Space:
        """Return a copy of the space with this decision."""
        return self._like(decision=decision)

    def _words(self) -> Words:
        # Columns that are called by their names are left out: explanations carry the words, and should stay small.
        named: dict[str, FeatureWords] = {}
        for feature in self.features:
            narrow = None if self.reference is None else self.reference.float_type(feature.name)
            words = feature.words
            if narrow is not None:
                words = replace(words, number_type=cast("NumberType", narrow.name))
            if words != FeatureWords(feature.name):
                named[feature.name] = words
        named |= {group.name: FeatureWords(group.label) for group in self.groups if group.label}
        # People tell columns apart by their labels alone.
        names = [*self.names, *(group.name for group in self.groups)]
        twice = _first_twice(named[name].label if name in named else name for name in names)
        if twice is not None:
            raise InputError(f"two features or groups are labelled {twice!r}; labels must differ")
        return Words(replace(self.decision, threshold=None), named)

    def without_words(self) -> Space:
        """Return the space with names alone: what it allows, and nothing that only people read."""
        plain = [
            replace(one, label="", unit="", description="", value_labels=(), number_format="plain")
            for one in self.features
        ]
        groups = [replace(group, label="") for group in self.groups]
        return self._like(features=plain, groups=groups, decision=None)

    def _complete(self, given: tuple[Group, ...]) -> tuple[Group, ...]:
        by_name = {group.name: group for group in given}
        if len(by_name) < len(given):
            raise InputError(f"the group {_first_twice([group.name for group in given])!r} is given twice")
        named = dict.fromkeys(feature.group for feature in self.features if feature.group is not None)
        for name in by_name:
            if name not in named:
                raise InputError(f"group {name!r} has no columns: no feature names it")
        members_of: dict[str, list[Feature]] = {}  # in one pass: there may be thousands of groups
        for feature in self.features:
            if feature.group is not None:
                members_of.setdefault(feature.group, []).append(feature)
        groups = []
        for name in named:
            members = members_of[name]
            # A group that is only named by its columns is taken to be one-hot where it can be.
            plain = all(feature.kind == "binary" and not feature.ordered for feature in members)
            group = by_name.get(name, Group(name, one_hot=plain and len(members) > 1))
            check_members(group, members)
            groups.append(group)
        taken = set(self.names)
        for group in groups:
            if group.name in taken:
                raise InputError(f"group {group.name!r} has the name of a column; give it another")
        return tuple(groups)


def _first_twice(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
