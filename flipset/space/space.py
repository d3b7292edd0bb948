"""`Space`: what may change in the rows of a table, and how far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.space.feature import Feature, read_pair
from flipset.space.files import read_json, read_toml, write_json, write_toml
from flipset.space.frame import read_table
from flipset.space.group import Group, check_members
from flipset.space.reference import Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flipset.space.feature import Value


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
    names
        The names of the columns.

    Examples
    --------
    >>> space = Space([Feature("income", direction=+1, lower=0, upper=90), Feature("age", fixed=True)])
    >>> space.names
    ('income', 'age')
    """

    features: tuple[Feature, ...]
    groups: tuple[Group, ...] = ()
    reference: Reference | None = field(default=None, compare=False, repr=False)
    names: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __init__(
        self, features: Iterable[Feature], groups: Iterable[Group] = (), reference: Reference | Any = None
    ) -> None:
        if isinstance(features, Feature) or not hasattr(features, "__iter__"):
            raise InputError(f"a space is made of a list of features, got {features!r}")
        # The class is frozen: its own constructor has to go around that.
        object.__setattr__(self, "features", tuple(features))
        object.__setattr__(self, "reference", None if reference is None else Reference.of(reference))
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
        steps: Mapping[str, float] | None = None,
        weights: Mapping[str, float] | None = None,
        groups: Mapping[str, Iterable[str]] | None = None,
        special: Mapping[str, Iterable[Value]] | None = None,
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
            The allowed range, (lower, upper), of some columns. None in a pair leaves that side to `quantiles`.
        quantiles
            The quantiles of the table that bound the columns not in `bounds`. By default (0, 1), the least and the
            greatest value seen.
        steps, weights
            For some columns, the step of the grid of values, and how much a change counts.
        groups
            Columns that move together, by the name of the group. Binary columns without direction are one-hot.
        special
            For some columns, the codes that are outside the order.
        """
        parts = read_table(
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
            steps=steps or {},
            weights=weights or {},
            groups=groups or {},
            special=special or {},
        )
        return cls(*parts)

    @classmethod
    def from_json(cls, text: str) -> Space:
        """Read a space that `to_json` has written."""
        return cls(*read_json(text))

    @classmethod
    def from_toml(cls, text: str) -> Space:
        """Read a space from TOML, the format that people edit."""
        return cls(*read_toml(text))

    def to_json(self) -> str:
        """Write the space as JSON."""
        return write_json(self.features, self.groups)

    def to_toml(self, notes: Mapping[str, str] | None = None) -> str:
        """Write the space as TOML, for people to review and edit; `notes` become comments at columns, by name."""
        return write_toml(self.features, self.groups, notes or {})

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

    def with_changes(self, fixed: Iterable[str] = (), bounds: Mapping[str, tuple[Any, Any]] | None = None) -> Space:
        """Return a copy of the space with further features held fixed and other bounds for some, as for one row."""
        if isinstance(fixed, str):
            raise InputError(f"fixed must be a list of names, got the string {fixed!r}")
        if fixed is not None and not hasattr(fixed, "__iter__"):
            raise InputError(f"fixed must be a list of names, got {fixed!r}")
        if bounds is not None and not hasattr(bounds, "items"):
            raise InputError(f"bounds must be a mapping from names to (lower, upper), got {bounds!r}")
        fixed = tuple(fixed or ())
        if not fixed and not bounds:
            return self
        changed = list(self.features)
        for name in fixed:
            # A group is fixed as a whole, by its name.
            for feature in self.members(name) or (self[name],):
                changed[self.position(feature.name)] = replace(feature, fixed=True)
        for name, pair in dict(bounds or {}).items():
            i = self.position(name)
            lower, upper = read_pair(name, pair)
            current = changed[i]
            changed[i] = replace(
                current,
                lower=current.lower if lower is None else lower,
                upper=current.upper if upper is None else upper,
            )
        return Space(changed, self.groups, self.reference)

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
