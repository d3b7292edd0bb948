"""A table kept as columns gives the rows that are read one by one, whatever it is made of."""

from datetime import date
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from flipset import InputError
from flipset.space import identity
from flipset.space.reference import Reference
from flipset.space.rows import Row, read_rows
from flipset.space.table_rows import TableRows, read_table

NAMES = ("a", "b", "c")

FRAMES: dict[str, Any] = {
    "numbers": pd.DataFrame({"a": [1, 2, 1], "b": [0.5, np.nan, 0.5], "c": [True, False, True]}),
    "narrow": pd.DataFrame(
        {"a": np.array([1, 2, 3], "int8"), "b": np.array([0.1, 2, 3], "float32"), "c": [0.0, -0.0, 0]}
    ),
    "texts": pd.DataFrame({"a": ["x", "y", None], "b": [1, 2, 3], "c": pd.Categorical(["u", "v", "u"])}),
    "mixed": pd.DataFrame({"a": [1, "one", True], "b": [1.5, None, "x"], "c": [0, 1, 2]}),
    "nullable": pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": [1.0, 2.0, 3.0], "c": ["x", "x", "x"]}),
    "dates": pd.DataFrame({"a": pd.to_datetime(["2020-01-01"] * 3), "b": [1, 2, 3], "c": [1.0, 2.0, 3.0]}),
    "large": pd.DataFrame({"a": [2**53 + 1, 1, 2], "b": np.array([2**63, 1, 2], "uint64"), "c": [1.0, 2.0, 3.0]}),
    "lists": pd.DataFrame({"a": [[1], [2, 3], None], "b": [1, 2, 3], "c": [1.0, 2.0, 3.0]}),
    "polars": pl.DataFrame({"a": [1.0, None, float("nan")], "b": [1, 2, None], "c": ["x", None, "x"]}),
    "polars plain": pl.DataFrame({"a": [1.0, 2.0, 2.0], "b": [1, 2, 2], "c": [True, None, None]}),
    "further columns": pd.DataFrame({"z": [1, 2, 3], "c": [1, 2, 3], "b": [0.5, 1, 2], "a": [7, 8, 9]}),
    "one row": pd.DataFrame({"a": [1], "b": [2.5], "c": ["x"]}),
    "arrow": pl.DataFrame({"a": [1.0, None, 2.0], "b": [1, 2, 3], "c": ["x", "y", "x"]}).to_arrow(),
}

AS_MATRIX = {"numbers", "narrow", "texts", "polars plain", "further columns", "one row"}


def kinds(row: Any) -> Any:
    """The cells of a row with their types, so that 1, 1.0 and True differ, and NaN equals itself."""
    return [(type(cell), repr(cell)) for cell in row]


def same(read: TableRows, expected: list[Row | InputError]) -> None:
    assert len(read) == len(expected)
    for i, (one, other) in enumerate(zip(read, expected, strict=True)):
        if isinstance(other, InputError):
            assert str(one) == str(other)
            with pytest.raises(InputError):
                read.row(i)
            continue
        assert one == other
        assert isinstance(one, Row)
        assert (kinds(one), kinds(one.raw)) == (kinds(other), kinds(other.raw))
        assert read.row(i) == other


@pytest.mark.parametrize("name", FRAMES)
def test_rows_of_a_frame_are_read_as_they_are_one_by_one(name: str) -> None:
    frame = FRAMES[name]
    read = read_table(frame, NAMES, (), Reference.of(frame))
    same(read, read_rows(frame, NAMES))
    if name in AS_MATRIX:
        assert read.matrix is not None
        for column in range(3):
            given = [row[column] for row in read_rows(frame, NAMES) if isinstance(row, Row)]
            numbers = [np.nan if one is None else one for one in given]
            if Reference.of(frame).numeric[Reference.of(frame).names.index(NAMES[column])]:
                np.testing.assert_array_equal(read.matrix[:, column], numbers)
            assert kinds(read.cell(i, column) for i in range(len(read))) == kinds(
                row.raw[column] for row in read_rows(frame, NAMES) if isinstance(row, Row)
            )


def test_frames_that_differ_in_type_from_the_reference_are_read_one_by_one() -> None:
    frame = FRAMES["numbers"]
    for other in (
        frame.astype({"a": "float64"}),
        frame.astype({"a": "int32"}),
        frame.astype({"c": "object"}),
        pl.from_pandas(frame),
    ):
        read = read_table(other, NAMES, (), Reference.of(frame))
        assert read.matrix is None
        same(read, read_rows(other, NAMES))


def test_a_frame_without_a_column_is_refused() -> None:
    frame = FRAMES["numbers"]
    with pytest.raises(InputError, match="the table has no column 'b'"):
        read_table(frame[["a", "c"]], NAMES, (), Reference.of(frame))


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1, 2, 3], [4, 5, 6]]),
        np.array([[1.5, np.nan, 3], [4, -0.0, np.inf]]),
        np.array([[1.5, 2, 3]], dtype=np.float32),
        np.array([[1, 2, 3]], dtype=np.uint8),
        np.array([[2**53 + 1, 2, 3]]),
        np.array([[True, False, True]]),
        np.array([["x", 1, None], [1, 2, 3]], dtype=object),
        np.array([[1, 2]]),
        np.zeros((0, 3)),
        np.ma.masked_array([[1.0, 2.0, 3.0]], mask=[[False, True, False]]),
        [[1, 2, 3], [4, "x"], [7, [8], 9]],
    ],
    ids=str,
)
def test_rows_of_an_array_have_the_same_cells(array: Any) -> None:
    read = read_table(array, NAMES, (), None)
    expected = read_rows(array, NAMES)
    assert len(read) == len(expected)
    for one, other in zip(read, expected, strict=True):
        if isinstance(other, InputError):
            assert str(one) == str(other)
        else:
            assert kinds(one) == kinds(other)  # numbers of NumPy are plain numbers here


def test_what_is_done_to_the_table_afterwards_changes_no_row() -> None:
    array = np.array([[1.0, 2, 3], [4, 5, 6]])
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": ["x", "y"]})
    rows, of_frame = read_table(array, NAMES, (), None), read_table(frame, NAMES, (), Reference.of(frame.copy()))
    array[:] = 9
    frame.loc[:, "a"] = 9
    frame.loc[:, "b"] = 9.0
    frame.loc[:, "c"] = "z"
    assert list(rows) == [Row.of([1.0, 2.0, 3.0]), Row.of([4.0, 5.0, 6.0])]
    assert list(of_frame) == [Row.of([1, 0.5, "x"]), Row.of([2, 1.5, "y"])]
    assert rows.matrix is not None
    assert rows.matrix.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_rows_with_bounds_of_their_own_are_read_one_by_one() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [1, 2], "least": [0, 1]})
    read = read_table(frame, NAMES, ("least",), Reference.of(frame))
    assert read.matrix is None
    same(read, read_rows(frame, NAMES, ("least",)))


def test_it_is_a_sequence_of_rows() -> None:
    for read in (
        read_table(np.arange(21).reshape(7, 3), NAMES, (), None),
        read_table(np.arange(21).reshape(7, 3).tolist(), NAMES, (), None),
    ):
        whole = list(read)
        assert (read[-1], read[2:5], read[::-3]) == (whole[-1], whole[2:5], whole[::-3])
        with pytest.raises(IndexError):
            read[7]
        assert [list(piece) for piece in read.pieces(3)] == [whole[:3], whole[3:6], whole[6:]]
        assert list(read.part(np.array([5, 0, 5]))) == [whole[5], whole[0], whole[5]]
        assert read.readable().tolist() == list(range(7))


def test_errors_are_no_rows() -> None:
    read = read_table([[1, 2, 3], [1, 2], [1, 2, 3], [1, 2]], NAMES, (), None)
    assert read.readable().tolist() == [0, 2]
    assert read.first_of_equal().tolist() == [0, 1, 0, 3]  # an error is equal to no other row
    assert isinstance(read.part(np.array([1]))[0], InputError)


def first_of(rows: list[Any]) -> list[int]:
    first: dict[Any, int] = {}
    return [i if isinstance(row, InputError) else first.setdefault(row, i) for i, row in enumerate(rows)]


@pytest.mark.parametrize("collide", [False, True])
def test_equal_rows_are_those_that_compare_equal(collide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if collide:
        monkeypatch.setattr(identity, "MIX", np.uint64(0))  # all hashes are equal
    for name, frame in FRAMES.items():
        rows = read_table(frame, NAMES, (), Reference.of(frame))
        assert rows.first_of_equal().tolist() == first_of(list(rows)), name
    cells = (0.0, -0.0, 1.0, float("nan"), float("inf"))
    for seed in range(20):
        rng = Random(seed)
        rows = read_table(np.array([[rng.choice(cells) for _ in NAMES] for _ in range(40)]), NAMES, (), None)
        assert rows.matrix is not None
        assert rows.first_of_equal().tolist() == first_of(list(rows)), seed


def test_nan_and_null_are_different_cells() -> None:
    frame = pl.DataFrame({"a": [None, float("nan"), None], "b": [1, 1, 1], "c": [1.0, 1.0, 1.0]})
    rows = read_table(frame, NAMES, (), Reference.of(frame))
    assert rows.first_of_equal().tolist() == [0, 1, 0]
    assert kinds(rows.row(0).raw)[0] != kinds(rows.row(1).raw)[0]


def test_cells_of_unusual_types_are_read_one_by_one() -> None:
    frame = pd.DataFrame({"a": [date(2020, 1, 1), date(2020, 1, 2)], "b": [1, 2], "c": [1, 2]})
    read = read_table(frame, NAMES, (), Reference.of(frame))
    assert read.matrix is None
    same(read, read_rows(frame, NAMES))
