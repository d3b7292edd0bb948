"""Groups: columns that move together as one feature, and the checks that they can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flipset.errors import InputError
from flipset.space.row_limits import has_limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.space.feature import Feature


@dataclass(frozen=True, slots=True)
class Group:
    """Columns that move together, as one feature.

    Attributes
    ----------
    name
        The name of the group, as the columns give it in `Feature.group`.
    one_hot
        True if exactly one of the columns is 1 at any time. Otherwise each column moves to its own best value.
    may_be_empty
        For one-hot columns: whether all of them may be 0, which stands for a level without a column of its own.
    label
        For people: what the group is called.
    """

    name: str
    one_hot: bool = False
    may_be_empty: bool = False
    label: str = ""


def check_members(group: Group, members: Sequence[Feature]) -> None:
    """Refuse columns that cannot move as one feature."""
    fixed = [feature.name for feature in members if feature.fixed]
    if fixed and len(fixed) < len(members):
        moving = next(feature.name for feature in members if not feature.fixed)
        raise InputError(
            f"group {group.name!r} moves as one, but {fixed[0]!r} is fixed and {moving!r} is not: fix all or none"
        )
    if not group.one_hot:
        if group.may_be_empty:
            raise InputError(f"group {group.name!r}: may_be_empty is for one-hot groups")
        return
    for feature in members:
        if feature.kind != "binary" or feature.ordered:
            raise InputError(
                f"group {group.name!r} is one-hot, so its columns must be binary without direction; "
                f"{feature.name!r} is {feature.kind} with direction {feature.direction!r}"
            )
        if has_limits(feature):
            raise InputError(
                f"group {group.name!r} is one-hot, so {feature.name!r} has no amounts to limit: "
                "leave out max_rise, max_fall, lower_from and upper_from"
            )
    # A change of level sets two columns, so it is not clear which of two weights would count.
    if len({feature.weight for feature in members}) > 1:
        raise InputError(f"group {group.name!r}: the columns of a one-hot group must have one weight")
