"""A table the model was made for: its population, counted, and its types, kept."""

import pickle
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from flipset import Feature, InputError
from flipset.space.reference import Reference, read_frame

COLUMNS = {"x": [3, 1, 2, 2, -7], "y": [0.5, None, 1.5, 0.5, 2.5], "name": ["a", "b", None, "a", "c"]}
FRAMES = [pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS)]
EACH = pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars"])


@EACH
def test_the_population_is_of_ordinary_values_in_order(frame: Any) -> None:
    reference = Reference.of(frame)
    assert reference.scale(Feature("x", "integer", direction=+1, lower=0, upper=9, special=(-7,))) == [1, 2, 2, 3]
    assert reference.scale(Feature("x", "integer", direction=+1, lower=0, upper=9)) == [-7, 1, 2, 2, 3]
    assert reference.scale(Feature("y", direction=+1, lower=0, upper=9)) == [0.5, 0.5, 1.5, 2.5]
    levels = Feature("name", "ordinal", direction=+1, options=("c", "b", "a"))
    assert reference.scale(levels) == [0, 1, 2, 2]
    assert reference.scale(Feature("elsewhere", direction=+1, lower=0, upper=1)) == []


def test_counts_are_those_of_a_list() -> None:
    rng = Random(1)
    feature = Feature("x", direction=+1, lower=0, upper=9)
    seen = [rng.choice([0.0, 0.5, 1.0, 7.25]) for _ in range(40)]
    reference = Reference.of(pd.DataFrame({"x": seen}))
    values = [rng.uniform(-1, 8) for _ in range(20)] + [0.5, 7.25]
    assert reference.counts(feature, values, included=True) == [sum(one <= v for one in seen) for v in values]
    assert reference.counts(feature, values, included=False) == [sum(one < v for one in seen) for v in values]


def test_points_are_all_values_or_so_many_quantiles_of_them() -> None:
    feature = Feature("x", direction=+1, lower=0, upper=2_000)
    reference = Reference.of(pd.DataFrame({"x": [float(i) for i in range(1_001)] * 2}))
    points, complete = reference.points(feature, 2_000)
    assert (len(points), complete) == (1_001, True)
    points, complete = reference.points(feature, 11)
    assert (points, complete) == ([float(i) for i in range(0, 1_001, 100)], False)


@EACH
def test_a_table_of_the_same_types_is_made_of_columns(frame: Any) -> None:
    reference = Reference.of(frame)
    made = reference.table([[1, 2], [0.5, None], ["a", None]])
    assert type(made) is type(frame)
    assert list(made.columns) == list(frame.columns)
    assert [str(kind) for kind in made.dtypes] == [str(kind) for kind in frame.dtypes]


def test_a_reference_travels_as_its_frame() -> None:
    again = pickle.loads(pickle.dumps(Reference.of(FRAMES[0])))
    assert again.names == ("x", "y", "name")
    pd.testing.assert_frame_equal(again.frame.to_native(), FRAMES[0])
    assert Reference.of(again) is again


def test_narrow_floats_are_known() -> None:
    frame = pd.DataFrame({"a": np.array([1], dtype=np.float32), "b": [1.0], "c": pd.array([1.0], dtype="Float32")})
    reference = Reference.of(frame)
    assert [str(reference.float_type(name)) for name in "abcd"] == ["float32", "None", "float32", "None"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2]], "expected a frame .* got builtins.list"),
        (pd.DataFrame({0: [1]}), "column names must be strings, got 0"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "column names must differ"),
    ],
)
def test_what_is_no_frame_is_refused(table: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_frame(table)


def test_an_empty_frame_says_nothing() -> None:
    with pytest.raises(InputError, match="the frame is empty: 0 rows"):
        Reference.of(pd.DataFrame({"a": []}))
