"""How many queries of a row go together: measured on queries that are sent anyway, and settled once in a journal."""

from types import SimpleNamespace
from typing import Any

import pytest

from flipset.drivers.drive import drive
from flipset.errors import FlipsetError, OracleError, Unavailable
from flipset.explain.batch_size import LARGE_CALL, MOST_TRIED, choose_batch
from flipset.models.remote.call_times import FRUGAL, CallTimes
from flipset.space.rows import Row, read_rows
from tests.journal.test_journal import Remembered

ROWS = [row for row in read_rows([[i] for i in range(50)], ("a",)) if isinstance(row, Row)]


def endpoint(price: float = 0.0) -> Any:
    times = CallTimes()
    return SimpleNamespace(call_times=times, price_per_row=price, in_flight=8, fill=lambda: times.rows_per_call())


def choose(model: Any, journal: Any = None, rows: Any = ROWS[:MOST_TRIED], fails: Any = None) -> Any:
    """Return the sizes of the calls that were measured, the scores and the batch."""
    sizes: list[int] = []

    def ask(questions: Any) -> list[float]:
        sizes.append(len(questions))
        if fails is not None and len(sizes) == 2:
            raise fails
        model.call_times.note(len(questions), 0.02 + len(questions) * 0.0001)
        return [float(row[0]) for row, _ in questions]

    scores, batch = drive(choose_batch(model, journal, rows, len(rows)), ask)
    return sizes, scores, batch


def test_calls_of_one_row_and_of_many_are_measured_and_their_answers_kept() -> None:
    sizes, scores, batch = choose(endpoint())
    assert sizes == [1, 1, LARGE_CALL]
    assert scores == {row: float(row[0]) for row in ROWS[:MOST_TRIED]}
    assert batch == 64


def test_nothing_is_measured_where_times_are_known() -> None:
    model = endpoint()
    choose(model)
    assert choose(model)[:2] == ([], {})


def test_the_first_call_does_not_count_for_it_opens_a_connection() -> None:
    model = endpoint()
    choose(model, rows=ROWS[:2])
    assert [rows for rows, _ in model.call_times.calls] == [1]


def test_where_rows_have_a_price_few_go_together() -> None:
    assert choose(endpoint(price=0.01))[2] == FRUGAL


@pytest.mark.parametrize("error", [OracleError("a row", []), Unavailable("gone")])
def test_a_row_that_fails_is_left_to_its_own_explanation_and_a_model_that_is_gone_ends_it(error: FlipsetError) -> None:
    if isinstance(error, Unavailable):
        with pytest.raises(Unavailable):
            choose(endpoint(), fails=error)
        return
    sizes, scores, _ = choose(endpoint(), fails=error)
    assert sizes == [1, 1, LARGE_CALL]
    assert ROWS[1] not in scores
    assert len(scores) == MOST_TRIED - 1


def test_a_journal_keeps_to_what_it_settled_first() -> None:
    journal = Remembered()
    assert choose(endpoint(price=0.01), journal)[2] == FRUGAL
    assert choose(endpoint(), journal) == ([], {}, FRUGAL)
    assert choose(endpoint(), journal, rows=ROWS[:1])[2] != FRUGAL  # one row alone is another case
