"""Columns that move together must fit together."""

import pytest

from flipset import Feature, InputError, Space
from flipset.space.group import Group, check_members

ORDERED = Feature("a", "integer", direction=+1, lower=0, upper=9, group="g")
BIT = Feature("b", "binary", group="g")


@pytest.mark.parametrize(
    ("group", "members", "message"),
    [
        (Group("g"), [ORDERED, Feature("c", fixed=True, group="g")], "'c' is fixed and 'a' is not: fix all or none"),
        (Group("g", may_be_empty=True), [ORDERED], "may_be_empty is for one-hot groups"),
        (Group("g", one_hot=True), [BIT, ORDERED], "must be binary without direction; 'a' is integer with direction 1"),
        (Group("g", one_hot=True), [BIT, Feature("c", "binary", weight=2, group="g")], "must have one weight"),
    ],
)
def test_what_cannot_move_as_one_is_refused(group: Group, members: list[Feature], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_members(group, members)


def test_what_can_is_taken() -> None:
    check_members(Group("g"), [ORDERED, Feature("c", "binary", direction=-1, group="g")])
    check_members(Group("g", one_hot=True, may_be_empty=True), [BIT, Feature("c", "binary", group="g")])
    check_members(Group("g"), [Feature(name, fixed=True, group="g") for name in "xy"])  # all of them are fixed


def test_a_group_that_is_only_named_is_one_of_linked_columns() -> None:
    space = Space([ORDERED, Feature("c", "binary", direction=-1, group="g")])
    assert [(group.name, group.one_hot) for group in space.groups] == [("g", False)]
