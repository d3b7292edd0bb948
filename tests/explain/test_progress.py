"""How far a long run is: told to a function, shown as a bar, or not at all."""

import pytest

from flipset.explain.progress import reporting


def test_a_function_is_told_rows_total_and_queries() -> None:
    told: list[tuple[int, int, int]] = []
    with reporting(lambda done, total, queries: told.append((done, total, queries)), 10) as report:
        report(1, 30)
        report(2, 55)
    assert told == [(1, 10, 30), (2, 10, 55)]


def test_nothing_is_shown_unless_wanted(capfd: pytest.CaptureFixture[str]) -> None:
    with reporting(False, 10) as report:
        report(1, 30)
    assert capfd.readouterr() == ("", "")


def test_a_bar_goes_to_the_other_stream_and_counts(capfd: pytest.CaptureFixture[str]) -> None:
    with reporting(True, 10) as report:
        report(10, 1_234)
    out, err = capfd.readouterr()
    assert out == ""
    assert "10/10" in err
    assert "1,234" in err
