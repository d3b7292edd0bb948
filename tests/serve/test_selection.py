"""Rows are selected by cells and by results, and each order is stable, with what is not known at its end."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import InputError
from flipset.serve.row_results import STATUSES, RowResults
from flipset.serve.selection import Query, Selection

FRAME = pd.DataFrame(
    {
        "income": [30, 10, 20, 10, 40],
        "region": ["North", "south", None, "South", "west"],
        "mixed": [3, "b", 2, "a", 1],
    }
)


def results() -> RowResults:
    """Two sizes, a row without an option, an error, and a row that waits."""
    known = RowResults(FRAME, ["income", "debt"], threshold=0.5)
    known.scores[:] = [0.2, 0.9, 0.5, np.nan, np.nan]
    known.sizes[:] = [2, 1, np.nan, np.nan, np.nan]
    known.status[:] = [STATUSES.index(name) for name in ("optimal", "optimal", "none", "error", "waiting")]
    known.parts["some"][[0, 1], [0, 1]] = True
    known.parts["reason"][2, 1] = True
    return known


def selected(**query: Any) -> list[int]:
    return [int(row) for row in Selection(results()).select(Query(**query))]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"descending": True}, [4, 3, 2, 1, 0]),
        ({"decision": "yes"}, [1, 2]),
        ({"decision": "no"}, [0]),  # rows without a score are neither
        ({"size": "2"}, [0]),
        ({"size": "none"}, [2]),
        ({"size": "error"}, [3]),
        ({"size": "waiting"}, [4]),
        ({"feature": "income"}, [0]),
        ({"feature": "debt", "part": "reason"}, [2]),
        ({"by": "region", "group": "missing"}, [2]),
        ({"search": "SOUTH"}, [1, 3]),
        ({"search": "30\nno"}, [0]),  # cells stand on lines of their own
        ({"search": "30no"}, []),
        ({"sort": "income"}, [1, 3, 2, 0, 4]),
        ({"sort": "income", "descending": True}, [4, 0, 2, 1, 3]),
        ({"sort": "region"}, [0, 3, 1, 4, 2]),
        ({"sort": "region", "descending": True}, [4, 1, 3, 0, 2]),
        ({"sort": "mixed"}, [4, 2, 0, 3, 1]),  # compared as texts
        ({"sort": "@size"}, [1, 0, 2, 3, 4]),  # no option is more than any number of changes
        ({"sort": "@size", "descending": True}, [2, 0, 1, 3, 4]),
        ({"sort": "@score"}, [0, 2, 1, 3, 4]),
        ({"sort": "@score", "descending": True, "decision": "yes"}, [1, 2]),
    ],
)
def test_rows_are_selected_in_order(query: dict[str, Any], rows: list[int]) -> None:
    assert selected(**query) == rows


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"size": "two"}, "size 'two' is neither a number"),
        ({"feature": "age"}, "no feature 'age'"),
        ({"by": "city", "group": "x"}, "no column 'city'"),
        ({"sort": "city"}, "no column 'city' to sort by"),
    ],
)
def test_what_does_not_exist_is_refused(query: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        selected(**query)


def test_an_order_by_results_is_made_anew_when_they_change() -> None:
    known = results()
    selection, query = Selection(known), Query(sort="@score")
    assert selection.select(query).tolist() == [0, 2, 1, 3, 4]
    known.scores[3] = 0.1
    known.version += 1
    assert selection.select(query).tolist() == [3, 0, 2, 1, 4]
