"""Questions become calls that are not too large, hold no row twice, and are counted when they are answered."""

import asyncio
from collections import Counter
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, OracleError, Space
from flipset.explain.scoring import RowScorer
from flipset.layers import Tally
from flipset.models.scores import await_scores, read_scores
from flipset.space.rows import Row, read_rows

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "ab"])
ONE, TWO = (row for row in read_rows([[1, 2], [3, 4]], SPACE.names) if isinstance(row, Row))


class Model:
    """Adds cells up, and notes its calls."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __call__(self, rows: Any) -> Any:
        self.calls.append(rows.tolist())
        if (rows == 7).any():
            raise RuntimeError("seven")
        return rows.sum(axis=1).astype(float)

    async def ask(self, rows: Any) -> Any:
        return self(rows)


def scorer(model: Model, **how: Any) -> RowScorer:
    async def acall(table: Any) -> Any:
        return await await_scores(model.ask, table)

    return RowScorer(lambda table: read_scores(model, table), SPACE, acall, **how)


@pytest.mark.parametrize("awaits", [False, True])
def test_rows_are_asked_once_in_calls_of_limited_size_and_all_questions_are_counted(awaits: bool) -> None:
    model, tally = Model(), Tally()
    rows = scorer(model, max_rows=3, tally=tally)
    questions = [(ONE, ()), (TWO, ()), (ONE, ((0, 3), (1, 4))), (TWO, ((1, 5),)), (ONE, ())]
    found = asyncio.run(rows.aask(questions)) if awaits else rows.ask(questions)
    assert found == [3.0, 7.0, 7.0, 8.0, 3.0]
    assert model.calls == [[[1, 2], [3, 4]], [[3, 5], [1, 2]]]  # the third question is about the second row
    assert (tally.queries, tally.rounds) == (5, 2)


def test_what_is_known_is_counted_and_not_asked() -> None:
    model, tally = Model(), Tally()
    rows = scorer(model, answered={ONE: 0.25}, tally=tally)
    assert rows.ask([(ONE, ()), (ONE, ((0, 9),)), (TWO, ())]) == [0.25, 11.0, 7.0]
    assert rows.ask([(ONE, ())]) == [0.25]
    assert model.calls == [[[9, 2], [3, 4]]]
    assert (tally.queries, tally.rounds) == (4, 1)


def test_what_failed_is_not_counted() -> None:
    model, tally = Model(), Tally()
    rows = scorer(model, max_rows=1, tally=tally)
    with pytest.raises(OracleError, match="seven"):
        rows.ask([(ONE, ()), (ONE, ((0, 7),)), (TWO, ())])
    assert (tally.queries, tally.rounds) == (1, 1)
    assert len(model.calls) == 2


def test_a_table_is_split_after_rows_that_are_equal_were_left_out() -> None:
    model, tally = Model(), Tally()
    rows = scorer(model, max_rows=2, tally=tally)
    table = np.array([[1, 1], [2, 2], [1, 1], [3, 3]])
    assert rows.ask_table(table).tolist() == [2.0, 4.0, 2.0, 6.0]
    assert model.calls == [[[1, 1], [2, 2]], [[3, 3]]]
    assert (tally.queries, tally.rounds) == (4, 2)


def test_no_questions_make_no_call() -> None:
    model = Model()
    assert scorer(model).ask([]) == []
    assert model.calls == []


@pytest.mark.parametrize("awaits", [False, True])
def test_c3_scores_that_arrived_before_a_later_call_failed_come_with_the_error(awaits: bool) -> None:
    model, tally = Model(), Tally()
    rows = scorer(model, max_rows=2, answered={TWO: 0.5}, tally=tally)
    questions = [(ONE, ()), (TWO, ()), (ONE, ((0, 7),)), (ONE, ((0, 8),)), (ONE, ((0, 9),))]
    with pytest.raises(OracleError) as caught:
        asyncio.run(rows.aask(questions)) if awaits else rows.ask(questions)
    assert caught.value.answers == [3.0, 0.5, None, None, None]
    assert (tally.queries, tally.rounds) == (2, 1)
    assert sum(map(len, model.calls)) == 3


def test_c3_a_table_in_parts_keeps_the_parts_before_the_one_that_fails() -> None:
    tally = Tally()
    with pytest.raises(OracleError) as caught:
        scorer(Model(), max_rows=2, tally=tally).ask_table(np.array([[1, 1], [1, 1], [2, 2], [7, 0], [3, 3]]))
    assert caught.value.answers == [2.0, 2.0, 4.0, None, None]
    assert tally.queries == 3


def test_c3_no_row_that_was_answered_is_asked_again_when_another_fails() -> None:
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])
    asked: Counter[tuple[float, ...]] = Counter()

    def predict(rows: Any) -> Any:
        if (rows[:, 0] == 4).any():
            raise RuntimeError("four")
        asked.update(map(tuple, rows.tolist()))
        return rows.sum(axis=1) >= 14

    rows = np.array([[4 if i == 37 else i % 4, i // 4 % 10, i % 7] for i in range(40)])
    found = Explainer(predict, space).explain_table(rows, max_rows=5, max_queries=1)
    assert [i for i, result in enumerate(found) if isinstance(result, OracleError)] == [37]
    assert max(asked.values()) == 1
