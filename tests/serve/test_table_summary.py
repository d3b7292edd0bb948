"""The summary counts rows that are explained; groups add up to the whole."""

import numpy as np
import pandas as pd
import pytest

from flipset import InputError
from flipset.serve.row_results import STATUSES, RowResults
from flipset.serve.table_summary import MOST_COMPARED, summarize_rows


def results() -> RowResults:
    """Two rows with flip sets, one without an option, an error, and a row that waits."""
    frame = pd.DataFrame({"region": ["north", "south", "north", None, "south"], "number": range(5)})
    known = RowResults(frame, ["income", "debt", "age"], threshold=0.5)
    known.sizes[:] = [2, 1, np.nan, np.nan, np.nan]
    known.status[:] = [STATUSES.index(name) for name in ("optimal", "optimal", "none", "error", "waiting")]
    known.parts["some"][:2] = [[True, True, False], [False, True, False]]
    known.parts["all"][:2] = [[True, True, False], [False, True, False]]
    known.parts["reason"][:3] = [[True, False, False], [False, True, False], [False, True, False]]
    return known


def test_all_explained_rows_are_counted() -> None:
    summary = summarize_rows(results())
    assert summary == {
        "all": {
            "rows": 4,
            "errors": 1,
            "none": 1,
            "mean_size": 1.5,
            "sizes": [{"size": 1.0, "rows": 1}, {"size": 2.0, "rows": 1}],
            # Shares of flip sets are of the two rows that have some; shares of reasons, of all three.
            "features": [
                {"name": "income", "some": 0.5, "all": 0.5, "reason": pytest.approx(1 / 3)},
                {"name": "debt", "some": 1.0, "all": 1.0, "reason": pytest.approx(2 / 3)},
            ],
        },
        "groups": [],
    }


def test_groups_add_up() -> None:
    summary = summarize_rows(results(), "region")
    assert [group["group"] for group in summary["groups"]] == ["missing", "north", "south"]
    for name in ("rows", "errors", "none"):
        assert sum(group[name] for group in summary["groups"]) == summary["all"][name]


def test_a_table_of_which_nothing_is_known_has_a_summary() -> None:
    known = RowResults(pd.DataFrame({"a": [1]}), ["a"], threshold=0.5)
    assert summarize_rows(known)["all"]["mean_size"] is None


def test_very_many_groups_cannot_be_compared() -> None:
    n = MOST_COMPARED + 1
    known = RowResults(pd.DataFrame({"number": range(n)}), ["number"], threshold=0.5)
    with pytest.raises(InputError, match=f"'number' has {n} values; at most {MOST_COMPARED}"):
        summarize_rows(known, "number")
