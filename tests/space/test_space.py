"""Spaces: what they are read from, what they are written to, and what they refuse."""

from typing import Any

import pandas as pd
import polars as pl
import pytest

from flipset import Feature, Group, InputError, Space

NUMBERS = {"income": [10.5, 20.0, 40.25, 90.0], "children": [0, 2, 1, 3], "owner": [True, False, True, True]}


def frames(**more: Any) -> list[Any]:
    return [pd.DataFrame({**NUMBERS, **more}), pl.DataFrame({**NUMBERS, **more})]


@pytest.mark.parametrize("frame", frames(job=["a", "b", "a", "c"]), ids=["pandas", "polars"])
def test_a_frame_says_what_is_not_said(frame: Any) -> None:
    space = Space.from_frame(
        frame, increasing=["income", "owner"], decreasing=["children"], categorical=["job"], fixed=["owner"]
    )
    assert space.names == ("income", "children", "owner", "job")
    assert space["income"] == Feature("income", direction=+1, lower=10.5, upper=90.0, step=0.2)
    assert space["children"] == Feature("children", "integer", direction=-1, lower=0, upper=3)
    assert space["owner"] == Feature("owner", "binary", direction=+1, fixed=True)
    assert space["job"] == Feature("job", "categorical", options=("a", "b", "c"))
    assert type(space["children"].upper) is int


def test_a_column_without_a_word_is_neither_ordered_nor_optional() -> None:
    space = Space.from_frame(frames(job=["a", "b", "a", "c"])[0])
    assert all(feature.direction is None and not feature.options for feature in space.features)


def test_bounds_at_quantiles_leave_special_codes_and_missing_values_out() -> None:
    frame = pd.DataFrame({"months": [-7, -7, 10, 20, 30, 40, 50], "ratio": [None, 0.1, 0.2, 0.3, 0.4, 0.5, None]})
    space = Space.from_frame(frame, increasing=["months", "ratio"], special={"months": [-7]}, quantiles=(0.25, 0.75))
    assert (space["months"].lower, space["months"].upper) == (20, 40)
    assert (space["ratio"].lower, space["ratio"].upper) == (0.2, 0.4)
    wider = Space.from_frame(frame, increasing=["months"], special={"months": [-7]}, bounds={"months": (None, 99)})
    assert (wider["months"].lower, wider["months"].upper) == (10, 99)


def test_one_hot_columns_are_seen_and_may_be_empty_if_they_were() -> None:
    frame = pd.DataFrame({"a": [1, 0, 0], "b": [0, 1, 0], "c": [0, 0, 1], "x": [1.0, 2.0, 3.0]})
    assert Space.from_frame(frame, groups={"job": ["a", "b", "c"]}).groups == (Group("job", one_hot=True),)
    assert Space.from_frame(frame, groups={"job": ["a", "b"]}).groups == (Group("job", True, may_be_empty=True),)
    linked = Space.from_frame(frame, groups={"both": ["a", "x"]}, increasing=["a", "x"])
    assert linked.groups == (Group("both"),)


@pytest.mark.parametrize("frame", frames(job=["a", "b", "a", "c"]), ids=["pandas", "polars"])
def test_files_give_the_same_space_back(frame: Any) -> None:
    space = Space.from_frame(
        frame,
        increasing=["income"],
        decreasing=["children"],
        categorical={"job": ["a", 'quoted "b"', "c\n\\ü"]},
        bounds={"income": (0, 120.5)},
        steps={"income": 0.5},
        weights={"children": 2.5},
        special={"children": [-7, -8]},
        only_rising=["children"],
    )
    assert Space.from_json(space.to_json()) == space
    assert Space.from_toml(space.to_toml()) == space
    hot = Space([Feature("a", "binary", group="g"), Feature("b", "binary", group="g")], [Group("g", True, True)])
    assert Space.from_json(hot.to_json()) == Space.from_toml(hot.to_toml()) == hot


def test_the_reference_keeps_types() -> None:
    frame = pd.DataFrame(
        {
            "kind": pd.Categorical(["x", "y", "x"], categories=["z", "y", "x"]),
            "n": pd.array([1, None, 3], dtype="Int64"),
            "small": pd.Series([1.0, 2.0, 3.0], dtype="float32"),
            "yes": [True, False, True],
        }
    )
    reference = Space.from_frame(frame).reference
    assert reference is not None
    made = reference.table([["y", "z"], [5, None], [0.5, 1.5], [True, False]])
    assert dict(made.dtypes) == dict(frame.dtypes)
    assert list(made["kind"].cat.categories) == ["z", "y", "x"]
    enum = pl.Enum(["low", "high"])
    like = pl.DataFrame({"e": pl.Series(["low", "high"], dtype=enum), "i": pl.Series([1, 2], dtype=pl.Int8)})
    reference = Space.from_frame(like).reference
    assert reference is not None
    assert reference.table([["high"], [3]]).schema == like.schema


def feature(**how: Any) -> Feature:
    return Feature("x", **how)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: feature(direction=1, lower=3, upper=2), "feature 'x': lower is above upper: 3 > 2"),
        (lambda: feature(direction=1), "needs lower and upper"),
        (lambda: feature(direction=2, lower=0, upper=1), r"direction must be \+1, -1 or None, got 2"),
        (lambda: feature(kind="number"), "kind must be one of numeric, integer, ordinal, binary, categorical"),
        (lambda: feature(kind="categorical", direction=1), "a categorical feature has no order, so no direction"),
        (lambda: feature(kind="categorical", lower=0), "no bounds and no step; list what is allowed in options"),
        (lambda: feature(kind="integer", direction=1, lower=0.5, upper=2), "must be a whole number, got 0.5"),
        (lambda: feature(kind="binary", options=("no", "yes")), "options of a binary feature are 0 and 1"),
        (lambda: feature(kind="ordinal", direction=1, options=("a", "b"), lower="c"), "one of its values"),
        (
            lambda: feature(kind="ordinal", direction=1, options=("a", "b"), lower="b", upper="a"),
            "lower is above upper",
        ),
        (lambda: feature(direction=1, lower=0, upper=1, options=(0, 1)), "options are for features without direction"),
        (lambda: feature(step=0), "step must be a positive number, got 0"),
        (lambda: feature(weight=-1), "weight must be a positive number, between 1e-100 and 1e100, got -1"),
        (lambda: feature(options="abc"), "options must be a sequence of values, got 'abc'"),
        (lambda: feature(options=("a", "a")), "options has a value twice"),
        (lambda: feature(may_become=(-7,)), "may_become has -7, which is not among its special codes"),
        (lambda: feature(lower=0, upper="a"), "upper must be a finite number, got 'a'"),
        (lambda: Feature(""), "name must be a string that is not empty"),
        (lambda: Space([]), "at least one feature"),
        (
            lambda: Space(["income"]),  # type: ignore[list-item]
            "made of features, got str",
        ),
        (lambda: Space([feature(), feature()]), "two features are called 'x'"),
        (lambda: Space([feature()], [Group("g")]), "group 'g' has no columns"),
        (lambda: Space([feature(group="g"), Feature("y", fixed=True, group="g")]), "fix all or none"),
        (lambda: Space([feature(group="x")]), "has the name of a column"),
        (lambda: Space([feature(group="g")], [Group("g", one_hot=True)]), "must be binary without direction"),
        (lambda: Space([feature(group="g")], [Group("g", may_be_empty=True)]), "may_be_empty is for one-hot groups"),
        (lambda: Space([feature()])["y"], "there is no feature 'y'; the features are 'x'"),
        (lambda: Space([feature()]).with_changes(fixed="x"), "fixed must be a list of names, got the string 'x'"),
        (
            lambda: Space([feature()]).with_changes(bounds={"x": 3}),  # type: ignore[dict-item]
            r"must be a pair \(lower, upper\), got 3",
        ),
        (lambda: Space.from_json("{"), "must be JSON"),
        (lambda: Space.from_toml("feature"), "must be TOML"),
        (lambda: Space.from_json("{}"), 'must say format = "flipset-space/1"'),
        (
            lambda: Space.from_toml('format = "flipset-space/1"\n[[feature]]\nname = "x"\nupperr = 1'),
            r"feature\['x'\] has 'upperr', which is not one of its fields name, kind",
        ),
        (lambda: Space.from_toml('format = "flipset-space/1"\n[[feature]]\nkind = "binary"'), "has no 'name'"),
    ],
)
def test_bad_spaces_are_refused_with_reasons(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [0, 1], "c": [1, 1], "t": ["x", "y"]})


@pytest.mark.parametrize(
    ("frame", "how", "message"),
    [
        (FRAME.iloc[:0], {}, "the frame is empty: 0 rows, 4 columns"),
        ([[1, 2]], {}, "expected a frame"),
        (
            FRAME,
            {"increasing": ["z"]},
            "increasing names 'z', which is not a column; the columns are 'a', 'b', 'c', 't'",
        ),
        (FRAME, {"increasing": ["a"], "decreasing": ["a"]}, "'a' is in both increasing and decreasing"),
        (FRAME, {"increasing": "a"}, "increasing must be a list of column names, got the string 'a'"),
        (FRAME, {"increasing": ["t"]}, "a categorical feature has no order"),
        (FRAME, {"groups": {"g": ["a", "b"], "h": ["b"]}}, "column 'b' is in the groups 'g' and 'h'"),
        (FRAME, {"bounds": {"a": 1}}, r"bounds\['a'\] must be a pair"),
        (FRAME, {"quantiles": (0.9, 0.1)}, "quantiles must be a pair such as"),
        (pd.DataFrame({"a": [1, 0, 1], "b": [0, 1, 1]}), {"groups": {"g": ["a", "b"]}}, "row 2 has 2 ones"),
        (pd.DataFrame({"a": [None, None]}, dtype="float"), {"increasing": ["a"]}, "no values to read bounds from"),
    ],
)
def test_bad_frames_are_refused_with_reasons(frame: Any, how: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Space.from_frame(frame, **how)
