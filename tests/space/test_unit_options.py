"""What one unit may become."""

from typing import Any

import pytest

from flipset.errors import InputError
from flipset.space import Feature, Group, Space
from flipset.space.unit_options import Option, in_order, joint_options, one_hot_options


def members(space: Space) -> list[tuple[int, Feature]]:
    return list(enumerate(space.features))


def ends(options: list[Option]) -> list[Any]:
    return [option.end for option in options]


def test_an_ordered_column_has_one_option() -> None:
    space = Space([Feature("a", "integer", direction=1, lower=0, upper=9)])
    options, ordered = joint_options(members(space), (4,), raise_score=True, space=space)
    assert (ends(options), ordered) == ([((0, 9),)], True)
    options, ordered = joint_options(members(space), (4,), raise_score=False, space=space)
    assert (ends(options), ordered) == ([((0, 0),)], True)


def test_linked_columns_have_every_combination_but_that_of_staying() -> None:
    space = Space(
        [
            Feature("a", "integer", direction=1, lower=0, upper=9, group="both"),
            Feature("b", "categorical", options=("x", "y"), group="both"),
        ]
    )
    options, ordered = joint_options(members(space), (4, "x"), raise_score=True, space=space)
    assert not ordered
    assert [in_order(end) for end in ends(options)] == [((0, 9),), ((0, 9), (1, "y"))]


def test_too_many_combinations_are_refused() -> None:
    options = tuple(f"v{i}" for i in range(400))
    space = Space([Feature(name, "categorical", options=options, group="g") for name in "ab"])
    with pytest.raises(InputError, match="group 'g' has 160,000 combinations of the options of 'a', 'b'"):
        joint_options(members(space), ("v0", "v0"), raise_score=True, space=space)


def test_one_hot_columns_hand_the_one_on() -> None:
    space = Space([Feature(name, "binary", group="home") for name in ("rent", "own")])
    options, ordered = one_hot_options(Group("home", one_hot=True), members(space), (1, 0), space)
    assert (ends(options), ordered) == ([((0, 0), (1, 1))], False)
    options, _ = one_hot_options(Group("home", one_hot=True, may_be_empty=True), members(space), (1, 0), space)
    assert ends(options) == [((0, 0), (1, 1)), ((0, 0),)]


def test_cells_come_in_the_order_of_columns() -> None:
    assert in_order([(2, "c")], [(0, "a"), (1, "b")]) == ((0, "a"), (1, "b"), (2, "c"))
