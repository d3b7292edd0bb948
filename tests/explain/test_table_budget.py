"""The budget of a table, as it is given."""

from typing import Any

import pytest

from flipset import InputError
from flipset.explain.table_budget import table_budget


@pytest.mark.parametrize("seconds", [-1, True, "1", float("nan")])
def test_a_limit_that_is_no_time_is_refused(seconds: Any) -> None:
    with pytest.raises(InputError, match="max_table_seconds must be a number of at least 0"):
        table_budget(None, seconds)


def test_queries_are_counted_and_refused() -> None:
    budget = table_budget(10, None)
    assert budget.afford(8) is None
    assert str(budget.afford(3)) == "the budget of 10 queries for the table ran out"
    assert budget.afford(2) is None
    assert budget.width(256) == 1
    assert table_budget(None, 5).deadline is not None
