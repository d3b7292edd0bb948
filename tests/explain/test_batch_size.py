"""How many queries are sent together to a remote model: measured with queries that are needed anyway."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from flipset.drivers.drive import drive
from flipset.errors import OracleError, Unavailable
from flipset.explain.batch_size import LARGE_CALL, MOST_TRIED, choosing_batch
from flipset.models.remote.call_times import FRUGAL, CallTimes
from flipset.space.rows import Row


@dataclass
class Remote:
    """An endpoint whose calls take as long as the test says, by a clock of its own."""

    each: float = 0.0
    in_flight: int = 8
    price_per_row: float = 0.0
    call_times: CallTimes = field(default_factory=CallTimes)

    def fill(self) -> int:
        return self.call_times.rows_per_call()

    def answer(self, questions: Any) -> list[float]:
        self.call_times.note(len(questions), 0.020 + self.each * len(questions))
        return [float(row[0]) for row, _ in questions]


class Journal:
    """Keeps what it is told first."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}

    def kept(self, part: str) -> str | None:
        return self.parts.get(part)

    def keep(self, part: str, value: str) -> str:
        return self.parts.setdefault(part, value)


def rows(n: int) -> list[Row]:
    return [Row.of([i]) for i in range(n)]


def choose(remote: Any, n: int, journal: Any = None, answer: Any = None) -> tuple[Any, list[int]]:
    sizes: list[int] = []

    def noted(questions: Any) -> list[float]:
        sizes.append(len(questions))
        return list((answer or remote.answer)(questions))

    return drive(choosing_batch(remote, journal, rows(min(n, MOST_TRIED)), n), noted), sizes


def test_rows_are_asked_as_they_stand_and_their_answers_kept() -> None:
    (scores, _), sizes = choose(Remote(), 100)
    assert sizes == [1, 1, LARGE_CALL]
    assert scores == {row: float(row[0]) for row in rows(MOST_TRIED)}


def test_many_queries_go_together_where_rows_cost_no_time_and_few_where_they_are_the_time() -> None:
    (_, quick), _ = choose(Remote(each=0.0), 1_000_000)
    (_, slow), _ = choose(Remote(each=0.01), 1_000_000)
    (_, alone), _ = choose(Remote(each=0.0), 1)
    assert slow == FRUGAL
    assert alone >= 64 > FRUGAL
    assert quick == FRUGAL  # a large table fills its calls anyway


def test_where_rows_are_billed_few_queries_matter_more() -> None:
    (_, batch), _ = choose(Remote(price_per_row=0.01), 1)
    assert batch == FRUGAL


def test_what_is_known_of_calls_is_not_measured_again() -> None:
    remote = Remote()
    for size in (1, 32):
        remote.call_times.note(size, 0.02)
    (scores, _), sizes = choose(remote, 10)
    assert (scores, sizes) == ({}, [])


def test_a_journal_keeps_to_what_was_settled_first() -> None:
    journal = Journal()
    (_, first), _ = choose(Remote(), 1, journal)
    (scores, again), sizes = choose(Remote(each=9.0, price_per_row=1.0), 1, journal)
    assert (again, scores, sizes) == (first, {}, [])
    (_, table), _ = choose(Remote(price_per_row=1.0), 50, journal)
    assert table == FRUGAL  # a table is another question than a row
    assert set(journal.parts) == {"batch alone", "batch in tables"}


def test_a_row_that_the_model_fails_on_is_left_for_later() -> None:
    remote = Remote()

    def answer(questions: Any) -> list[float]:
        if questions[0][0][0] == 1:
            raise OracleError("row 1", questions)
        return remote.answer(questions)

    (scores, _), _ = choose(remote, 10, answer=answer)
    assert Row.of([1]) not in scores
    assert len(scores) == 9


def test_an_endpoint_that_is_gone_ends_it() -> None:
    def answer(questions: Any) -> list[float]:
        raise Unavailable("gone")

    with pytest.raises(Unavailable):
        choose(Remote(), 10, answer=answer)
