"""The features and groups of a table: what is not said is seen."""

from typing import Any

import pandas as pd
import pytest

from flipset import InputError, Space
from flipset.space.frame import MOST_CATEGORIES

TABLE = pd.DataFrame(
    {
        "income": [10.5, 20.0, None, 90.0, 40.0],
        "late": [0, 3, -7, 1, 9],
        "flag": [True, False, True, True, False],
        "job": ["a", "b", "a", "c", None],
    }
)


def test_kinds_and_bounds_are_seen() -> None:
    space = Space.from_frame(TABLE, increasing=["income", "flag"], decreasing=["late"], special={"late": [-7]})
    income, late, flag, job = space.features
    assert (income.kind, income.direction, income.lower, income.upper) == ("numeric", 1, 10.5, 90.0)
    assert (late.kind, late.direction, late.lower, late.upper, late.special) == ("integer", -1, 0, 9, (-7,))
    assert (flag.kind, flag.direction) == ("binary", 1)
    assert not job.ordered
    assert not job.options  # nobody said that it may change


def test_what_is_said_counts_more_than_what_is_seen() -> None:
    space = Space.from_frame(
        TABLE,
        increasing=["income"],
        bounds={"income": (0, 100)},
        steps={"income": 5},
        weights={"income": 2},
        categorical=["job"],
        only_rising=["income"],
        fixed=["late"],
    )
    income, late, _, job = space.features
    assert (income.lower, income.upper, income.step, income.weight, income.may_fall) == (0, 100, 5, 2, False)
    assert late.fixed
    assert job.options == ("a", "b", "c")


def test_a_column_of_many_texts_is_no_category() -> None:
    many = pd.DataFrame({"a": range(MOST_CATEGORIES + 1), "name": [f"n{i}" for i in range(MOST_CATEGORIES + 1)]})
    with pytest.raises(InputError, match="name"):
        Space.from_frame(many, increasing=["a"], categorical=["name"])
    listed = Space.from_frame(many, increasing=["a"], categorical={"name": ["n1", "n2"]})
    assert listed.features[1].options == ("n1", "n2")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"increasing": ["wages"]}, "wages"),
        ({"increasing": ["income"], "decreasing": ["income"]}, "income"),
        ({"increasing": ["job"]}, "job"),
        ({"increasing": ["income"], "bounds": {"income": 3}}, "pair"),
        ({"increasing": ["income"], "quantiles": (0.9, 0.1)}, "quantiles"),
        ({"increasing": "income"}, "increasing"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(how: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Space.from_frame(TABLE, **how)


def test_quantiles_are_bounds_that_were_seen() -> None:
    table = pd.DataFrame({"x": list(range(101))})
    (feature,) = Space.from_frame(table, increasing=["x"], quantiles=(0.05, 0.95)).features
    assert (feature.lower, feature.upper) == (5, 95)


def test_codes_for_all_columns_are_those_of_columns_that_are_not_named() -> None:
    table = pd.DataFrame(
        {
            "months": [4, -7, 60, -9],
            "rate": [0.5, 2.5, -9.0, 1.0],
            "balance": [-120, -9, 40, 300],
            "grade": [-7, 1, 2, 1],
            "flag": [True, False, True, True],
            "home": ["own", "rent", -9, "own"],
            "owner": [0, 1, -8, 1],
        }
    )
    given: dict[str, Any] = {
        "increasing": ["months", "balance", "owner", "grade"],
        "decreasing": ["rate"],
        "categorical": ["home"],
        "ordinal": {"grade": [-7, 1, 2]},
    }
    space = Space.from_frame(table, special={"*": [-7, -8, -9], "balance": []}, quantiles=(0, 1), **given)
    codes = (-7, -8, -9)
    assert {one.name: one.special for one in space.features} == {
        "months": codes, "rate": codes, "balance": (), "grade": (-8, -9), "flag": (), "home": (-9,), "owner": codes,
    }  # fmt: skip
    assert (space["months"].lower, space["rate"].lower, space["balance"].lower) == (4, 0.5, -120)
    assert (space["owner"].kind, space["home"].options) == ("binary", ("own", "rent"))
    with pytest.raises(
        InputError, match=r"special\['\*'\] has -7, which lies between the bounds -120 and 300 of 'balance'"
    ):
        Space.from_frame(table, special={"*": [-7, -8, -9]}, **given)


def test_bounds_may_come_from_a_column() -> None:
    table = pd.DataFrame({"income": [10, 50, 90]})
    income = Space.from_frame(table, increasing=["income"], bounds={"income": (20, "most")})["income"]
    assert (income.lower, income.upper, income.lower_from, income.upper_from) == (20, 90, None, "most")
