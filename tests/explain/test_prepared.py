"""A model, a space and a threshold: what every question needs, checked when an explainer is made."""

import asyncio
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Feature, InputError, Space
from tests.ordered import draw_ordered

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "ab"])


def total(rows: Any) -> Any:
    return np.asarray(rows, dtype=float).sum(axis=1) / 20


def test_scores_are_those_of_the_model_one_for_each_row() -> None:
    explainer = Explainer(total, SPACE)
    assert explainer.scores([[1, 3], [9, 9]]) == [0.2, 0.9]
    assert explainer.scores([]) == []
    with pytest.raises(InputError):
        explainer.scores([["x", 1]])


def test_an_explainer_travels_and_explains_the_same() -> None:
    case = draw_ordered(4, rows=2)
    explainer = Explainer(case.model, case.space, threshold=case.threshold)
    again = pickle.loads(pickle.dumps(explainer))
    assert again.explain(case.rows[0]) == explainer.explain(case.rows[0])
    assert again.threshold == explainer.threshold


def test_a_model_may_be_put_behind_something() -> None:
    seen: list[int] = []

    def counting(predict: Any) -> Any:
        def counted(rows: Any) -> Any:
            seen.append(len(rows))
            return predict(rows)

        return counted

    explainer = Explainer(total, SPACE)
    behind = explainer.through(counting)
    assert behind.explain([1, 1]) == explainer.explain([1, 1])
    assert sum(seen) == explainer.explain([1, 1]).queries  # the other goes past it


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (pd.DataFrame({"a": [1], "c": [2]}), "'b' is in only one of them"),
        (pd.DataFrame({"b": [1], "a": [2]}), "their order differs"),
    ],
)
def test_a_reference_has_the_columns_of_the_space(reference: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Explainer(total, SPACE, reference=reference)


def test_a_journal_is_a_file_or_a_store() -> None:
    with pytest.raises(InputError, match="journal must be a Journal or the name of a file, got int"):
        Explainer(total, SPACE, journal=3)  # type: ignore[arg-type]


def test_a_reference_gives_the_model_frames() -> None:
    given: list[Any] = []

    def predict(rows: Any) -> Any:
        given.append(rows)
        return total(rows)

    frame = pd.DataFrame({"a": np.array([0, 9], dtype=np.int8), "b": [0.0, 9.0]})
    Explainer(predict, SPACE, reference=frame).explain([1, 1])
    assert all(list(rows.columns) == ["a", "b"] for rows in given)
    assert all(rows.dtypes.tolist() == frame.dtypes.tolist() for rows in given)


def test_awaiting_asks_the_same_questions() -> None:
    explainer = Explainer(total, SPACE)
    assert asyncio.run(explainer.aexplain([1, 1])) == explainer.explain([1, 1])


@pytest.mark.parametrize("how", ["explain", "explain_table", "frontier"])
def test_c2_a_look_can_end_a_search(how: str) -> None:
    class Left(BaseException):
        pass

    def look() -> None:
        raise Left

    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "ab"])
    explainer = Explainer(lambda rows: rows.sum(axis=1) >= 12, space).through(lambda predict: predict, look)
    row: dict[str, Any] = {"explain": [1, 1], "explain_table": [[1, 1], [2, 2]], "frontier": [1, 1]}
    with pytest.raises(Left):
        getattr(explainer, how)(row[how], *([["a", "b"]] if how == "frontier" else []))
