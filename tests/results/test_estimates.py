"""What a table is expected to take, in words."""

from math import nan

import pytest

from flipset.results.estimates import Figure, Spent, TableEstimate, duration_text, most_of

PLAIN = TableEstimate(
    rows=10_459,
    distinct=10_400,
    places=tuple(range(200)),
    queries=Figure(1_531_234, 1_480_001, 1_590_009),
    calls=Figure(6_000.4, 5_811, 6_210),
    seconds=Figure(7_300, 7_100, 7_600),
    price=Figure(3_062.468, 2_960, 3_180.018),
    spent=Spent(29_400, 175, 3.04, 58.8),
    errors=0,
    heaviest=0.02,
)


def text(**changes: object) -> str:
    about = {name: getattr(PLAIN, name) for name in PLAIN.__slots__} | changes
    return " ".join(str(TableEstimate(**about)).split())


def test_all_figures_have_their_intervals() -> None:
    assert str(PLAIN).splitlines() == [
        "Estimated from 200 of 10,400 different rows, with intervals of 95 %:",
        "  queries  1,530,000 (1,480,000 to 1,590,000)",
        "  calls    6,000 (5,810 to 6,210)",
        "  price    3,062.47 (2,960.00 to 3,180.02)",
        "  time     2.03 hours (118 minutes to 2.11 hours)",
        "The sample itself took 29,400 queries in 175 calls, for 58.80 at most, and 3.04",
        "seconds.",
        "The figures are for the whole table. Without a journal, a run asks the rows of",
        "the sample again.",
    ]


def test_what_is_not_known_is_left_out() -> None:
    said = text(price=None, seconds=None, spent=Spent(10, 1, 0.5, None))
    assert "price" not in said
    assert "time" not in said
    assert "The sample itself took 10 queries in 1 call, and 0.5 seconds." in said


def test_a_journal_keeps_the_sample() -> None:
    assert "What the sample asked is in the journal j.db: it is not sent again." in text(kept_in="the journal j.db")


def test_a_sample_that_is_the_whole_table_has_no_intervals() -> None:
    figure = Figure(100, 100, 100)
    said = text(distinct=200, queries=figure, calls=figure, seconds=None, price=None)
    assert said.startswith("All 200 different rows were explained. queries 100 calls 100 The sample")


def test_what_an_interval_cannot_tell_is_said() -> None:
    assert "which gives no interval" in text(queries=Figure(31, nan, nan))
    assert "took 45 % of them, so the interval rests on few rows" in text(heaviest=0.45)
    assert "3 rows of the sample could not be explained." in text(errors=3)


@pytest.mark.parametrize(("seconds", "said"), [(0, "0 seconds"), (119, "119 seconds"), (7_300, "2.03 hours")])
def test_durations_have_a_unit_that_fits(seconds: float, said: str) -> None:
    assert duration_text(seconds) == said


def test_the_heaviest_rows_are_at_least_one() -> None:
    assert most_of([1.0, 3.0]) == 0.75
    assert most_of([0.0, 0.0]) == 0.0
