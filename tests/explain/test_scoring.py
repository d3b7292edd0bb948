"""From questions about rows to calls of the model: no row twice in one, none too large, all counted."""

import asyncio
from typing import Any

import numpy as np
import pytest

from flipset import Feature, OracleError, Space
from flipset.explain.scoring import RowScorer
from flipset.layers import Tally
from flipset.space.rows import Row

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "ab"])


class Model:
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __call__(self, table: Any) -> Any:
        self.calls.append(np.asarray(table).tolist())
        return np.asarray(table, dtype=float).sum(axis=1)

    async def awaited(self, table: Any) -> Any:
        await asyncio.sleep(0)
        return self(table)


ROW = Row.of([1, 2])
QUESTIONS: list[Any] = [(ROW, ()), (ROW, ((0, 9),)), (ROW, ((0, 9),)), (Row.of([9, 2]), ()), (ROW, ((0, 3), (1, 4)))]
SCORES = [3.0, 11.0, 11.0, 11.0, 7.0]


@pytest.mark.parametrize("awaited", [False, True])
def test_questions_are_rows_with_other_cells_and_equal_rows_are_asked_once(awaited: bool) -> None:
    model, tally = Model(), Tally()
    scorer = RowScorer(model, SPACE, model.awaited, tally=tally)
    scores = asyncio.run(scorer.aask(QUESTIONS)) if awaited else scorer.ask(QUESTIONS)
    assert scores == SCORES
    assert model.calls == [[[1, 2], [9, 2], [3, 4]]]
    assert (tally.queries, tally.rounds) == (5, 1)  # every question counts, and one call


@pytest.mark.parametrize("most", [1, 2, 3])
def test_calls_are_no_larger_than_they_may_be(most: int) -> None:
    model, tally = Model(), Tally()
    assert RowScorer(model, SPACE, max_rows=most, tally=tally).ask(QUESTIONS) == SCORES
    assert max(map(len, model.calls)) <= most
    assert tally.rounds == len(model.calls)
    assert tally.queries == 5


def test_rows_that_are_answered_already_are_not_asked_but_count() -> None:
    model, tally = Model(), Tally()
    scorer = RowScorer(model, SPACE, answered={ROW: 30.0}, tally=tally)
    assert scorer.ask(QUESTIONS) == [30.0, *SCORES[1:]]
    assert [1, 2] not in model.calls[0]
    assert tally.queries == 5
    assert scorer.ask([(ROW, ())]) == [30.0]
    assert len(model.calls) == 1


def test_a_table_is_scored_as_it_is() -> None:
    model, tally = Model(), Tally()
    table = np.array([[1.0, 1.0], [2.0, 2.0], [1.0, 1.0]])
    assert RowScorer(model, SPACE, tally=tally, max_rows=1).ask_table(table).tolist() == [2.0, 4.0, 2.0]
    assert len(model.calls) == 2
    assert (tally.queries, tally.rounds) == (3, 2)


def test_what_failed_is_not_counted() -> None:
    def fails(table: Any) -> Any:
        raise OracleError("no", table)

    tally = Tally()
    with pytest.raises(OracleError):
        RowScorer(fails, SPACE, tally=tally).ask(QUESTIONS)
    assert (tally.queries, tally.rounds) == (0, 0)


def test_no_questions_make_no_call() -> None:
    assert RowScorer(lambda table: 1 / 0, SPACE).ask([]) == []  # type: ignore[arg-type,return-value]
