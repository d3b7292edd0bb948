"""How many calls queries take, and how long: computed by hand."""

from dataclasses import replace

import pytest

from flipset.explain.pace import Pace, RowCounts

# 100 rows with 40 queries in 10 rounds each.
COUNTS = RowCounts([40.0] * 100, [10] * 100)
LOCAL = Pace(COUNTS, calls=10, seconds=2.0, computing=1.8, width=250, fill=float("inf"))
REMOTE = replace(LOCAL, calls=100, fill=50, in_flight=8, call_seconds=(0.1, 0.2, 9.0), is_local=False)


def test_more_rows_under_way_may_share_a_call() -> None:
    # Calls of 400 queries for the 100 rows of the sample; of at most 1,000 for 250 rows at a time.
    assert [LOCAL.calls_for(4_000, 100, full) for full in (0, 0.5, 1)] == [10, 10, 10]
    assert LOCAL.calls_for(400_000, 10_000, 0) == 1_000
    assert LOCAL.calls_for(400_000, 10_000, 1) == 400
    assert LOCAL.calls_for(400_000, 10_000) == pytest.approx((400 * 1_000) ** 0.5)


def test_a_call_of_an_endpoint_has_no_more_than_it_bears() -> None:
    # Calls of 40 queries in the sample.
    assert REMOTE.calls_for(400_000, 10_000, 1) == 400_000 / 50
    assert replace(REMOTE, fill=1_000).calls_for(400_000, 10_000, 1) == 400_000 / 100
    assert replace(REMOTE, fill=30).calls_for(400_000, 10_000, 1) == 400_000 / 40


def test_a_local_table_takes_time_in_proportion_to_its_queries() -> None:
    assert LOCAL.seconds_for(400_000, 10_000) == 200


def test_an_endpoint_takes_the_calls_at_a_time_of_the_median_call() -> None:
    waiting = 0.2 * REMOTE.calls_for(400_000, 10_000) / 8
    assert replace(REMOTE, computing=0.0).seconds_for(400_000, 10_000) == pytest.approx(waiting)


def test_the_slowest_of_all_limits_decides() -> None:
    slow = replace(REMOTE, computing=0.0)
    assert replace(slow, counts=RowCounts([40.0] * 100, [9] * 99 + [5_000])).seconds_for(4_000, 100) == 1_000
    assert replace(slow, rate=2).seconds_for(400_000, 10_000) == REMOTE.calls_for(400_000, 10_000) / 2
    assert replace(slow, computing=50.0).seconds_for(400_000, 10_000) == 5_000


def test_without_a_measured_call_no_time_is_told() -> None:
    assert replace(REMOTE, call_seconds=()).seconds_for(400_000, 10_000) is None


def test_a_sample_without_queries_takes_no_calls() -> None:
    nothing = replace(LOCAL, counts=RowCounts([0.0, 0.0], [0, 0]), calls=0)
    assert nothing.calls_for(0, 2) == 0
    assert nothing.seconds_for(0, 2) == 0
