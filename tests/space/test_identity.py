"""Two rows are the same only if the model is given the same values of the same types."""

from datetime import date
from decimal import Decimal
from math import copysign
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import Explainer, Explanation, Feature, Journal, OracleError, Space
from flipset.journal.file import SCHEMA
from flipset.space.identity import cell_key, different_rows, each_row_once, row_texts, table_keys, take_rows
from flipset.space.rows import Row

DIFFERENT: list[Any] = [
    1, 1.0, True, "1", np.float32(1), np.int32(1), Decimal(1), 0, 0.0, -0.0, False, None, float("nan"), pd.NA, pd.NaT,
    "", "None", "nan", date(2020, 1, 1), pd.Timestamp(2020, 1, 1), 2**53, 2**53 + 1, float(2**53), b"1",
]  # fmt: skip


def test_cells_that_a_model_can_tell_apart_have_different_keys() -> None:
    assert len({cell_key(cell) for cell in DIFFERENT}) == len(DIFFERENT)
    assert len({Row.of([cell]) for cell in DIFFERENT}) == len(DIFFERENT)
    assert cell_key(float("nan")) == cell_key(float("nan") * -1)
    assert Row.of([1.5, None]) == Row.of([1.5, None])
    assert Row.of([1.5]) != (1.5,)


TABLES = [
    np.array([[1.0, np.nan], [1.0, np.nan], [-0.0, 2.0], [0.0, 2.0]]),
    np.array([[1, None], [1, None], [1.0, None], [True, None]], dtype=object),
    pd.DataFrame({"a": [1.0, 1.0, -0.0, 0.0], "b": ["x", "x", "y", "y"]}),
    pd.DataFrame({"a": pd.Series([1, 1, None, 0], dtype="Int64"), "b": pd.Categorical(["x", "x", "y", "y"])}),
    pd.DataFrame({"a": [None, None, np.nan, "nan"]}, dtype=object),
    pl.DataFrame({"a": [float("nan"), float("nan"), None, 0.0], "b": [1, 1, 1, 1]}),
    pa.table({"a": pa.array([float("nan"), float("nan"), None, 0.0]), "b": ["x", "x", "x", "x"]}),
]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{type(table).__module__}.{type(table).__name__}")
def test_only_rows_that_are_the_same_share_an_answer(table: Any) -> None:
    assert [key == table_keys(table)[0] for key in table_keys(table)] == [True, True, False, False]
    texts = row_texts(table)
    assert [text == texts[0] for text in texts] == [True, True, False, False]
    assert len(set(texts)) == len(set(table_keys(table))) == 3
    given: list[Any] = []

    def ask(rows: Any) -> Any:
        given.append(rows)
        return np.arange(len(rows), dtype=float)

    assert each_row_once(ask)(table).tolist() == [0, 0, 1, 2]
    assert table_keys(given[0]) == table_keys(take_rows(table, [0, 2, 3]))
    assert type(given[0]) is type(table)


@given(
    st.lists(st.integers(0, 3), max_size=12), st.integers(0, 3), st.sampled_from(["float64", "int8", "U2", "object"])
)
def test_distinct_rows_come_in_the_order_of_their_first(numbers: list[int], width: int, dtype: str) -> None:
    """The number 0 stands for bytes that are all zero, which a key must not lose."""
    table = np.array([[0] * max(width - 1, 0) + [n] * min(width, 1) for n in numbers]).reshape(len(numbers), width)
    different, which = different_rows(table.astype(dtype))
    first = list(dict.fromkeys(numbers if width else [0] * len(numbers)))
    assert different[:, -1:].astype(int).reshape(-1).tolist() == (first if width else [])
    assert len(different) == len(first)
    assert (which is None) == (len(first) == len(numbers))
    if which is not None:
        assert (different[which] == table.astype(dtype)).all()


def test_a1_nan_and_null_are_two_rows_of_a_table() -> None:
    frame = pl.DataFrame({"a": [float("nan"), None], "x": [4, 4]})
    space = Space([Feature("a"), Feature("x", "integer", direction=+1, lower=0, upper=9)], reference=frame)
    explainer = Explainer(lambda rows: rows["x"] - rows["a"].fill_nan(5.0).fill_null(0.0), space, threshold=3)
    found = explainer.explain_table(frame)
    assert [(e.decision, e.score) for e in found] == [(False, -1.0), (True, 4.0)]  # type: ignore[union-attr]
    assert list(map(repr, found)) == [repr(explainer.explain(frame[i])) for i in range(2)]
    assert all(explainer.verify(e) for e in found if isinstance(e, Explanation))


def test_a1_one_and_true_are_two_rows_of_a_table() -> None:
    space = Space([Feature("a"), Feature("x", "integer", direction=+1, lower=0, upper=9), Feature("t")])

    def model(rows: Any) -> Any:
        return np.array([row[1] + 4 * (row[0] is True) + (0 if copysign(1, row[0]) > 0 else 2) for row in rows])

    explainer = Explainer(model, space, threshold=7)
    rows = [[1, 2, "a"], [True, 2, "a"], [1.0, 2, "a"], [0.0, 2, "a"], [-0.0, 2, "a"]]
    found = explainer.explain_table(rows)
    assert [e.score for e in found] == [2, 6, 2, 2, 4]  # type: ignore[union-attr]
    assert list(found) == [explainer.explain(row) for row in rows]


def test_a1_a_journal_tells_rows_apart(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [float("nan"), None], "x": [4, 4]})
    space = Space([Feature("a"), Feature("x", "integer", direction=+1, lower=0, upper=9)], reference=frame)
    asked = 0

    def model(rows: Any) -> Any:
        nonlocal asked
        asked += len(rows)
        return rows["x"] - rows["a"].fill_nan(5.0).fill_null(0.0)

    for _ in range(2):
        journal = Journal(tmp_path / "answers.db", model="m")
        explainer = Explainer(model, space, threshold=3, journal=journal)
        found = [explainer.explain(frame[i]) for i in range(2)]
        assert [e.score for e in found] == [-1.0, 4.0]
        assert asked == len(journal) == sum(e.queries for e in found)
        journal.close()
    recalled = Explainer(Journal(tmp_path / "answers.db", model="m").model(), space, threshold=3)
    assert [recalled.verify(e) and e.score for e in found] == [-1.0, 4.0]


def earlier_journal(path: Path, rows: dict[str, float]) -> None:
    """Write a journal as it was before rows were known by their types."""
    import sqlite3

    file = sqlite3.connect(path)
    for name in ("about", "answers"):
        file.execute(SCHEMA[name])
    file.executemany("INSERT INTO answers VALUES (?, ?, 0)", rows.items())
    file.commit()
    file.close()


def test_a_journal_of_the_earlier_kind_opens_and_only_what_is_sure_is_used(tmp_path: Path) -> None:
    space = Space([Feature("x", direction=+1, lower=0, upper=9.1, step=1.3), Feature("y", fixed=True)])
    asked: list[Any] = []

    def model(rows: Any) -> Any:
        asked.extend(map(tuple, rows.tolist()))
        return rows[:, 0]

    earlier_journal(
        tmp_path / "answers.db", {"[0.1, 0.3]": 0.1, "[9.1, 0.3]": 9.1, "[0.1, 2]": -5.0, "[9.1, null]": -5.0}
    )
    journal = Journal(tmp_path / "answers.db", model="m")
    explainer = Explainer(model, space, threshold=5, journal=journal)
    explainer.explain([0.1, 0.3])
    assert (0.1, 0.3) not in asked
    assert (9.1, 0.3) not in asked
    for y in (2.0, None):  # 2 may have been a whole number, and what is missing NaN
        assert explainer.explain([0.1, y]).score == 0.1
    assert {(0.1, 2.0), (9.1, 2.0)} <= set(asked)
    assert dict(journal.about())["without types"] == "4"
    journal.close()
    with pytest.raises(OracleError, match="do not say the types of values"):
        Journal(tmp_path / "answers.db", model="").model()(np.array([[0.1, 7.0]]))


def test_a_journal_without_types_to_ask_by_answers_where_there_is_one_answer(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "answers.db", model="m")
    ask = journal.before(lambda rows: np.array([float(value is True) for value in rows[:, 0]]))
    ask(np.array([[1], [True], [2]], dtype=object))
    recall = journal.model()
    assert recall(np.array([[2.0]])).tolist() == [0.0]
    with pytest.raises(OracleError, match=r"has 2 answers for rows that read .1., by the types of their values"):
        recall(np.array([[1.0]]))
    assert recall(np.array([[True]], dtype=object)).tolist() == [1.0]
    journal.close()
