"""The results of a table: equal rows once, identifiers, errors in their places, thresholds, workers, and pickles."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Explanation, InputError, OracleError, Space
from flipset.errors import Interrupted, Unavailable
from flipset.explain.answer_columns import AnswerRow
from flipset.explain.table_results import TableResults, explain_rows
from flipset.layers import Tally
from flipset.space.table_rows import read_table
from tests.same import answer_of

FRAME = pd.DataFrame({"a": [1.0, 2, 3, 4, 5, 1, 9], "b": [0.0, 1, 0, 1, 0, 0, 9]})


def approve(table: Any) -> Any:
    """A model at the top of a module: workers can be given it."""
    a, b = np.asarray(table["a"]), np.asarray(table["b"])
    return (a + 2 * b) / 30


def explainer(threshold: float = 0.5) -> Explainer:
    return Explainer(approve, Space.from_frame(FRAME, increasing=["a", "b"]), threshold=threshold)


def test_explanations_are_made_when_they_are_looked_at() -> None:
    results = explainer().explain_table(FRAME).results
    assert isinstance(results, TableResults)
    assert isinstance(results._held[0], AnswerRow)
    assert results[0] is not results[0]
    assert results[0] == results[0] == explainer_answer(0, results[0])
    assert results[-1] == results[len(FRAME) - 1]
    assert results[1:3] == (results[1], results[2])
    with pytest.raises(IndexError):
        results[len(FRAME)]


def explainer_answer(i: int, like: Explanation) -> Explanation:
    """The explanation of a row by itself, which is the same but for what depends on the search."""
    alone = explainer().explain(FRAME.iloc[[i]])
    assert answer_of(alone) == answer_of(like)
    return like


def test_equal_rows_are_held_once_and_their_queries_counted_once() -> None:
    t = explainer().explain_table(FRAME)
    results: Any = t.results
    explanations = [one for one in t if isinstance(one, Explanation)]
    assert results._held[0] is results._held[5]
    assert results.queries == t.queries == sum(e.queries for i, e in enumerate(explanations) if i != 5)
    assert results.rounds == max(e.rounds for e in explanations)


def test_results_compare_and_pickle_as_a_list_does() -> None:
    t = explainer().explain_table(FRAME)
    assert t.results == tuple(t)
    assert t.results != tuple(t)[:-1]
    loaded = pickle.loads(pickle.dumps(t.results))  # made here
    assert loaded == tuple(t)
    assert all(isinstance(one, Explanation) for one in loaded)
    with pytest.raises(TypeError, match="unhashable"):
        hash(t.results)


def test_identifiers_are_on_explanations_and_errors() -> None:
    frame = FRAME.assign(who=list("stuvwxy")).astype({"a": object})
    frame.loc[2, "a"] = "odd"
    space = Space.from_frame(FRAME, increasing=["a", "b"])
    t = Explainer(approve, space).explain_table(frame, id="who")
    assert [one.id for one in t] == [{"who": letter} for letter in "stuvwxy"]
    assert isinstance(t[2], InputError)
    assert "row 2 (who u)" in str(t[2])
    # Equal rows share what is held, and differ in their identifiers.
    assert t[0].id != t[5].id


@pytest.mark.parametrize("workers", [1, 2])
def test_several_thresholds_give_a_table_each(workers: int) -> None:
    found = explainer().explain_table(FRAME, thresholds=[0.3, 0.5, 0.6], workers=workers)
    for threshold in (0.3, 0.5, 0.6):
        alone = explainer(threshold).explain_table(FRAME)
        assert list(map(answer_of, found.at(threshold))) == list(map(answer_of, alone)), threshold


def test_workers_return_what_this_process_does() -> None:
    here, there = (explainer().explain_table(FRAME, workers=workers) for workers in (1, 2))
    assert list(there) == list(here)
    assert (there.queries, len(there)) == (here.queries, len(here))
    assert isinstance(there.results._held[0], AnswerRow)  # type: ignore[attr-defined]


class Job:
    """A job whose results are texts; it may end with an error."""

    def __init__(self, rows: Any, ends: BaseException | None) -> None:
        self.rows, self.ends = rows, ends

    def all(self, rows: Any, workers: int, tally: Tally) -> Any:
        for i in reversed(range(len(rows))):  # in any order
            if i == 0 and self.ends is not None:
                raise self.ends
            tally.queries += 1
            yield i, Interrupted() if rows[i][0] == 3.0 else f"{rows[i]}"


@pytest.mark.parametrize("ends", [None, KeyboardInterrupt(), Unavailable("gone")], ids=repr)
def test_every_row_has_its_result_in_its_place(ends: BaseException | None) -> None:
    table = [[1.0, 2.0], [3.0, 4.0], [1.0], [5.0, 6.0], [3.0, 4.0]]
    rows = read_table(table, ("a", "b"), (), None)
    done: dict[int, Any] = {}
    reported: list[tuple[int, int]] = []
    results = explain_rows(
        lambda rows: Job(rows, ends),
        rows,
        1,
        Tally(),
        each=lambda i, result: done.__setitem__(i, result),
        report=lambda *counts: reported.append(counts),
    )
    assert len(results) == 5
    assert isinstance(results[2], InputError)
    assert "row 2" in str(results[2])
    assert type(results[1]) is type(results[4]) is Interrupted
    assert results[3] == "(5.0, 6.0)"
    if ends is None:
        assert results[0] == "(1.0, 2.0)"
        assert reported[-1] == (5, 3)
    else:
        assert type(results[0]) is (Interrupted if isinstance(ends, KeyboardInterrupt) else Unavailable)
        assert 0 not in done  # it was not done
    assert {i: str(one) for i, one in done.items()} == {i: str(results[i]) for i in done}
    assert [count for count, _ in reported] == list(range(1, len(reported) + 1))


def test_a_row_on_which_the_model_fails_has_that_error() -> None:
    def touchy(table: Any) -> Any:
        if (np.asarray(table["a"]) == 3).any():
            raise RuntimeError("not three")
        return approve(table)

    space = Space.from_frame(FRAME, increasing=["a", "b"])
    t = Explainer(touchy, space).explain_table(FRAME, fixed=["a"])
    assert [isinstance(one, OracleError) for one in t] == [value == 3 for value in FRAME["a"]]
    assert "not three" in str(t[2])
