"""What is wanted, checked once."""

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from flipset import Feature, InputError, Space
from flipset.explain.request import Request, is_weighted, request_for

PLAIN = Space([Feature("a", "integer", direction=+1, lower=0, upper=9)])
WEIGHTED = Space([Feature("a", "integer", direction=+1, lower=0, upper=9, weight=2.5)])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"batch": 0}, "batch must be a whole number of at least 1, got 0"),
        ({"batch": 1.5}, "batch must be a whole number"),
        ({"max_changes": 0}, "max_changes must be a whole number"),
        ({"max_block": -3}, "max_block must be a whole number"),
        ({"value_queries": 0}, "value_queries must be a whole number"),
        ({"max_queries": 0}, "max_queries must be at least 1"),
        ({"max_queries": -1}, "max_queries must be a number of at least 0"),
        ({"max_seconds": float("nan")}, "max_seconds must be a number"),
        ({"objective": "cheap"}, 'objective must be "size" or "cost", got \'cheap\''),
    ],
)
def test_what_cannot_be_wanted_is_refused_by_name_and_value(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Request(**given)


def test_changes_are_counted_or_weighed() -> None:
    assert request_for(PLAIN, max_changes=2).max_changes == 2
    assert request_for(WEIGHTED).max_changes is None
    with pytest.raises(InputError, match="use one of the two"):
        request_for(WEIGHTED, max_changes=2)
    assert is_weighted(WEIGHTED)
    assert not is_weighted(PLAIN)


def test_only_budgets_are_limits() -> None:
    assert not Request(batch=1, max_changes=1, value_queries=3).is_limited
    assert Request(max_seconds=1).is_limited
    assert Request(max_queries=1).is_limited


def test_a_request_stays_what_it_is() -> None:
    with pytest.raises(FrozenInstanceError):
        Request().batch = 3  # type: ignore[misc]
