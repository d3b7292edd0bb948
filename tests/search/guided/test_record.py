"""How well forecasts came true, and whether growing zeros pays."""

from flipset.search.guided.record import Record


def test_trust_falls_when_forecasts_fail_and_growing_must_pay() -> None:
    record = Record()
    assert record.trust() == 1.0
    for _ in range(12):
        record.guessed(0.8, succeeded=False)
    assert record.trust() < 0.1
    assert record.growing_pays(1000)
    assert not record.growing_pays(3)
