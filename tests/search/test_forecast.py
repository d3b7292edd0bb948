"""Forecasts of margins, from margins alone and from zeros."""

from flipset.search.forecast import forecast_by_margins, forecast_by_zeros


def test_margins_alone_are_taken_to_add_up() -> None:
    forecast = forecast_by_margins([-3.0, -2.0, -1.0])
    assert forecast.of(0) == forecast.of(0b001) == -3.0  # the least feature counts for nothing
    assert forecast.of(0b110) == 0.0
    assert forecast.zero_from(0, [0, 1, 2]) == 0b011
    assert forecast.zero_from(0, [2, 1, 0]) == 0b101
    assert forecast.zero_from(0b100, [1, 0]) == 0b101


def test_what_zeros_leave_out_counts_for_much() -> None:
    # Features 0 and 1 are in both zeros; 2 and 3 are left out by one of them each.
    forecast = forecast_by_zeros([0b0111, 0b1011], 4)
    assert list(forecast.gains) == [0.0, 0.0, 1.0, 1.0]
    assert forecast.of(0b0111) < 0 <= forecast.of(0b1100)
    assert forecast.zero_from(0b1000, [2, 1, 0]) == 0b1011
