"""Further limits on a space: what is held fixed, what alone may change, and how far."""

from typing import Any

import pytest

from flipset import Feature, Group, InputError, Space
from flipset.space.changes import held_names, hold, limit
from tests.ruled import CONSTRAINTS, ruled_space

FEATURES = [
    Feature("a", "integer", direction=+1, lower=0, upper=9),
    Feature("b", "integer", direction=+1, lower=0, upper=9),
    Feature("p", "binary", group="g"),
    Feature("q", "binary", group="g"),
]
SPACE = Space(FEATURES, [Group("g", one_hot=True)])


def test_what_is_not_within_is_held() -> None:
    assert held_names(FEATURES, ["a"], None) == ["a"]
    assert held_names(FEATURES, [], ["b", "g"]) == ["a"]
    assert held_names(FEATURES, ["b"], ["b"]) == ["b", "a", "g"]
    assert held_names(FEATURES, [], []) == ["a", "b", "g"]
    assert [one.name for one in hold(FEATURES, ["g"]) if one.fixed] == ["p", "q"]


def test_limits_replace_those_of_the_feature() -> None:
    a, b, *_ = limit(FEATURES, {"a": (None, 5), "b": ("floor", None)}, {"a": "20 %"}, {"b": 3})
    assert (a.lower, a.upper, a.max_rise, a.max_fall) == (0, 5, "20 %", None)
    assert (b.lower, b.lower_from, b.max_rise, b.max_fall) == (0, "floor", None, 3)


def test_a_space_without_changes_is_the_same_object() -> None:
    assert SPACE.with_changes() is SPACE
    fixed = SPACE.with_changes(["a"])
    assert fixed.with_changes(["a"]) is fixed


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"within": ["p"]}, "within names 'p', a column of the group 'g', which moves as one: name the group"),
        ({"within": ["zzz"]}, "there is no feature 'zzz'; the features are 'a', 'b', 'p', 'q'"),
        ({"within": "a"}, "within must be a list of names, got the string 'a'"),
        ({"within": 3}, "within must be a list of names, got 3"),
        ({"fixed": ["zzz"]}, "there is no feature 'zzz'"),
        ({"max_rise": {"zzz": 3}}, "there is no feature 'zzz'"),
        ({"max_rise": [3]}, r"max_rise must be a mapping from names to amounts or shares, got \[3\]"),
        ({"bounds": {"zzz": (1, 2)}}, "there is no feature 'zzz'"),
        ({"max_fall": {"a": "much"}}, "feature 'a': max_fall must be an amount"),
        ({"max_rise": {"p": 1}}, "group 'g' is one-hot, so 'p' has no amounts to limit"),
    ],
)
def test_what_is_not_there_is_named(how: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SPACE.with_changes(**how)


def test_constraints_are_added() -> None:
    space = ruled_space()
    more = space.with_changes(constraints=["late_60 <= total", CONSTRAINTS[0]])
    assert more.constraints == (*CONSTRAINTS, "late_60 <= total")
    assert (more.derived, more.follows, more.reference) == (space.derived, space.follows, space.reference)
    assert space.with_changes(constraints=CONSTRAINTS) is space
    assert space.with_changes(["income"]).constraints == CONSTRAINTS
    assert SPACE.with_changes(constraints=["a <= b"]).rules is not None
    for wrong in ("a <= b", 3):
        with pytest.raises(InputError, match="constraints must be a list of texts"):
            SPACE.with_changes(constraints=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="there is no column 'c'"):
        SPACE.with_changes(constraints=["a <= c"])


@pytest.mark.parametrize(
    "how", [{"fixed": ["dti"]}, {"bounds": {"dti": (0, 0.4)}}, {"max_rise": {"dti": 0.1}}, {"max_fall": {"dti": 0.1}}]
)
def test_computed_columns_cannot_be_limited_by_themselves(how: dict[str, Any]) -> None:
    """They follow the other columns, so a limit would have no effect."""
    verb = "hold" if "fixed" in how else "limit"
    message = f"{next(iter(how))} names 'dti', which is computed from 'debt', 'income': {verb} these columns"
    with pytest.raises(InputError, match=message):
        ruled_space().with_changes(**how)
    assert ruled_space().with_changes(within=["dti", "income"])["debt"].fixed
