"""What may change in many rows at once is what may change in each by itself."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Feature, Space
from flipset.explain.table_moves import TableMoves
from flipset.models.tables import is_numeric_row
from flipset.search.table.search import MOST_FEATURES
from flipset.space.moves import find_moves
from flipset.space.rows import check_row
from flipset.space.table_rows import read_table
from tests.ordered import draw_ordered


def spaces(seed: int) -> list[tuple[Space, Any]]:
    """The same rows in a space whose columns have paths in arrays, and in one where rows are looked at one by one."""
    case = draw_ordered(seed, rows=9)
    rows = np.array(case.rows, dtype=float)
    frame = pd.DataFrame(rows, columns=list(case.space.names))
    limited = [f if f.fixed or f.kind == "binary" else replace(f, max_rise=3) for f in case.space.features]
    return [
        (case.space, rows),
        (Space(case.space.features, reference=frame), frame),
        (Space(limited), rows),
        (Space(limited, reference=frame), rows.tolist()),
    ]


def test_moves_of_many_rows_are_those_of_each() -> None:
    kinds = Counter[tuple[bool, bool]]()
    for seed in range(40):
        for space, table in spaces(seed):
            rows = read_table(table, space.names, (), space.reference)
            moves = TableMoves(space, rows)
            if moves.columns is None:
                assert all(feature.fixed for feature in space.features)
                continue
            for part in (range(len(rows)), range(3, 7)):
                read = moves.read(part)
                assert read.numbers.tolist() == list(part)
                rise = np.arange(len(part)) % 2 == 0
                found = moves.find(read, rise)
                for k, number in enumerate(part):
                    row = check_row(space, rows.row(number))
                    assert read.row(k, space, rows) == row
                    own = find_moves(space, row, raise_score=bool(rise[k]))
                    kinds[moves.paths is not None, bool(own.units)] += 1
                    assert found.fits[k] == bool(own.units)
                    if own.units:
                        ends = dict(own.best_cells or ())
                        flags = zip(moves.columns.tolist(), found.movable[k].tolist(), strict=True)
                        assert [column for column, movable in flags if movable] == sorted(ends)
                        best = dict(zip(moves.columns.tolist(), found.best[k].tolist(), strict=True))
                        assert {column: best[column] for column in ends} == ends
                numbers = np.array([list(rows.row(number)) for number in part], dtype=float)
                changed = np.zeros(numbers.shape, dtype=bool)
                as_asked = read.numeric.table(np.arange(len(part)), changed, read.numeric.base.copy())
                np.testing.assert_array_equal(np.asarray(as_asked, dtype=float), numbers)
    assert min(kinds.values()) > 5, kinds


def test_rows_that_arrays_cannot_hold_are_left_out() -> None:
    space = Space([Feature("a", "integer", direction=+1, lower=0, upper=9), Feature("note", fixed=True)])
    table = [[1, 2], ["odd", 2], [3, "text"], [4, None], [float("inf"), 1]]
    rows = read_table(table, space.names, (), None)
    read = TableMoves(space, rows).read(range(5))
    assert read.numbers.tolist() == [0, 3]
    array = np.array([[1.0, 2.0], [np.inf, 1.0], [4.0, np.inf]])
    rows = read_table(array, space.names, (), None)
    assert rows.matrix is not None
    assert TableMoves(space, rows).read(range(3)).numbers.tolist() == [0, 2]  # a column that is fixed may be infinite
    for number in (0, 2):
        assert is_numeric_row(check_row(space, rows.row(number)), None)


def test_a_cell_that_moves_in_another_way_keeps_its_row_out() -> None:
    """From a code that may be left, a path begins with the worst value, which arrays do not hold."""
    features = [
        Feature("a", "integer", direction=+1, lower=0, upper=9, special=(-7,), may_leave=(-7,)),
        Feature("b", "integer", direction=-1, lower=0, upper=9),
    ]
    space = Space(features)
    rows = read_table(np.array([[-7.0, 3.0], [2.0, 3.0], [9.0, 0.0], [np.nan, 3.0]]), space.names, (), None)
    moves = TableMoves(space, rows)
    assert moves.paths is not None
    found = moves.find(moves.read(range(4)), np.ones(4, dtype=bool))
    assert found.fits.tolist() == [False, True, False, True]
    assert found.movable[3].tolist() == [False, True]


@pytest.mark.parametrize("count", [MOST_FEATURES, MOST_FEATURES + 1])
def test_no_more_columns_than_a_word_has_bits(count: int) -> None:
    space = Space([Feature(f"x{i}", "binary", direction=+1) for i in range(count)])
    rows = read_table(np.zeros((1, count)), space.names, (), None)
    assert (TableMoves(space, rows).columns is None) == (count > MOST_FEATURES)


def test_a_space_in_which_nothing_is_ordered_has_no_columns() -> None:
    space = Space([Feature("kind", "categorical", options=("a", "b"))])
    assert TableMoves(space, read_table([["a"]], space.names, (), None)).columns is None
