"""How long calls take, and what follows for how many rows to send together."""

from random import Random

import pytest

from flipset.models.remote.call_times import FRUGAL, LATEST, STEPS, UNTRIED, CallTimes, batch_for


def timed(fixed: float, each: float, sizes: list[int], noise: float = 0.0) -> CallTimes:
    rng = Random(1)
    times = CallTimes()
    for size in sizes:
        times.note(size, (fixed + each * size) * (1 + noise * rng.uniform(-1, 1)))
    return times


@pytest.mark.parametrize("fixed", [0.001, 0.05, 1.0])
@pytest.mark.parametrize("rows", [1, 50, 4_000])
def test_rows_per_call_is_where_rows_take_as_long_as_the_call(fixed: float, rows: int) -> None:
    assert timed(fixed, fixed / rows, [1, 100]).rows_per_call() == pytest.approx(rows, rel=0.05, abs=1)
    noisy = timed(fixed, fixed / rows, [1, 200] * 20, noise=0.02).rows_per_call()
    assert rows / 3 <= noisy <= rows * 3 or rows == 4_000  # what the rows take is lost in the noise there


def test_what_cannot_be_told_is_not_guessed() -> None:
    assert CallTimes().rows_per_call() == UNTRIED
    assert timed(0.1, 0.01, [7, 7, 7]).rows_per_call() == UNTRIED  # one size only
    assert not timed(0.1, 0.01, [7, 7]).has_sizes
    assert timed(0.1, 0.0, [1, 500]).rows_per_call() == 500  # as far as it was tried
    assert timed(0.1, -0.0001, [1, 2]).rows_per_call() == UNTRIED


def test_only_the_latest_calls_count() -> None:
    times = timed(1.0, 1.0, [1, 10])
    for _ in range(LATEST):
        times.note(5, 0.1)
    assert not times.has_sizes
    times.clear()
    assert times.rows_per_call() == UNTRIED


def test_more_rows_to_explain_never_mean_more_queries_together() -> None:
    for rows_per_call in (1, 8, 200, 10_000):
        for in_flight in (1, 8, 64):
            batches = [batch_for(n, rows_per_call=rows_per_call, in_flight=in_flight) for n in (1, 10, 10**3, 10**6)]
            assert batches == sorted(batches, reverse=True)
            assert set(batches) <= {step for step, _ in STEPS}
    assert batch_for(1, rows_per_call=64, in_flight=1) == 64  # all of them fit into one call
    assert batch_for(10**9, rows_per_call=64, in_flight=8) == FRUGAL
