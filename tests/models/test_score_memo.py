"""Scores kept in memory: what the model said, in its own type, and no row scored twice."""

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from flipset.models.score_memo import ScoreMemo
from flipset.models.scorer import Scorer
from flipset.models.ties import settle


class Counting:
    """A model that notes which rows it was given."""

    def __init__(self, kind: Any = np.float32) -> None:
        self.rows: list[Any] = []
        self.kind = kind

    def __call__(self, rows: Any) -> Any:
        given = np.asarray(rows)
        self.rows += given.tolist()
        return (given[:, 0] / 10).astype(self.kind)


def test_no_row_is_scored_twice_and_the_type_is_the_models_own() -> None:
    model, memo = Counting(), ScoreMemo()
    predict = memo.around(Scorer(model)).predict
    first = predict(np.array([[1.0], [2.0], [1.0]]))
    second = predict(np.array([[3.0], [2.0]]))
    assert (first.dtype, second.dtype) == (np.float32, np.float32)
    assert second.tolist() == np.array([0.3, 0.2], dtype=np.float32).tolist()
    assert model.rows == [[1.0], [2.0], [3.0]]
    assert (memo.asked, memo.calls) == (3, 2)
    memo.forget()
    predict(np.array([[2.0]]))
    assert (memo.asked, len(model.rows)) == (4, 4)


def test_rows_of_other_types_are_other_rows() -> None:
    model, memo = Counting(np.float64), ScoreMemo()
    predict = memo.around(Scorer(model)).predict
    predict(np.array([[0.0]]))
    predict(np.array([[0]]))
    predict(pd.DataFrame({"a": [0.0]}))
    assert memo.asked == 3


def test_each_threshold_settles_the_same_scores_in_its_own_way() -> None:
    # No float32 is 0.7; the nearest one reaches a threshold of 0.7, and is itself at any other threshold.
    memo = ScoreMemo()
    scorer = memo.around(Scorer(Counting()))
    row = np.array([[7.0]])
    assert settle(scorer, 0.7).predict(row)[0] == 0.7
    assert settle(scorer, 0.3).predict(row)[0] == float(np.float32(0.7)) < 0.7
    assert memo.asked == 1


def test_what_is_not_one_number_for_each_row_is_passed_on() -> None:
    memo = ScoreMemo()
    assert memo.around(Scorer(lambda rows: np.ones((len(rows), 3)))).predict(np.zeros((2, 1))).shape == (2, 3)


def test_a_model_that_is_awaited() -> None:
    model, memo = Counting(np.float64), ScoreMemo()

    async def apredict(rows: Any) -> Any:
        return model(rows)

    scorer = memo.around(replace(Scorer(model), apredict=apredict))
    assert scorer.apredict is not None
    assert asyncio.run(scorer.apredict(np.array([[1.0], [2.0]]))).tolist() == [0.1, 0.2]  # type: ignore[arg-type]
    assert scorer.predict(np.array([[2.0], [3.0]])).tolist() == [0.2, 0.3]
    assert memo.asked == 3
    assert memo.around(Scorer(model)).apredict is None
