"""Queries about many rows are a sequence, and a part of it makes the same rows."""

from typing import Any

import numpy as np
import pytest

from flipset.drivers import run
from flipset.errors import BudgetExhausted
from flipset.explain.row_queries import RowQueries, arrived
from flipset.protocol import Flow, ask


def queries() -> RowQueries:
    changed = np.array([[True, False, False], [False, True, True], [False, False, False], [True, True, False]])
    return RowQueries(np.array([4, 4, 7, 9]), changed, lambda places: [f"row {place}" for place in places.tolist()])


def test_they_are_rows_and_columns() -> None:
    batch = queries()
    assert (len(batch), list(batch)) == (4, [(4, 0b001), (4, 0b110), (7, 0), (9, 0b011)])
    assert batch[-1] == (9, 0b011)
    with pytest.raises(IndexError):
        batch[4]


def test_a_part_makes_the_rows_of_its_queries() -> None:
    part = queries()[1:]
    assert isinstance(part, RowQueries)
    assert list(part) == [(4, 0b110), (7, 0), (9, 0b011)]
    assert part.rows_for(np.array([0, 2])) == ["row 1", "row 3"]
    further = part[::2]
    assert list(further) == [(4, 0b110), (9, 0b011)]
    assert further.rows_for(np.arange(2)) == ["row 1", "row 3"]


def test_a_driver_lets_them_read_their_own_answers() -> None:
    """NaN, by which a driver says that the model failed on a row, is refused in any other batch."""

    def flow() -> Flow[Any, Any]:
        return (yield from ask(queries()))

    answers = run(flow(), lambda batch: [0.5, float("nan"), 1, True])
    assert isinstance(answers, np.ndarray)
    np.testing.assert_array_equal(answers, [0.5, np.nan, 1.0, 1.0])


def test_answers_that_arrived_before_a_budget_ended_are_told_apart() -> None:
    stop = BudgetExhausted("end")
    np.testing.assert_array_equal(arrived(stop, 2), [np.nan, np.nan])
    stop.answers = [0.5, None, 0.25]
    np.testing.assert_array_equal(arrived(stop, 4), [0.5, np.nan, 0.25, np.nan])
