"""What every adapter makes of a model: columns by name, constraints in any form, one score of several."""

import asyncio
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import InputError
from flipset.models.scorer import (
    Scorer,
    awaited_in_order_of,
    columns_known,
    in_order_of,
    no_positive,
    one_score_each,
)

NAMES = ("income", "debt", "age")


def test_constraints_go_with_the_names() -> None:
    assert columns_known(NAMES, (1, -1)) == {"names": NAMES, "directions": {"income": 1, "debt": -1}}
    assert columns_known(NAMES, ()) == {"names": NAMES, "directions": {}}
    assert columns_known(None, (1, -1)) == {"signs": (1, -1)}


def test_numbers_of_columns_may_be_names() -> None:
    for numbered in (("0", "1"), ("Column_0", "Column_1")):
        assert columns_known(numbered, (0, 1)) == {"numbered": numbered, "signs": (0, 1)}
    assert columns_known(["1", "0"], (0, 1)) == {"names": ("1", "0"), "directions": {"0": 1}}


def first_of_all(rows: Any) -> Any:
    return np.asarray(rows)[:, 0]


def test_numbers_count_as_names_where_the_table_has_them_all() -> None:
    scorer = Scorer(first_of_all, **columns_known(["0", "1"], (1, -1)))
    by_name = scorer.with_names_of(["1", "x", "0"])
    assert (by_name.names, by_name.directions) == (("0", "1"), {"0": 1, "1": -1})
    by_place = scorer.with_names_of(["income", "debt"])
    assert (by_place.names, by_place.directions) == (None, {"income": 1, "debt": -1})
    for again in (by_name.with_names_of(["1", "x", "0"]), by_place.with_names_of(["income", "debt"])):
        assert again.directions in (by_name.directions, by_place.directions)
    rows = np.array([[5.0, 7.0]])
    assert in_order_of(scorer, ("1", "0"))(rows).tolist() == [7.0]
    assert in_order_of(scorer, ("income", "debt"))(rows).tolist() == [5.0]


def test_a_table_with_some_of_the_numbers_elsewhere_is_refused() -> None:
    scorer = Scorer(first_of_all, **columns_known(["0", "1"], ()))
    with pytest.raises(InputError, match="the model has the column '0' at place 1, and the table has it at place 2"):
        in_order_of(scorer, ("debt", "0"))
    assert in_order_of(scorer, ("0", "debt"))(np.array([[5.0, 7.0]])).tolist() == [5.0]


@pytest.mark.parametrize(
    ("answers", "positive", "scores"),
    [
        ([0.1, 0.9], None, [0.1, 0.9]),
        ([[0.1], [0.9]], None, [0.1, 0.9]),
        ([[0.9, 0.1], [0.2, 0.8]], None, [0.1, 0.8]),
        ([[0.9, 0.1], [0.2, 0.8]], 0, [0.9, 0.2]),
        ([[0.5, 0.25, 0.25]], [1, 2], [0.5]),
        (["good", "bad"], "good", [True, False]),
        ([2, 1, 3], [1, 2], [True, True, False]),
    ],
)
def test_one_score_of_several(answers: Any, positive: Any, scores: list[float]) -> None:
    assert one_score_each(answers, positive).tolist() == pytest.approx(scores)


@pytest.mark.parametrize(
    ("answers", "positive", "message"),
    [
        ([[0.1, 0.2, 0.7]], None, "3 columns; say which is the score"),
        ([[0.1, 0.9]], 2, "positive=0 to 1, got 2"),
        ([[0.1, 0.9]], [1, 1], "names a column twice"),
        ([0, 1], "good", "the model answers numbers"),
        (["good"], 1, "the model answers text"),
    ],
)
def test_what_is_no_score_is_refused(answers: Any, positive: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        one_score_each(answers, positive)


def test_a_class_is_for_classifiers() -> None:
    no_positive(object(), None)
    with pytest.raises(InputError, match="positive is for classifiers; str gives scores"):
        no_positive("model", 1)


def first_column(rows: pd.DataFrame) -> Any:
    assert list(rows.columns) == ["debt", "income"]
    return rows["debt"].to_numpy()


def test_a_model_is_given_its_own_columns_in_its_own_order() -> None:
    predict = in_order_of(Scorer(first_column, names=("debt", "income")), NAMES)
    assert predict(np.array([[1.0, 2.0, 3.0]])).tolist() == [2.0]
    assert predict(pd.DataFrame([[1.0, 2.0, 3.0]], columns=list(NAMES))).tolist() == [2.0]
    with pytest.raises(InputError, match="fitted with a column 'debt' that the space does not have"):
        in_order_of(Scorer(first_column, names=("debt", "income")), ("income", "age"))


def test_names_with_spaces_are_those_that_a_library_wrote_with_underscores() -> None:
    scorer = Scorer(len, names=("mean_radius", "age"), directions={"mean_radius": 1})
    spoken = scorer.with_names_of(["age", "mean radius"])
    assert (spoken.names, dict(spoken.directions)) == (("mean radius", "age"), {"mean radius": 1})


def test_models_that_want_names_are_told_them_also_when_awaited() -> None:
    told: list[Any] = []

    async def apredict(rows: Any, names: Any) -> Any:
        told.append(names)
        return rows

    def predict(rows: Any, names: Any) -> Any:
        told.append(names)
        return rows

    scorer = Scorer(predict, takes_names=True, apredict=apredict).then(lambda answers: [2 * one for one in answers])
    assert in_order_of(scorer, NAMES)([1]) == [2]
    awaited = awaited_in_order_of(scorer, NAMES)
    assert awaited is not None
    assert asyncio.run(awaited([2])) == [4]  # type: ignore[arg-type]
    assert told == [NAMES, NAMES]
    assert awaited_in_order_of(Scorer(predict), NAMES) is None
