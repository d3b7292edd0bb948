"""What follows from the time of calls: how many rows the next one should have."""

import pytest

from flipset.models.remote.call_times import FRUGAL, LATEST, UNTRIED, CallTimes, batch_for


def times(*calls: tuple[int, float]) -> CallTimes:
    found = CallTimes()
    for rows, seconds in calls:
        found.note(rows, seconds)
    return found


def test_nothing_is_concluded_from_calls_of_one_size() -> None:
    assert not times().has_sizes
    assert not times((5, 0.1), (5, 0.2)).has_sizes
    assert times((5, 0.1), (5, 0.2)).rows_per_call() == UNTRIED


def test_rows_that_take_no_time_of_their_own_allow_calls_as_large_as_were_seen() -> None:
    assert times((1, 0.02), (500, 0.02)).rows_per_call() == 500
    assert times((1, 0.02), (2, 0.01)).rows_per_call() == UNTRIED


def test_rows_that_take_nearly_all_the_time_go_one_by_one() -> None:
    assert times((1, 0.1), (11, 1.1)).rows_per_call() == 1


def test_only_the_latest_calls_count_and_the_first_can_be_forgotten() -> None:
    slow = times((1, 9.0), *[(1, 0.02), (101, 0.03)] * LATEST)
    assert len(slow.calls) == LATEST
    assert slow.rows_per_call() == 199
    slow.clear()
    assert not slow.has_sizes


@pytest.mark.parametrize("rows", [1, 10, 10**6])
def test_a_small_pool_is_asked_frugally(rows: int) -> None:
    assert batch_for(rows, rows_per_call=1, in_flight=1) == FRUGAL
