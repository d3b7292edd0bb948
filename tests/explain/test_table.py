"""Whole tables in lock-step: the same answers as row by row, in far fewer calls."""

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from flipset import Explainer, Explanation, Explanations, Feature, InputError, OracleError, Space
from flipset.errors import BudgetExhausted, FlipsetError, Interrupted, Unavailable, WorkerLost
from flipset.explain.request import request_for
from flipset.search.guided import guided_search
from flipset.space.table_rows import read_table
from tests.same import answer_of, is_confirmed
from tests.spaces import draw_case

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in ("a", "b", "c")])


def total(rows: Any) -> Any:
    return np.asarray(rows).sum(axis=1) >= 15


def table(n: int = 60) -> Any:
    return np.random.default_rng(0).integers(0, 10, (n, 3))


def test_the_same_as_row_by_row_in_fewer_calls() -> None:
    asked: list[int] = []

    def predict(rows: Any) -> Any:
        asked.append(len(rows))
        assert len(np.unique(rows, axis=0)) == len(rows)  # no row is asked twice in one call
        return total(rows)

    explainer = Explainer(predict, SPACE)
    rows = table()
    t = explainer.explain_table(rows)
    assert t.rounds == len(asked)
    shared = t.queries - sum(asked)  # questions of several rows that were about one
    alone = [explainer.explain(row) for row in rows]
    assert list(map(answer_of, t)) == list(map(answer_of, alone))
    assert t.rounds < sum(e.rounds for e in alone) / 10
    assert shared > 0
    # Equal rows are explained once.
    each = {tuple(e.row.values()): e for e in t if isinstance(e, Explanation)}
    assert t.queries == sum(e.queries for e in each.values())


@pytest.mark.parametrize("width", [1, 7, 10_000])
def test_any_width_and_any_size_of_call_gives_the_same(width: int) -> None:
    largest = 0

    def predict(rows: Any) -> Any:
        nonlocal largest
        largest = max(largest, len(rows))
        return total(rows)

    t = Explainer(predict, SPACE).explain_table(table(), width=width, max_rows=40)
    assert list(t) == list(Explainer(total, SPACE).explain_table(table()))
    assert largest <= 40


def test_mixed_spaces_agree_too() -> None:
    for seed in range(40):
        case = draw_case(seed, margins=True)
        explainer = Explainer(case.predict, case.space, cost=case.cost)
        rows = [case.row, draw_case(seed, margins=True).row, case.row]
        alone = [answer_of(explainer.explain(row)) for row in rows]
        assert list(map(answer_of, explainer.explain_table(rows))) == alone


def test_equal_rows_are_explained_once() -> None:
    explainer = Explainer(total, SPACE)
    once = explainer.explain_table([[1, 2, 3]])
    many = explainer.explain_table([[1, 2, 3]] * 50)
    assert (many.queries, many.rounds, len(many)) == (once.queries, once.rounds, 50)


@pytest.mark.parametrize("module", [pd, pl], ids=["pandas", "polars"])
def test_frames_come_out_as_they_went_in(module: Any) -> None:
    frame = (
        module.DataFrame(table(), columns=["a", "b", "c"])
        if module is pd
        else pl.DataFrame(table(), schema=list("abc"))
    )
    t = Explainer(
        lambda rows: np.asarray(rows["a"]) + np.asarray(rows["b"]) >= 12, Space.from_frame(frame, increasing=["a", "b"])
    ).explain_table(frame)
    wide, long = t.to_frame(), t.to_frame(long=True)
    assert isinstance(wide, module.DataFrame)
    assert len(wide) == len(frame)
    assert len(long) == sum(len(e.counterfactuals) for e in t if isinstance(e, Explanation))
    assert [*wide.columns][:6] == ["decision", "outcome", "score", "status", "basis", "size"]
    better = np.asarray(wide["new_a"]) + np.asarray(wide["new_b"])
    assert ((better >= 12) != np.asarray(wide["decision"])).all()


def test_what_the_rows_say_together() -> None:
    rows = np.array([[9, 9, 9], [9, 0, 0], [0, 0, 0], [6, 0, 0]])
    t = Explainer(total, SPACE).explain_table(rows, fixed=["c"])
    summary = t.summary()
    assert (summary.rows, summary.errors, summary.stopped) == (4, 0, 0)
    assert dict(summary.declined.sizes) == {1: 2, 2: 1}
    assert dict(summary.approved.sizes) == {2: 1}
    assert summary.declined.in_some["b"] == 1.0
    by = t.summary_by(["x", "x", "y", "y"])
    assert (by["x"].declined.sizes, by["x"].approved.sizes) == ({1: 1}, {2: 1})
    assert (by["y"].declined.sizes, by["y"].approved.sizes) == ({1: 1, 2: 1}, {})
    with pytest.raises(InputError, match="one value for each row: 4, got 1"):
        t.summary_by(["x"])


def test_no_way_out_is_counted() -> None:
    t = Explainer(total, SPACE).explain_table([[0, 0, 0], [9, 9, 9]], fixed=["b", "c"])
    assert (t.summary().declined.no_way_out, t.summary().approved.no_way_out) == (1.0, 1.0)


def test_no_rows_give_an_empty_table() -> None:
    t = Explainer(total, SPACE).explain_table(np.empty((0, 3)))
    assert (len(t), t.queries, t.summary().rows) == (0, 0, 0)
    assert t.to_frame().shape[0] == 0


def test_a_row_that_cannot_be_explained_keeps_the_others() -> None:
    space = Space(
        [Feature("a", "integer", direction=+1, lower=0, upper=9), Feature("b", "categorical", options=("x", "y"))]
    )

    def predict(rows: Any) -> Any:
        return [row[0] + (row[1] == "y") >= 9 for row in rows]

    t = Explainer(predict, space).explain_table([[3, "x"], ["much", "x"], [4, "y"]])
    assert isinstance(t[1], InputError)
    assert "the row has 'much'" in t.to_dict()["error"][1]
    assert [e.status for e in (t[0], t[2])] == ["optimal", "optimal"]
    assert t.summary().errors == 1


def test_a_model_that_fails_on_some_rows_is_blamed_for_those() -> None:
    def predict(rows: Any) -> Any:
        if (rows[:, 0] == 3).any():
            raise RuntimeError("three is too much")
        return total(rows)

    rows = [[1, 2, 3], [3, 1, 1], [9, 0, 0], [0, 0, 0]]
    t = Explainer(predict, SPACE).explain_table(rows, fixed=["a"])
    assert isinstance(t[1], OracleError)
    assert "three is too much" in str(t[1])
    assert [isinstance(e, Explanation) for e in t] == [True, False, True, True]


def test_a_row_on_which_the_model_fails_late_is_not_asked_again_from_the_start() -> None:
    rows = [[1, 2, 3], [3, 1, 1], [2, 0, 0], [0, 0, 0], [3, 2, 2]]
    bad = {1, 4}
    answered: Counter[tuple[float, ...]] = Counter()
    failed: Counter[tuple[float, ...]] = Counter()

    def predict(table: Any) -> Any:
        # Column d names the row. The bad ones fail when everything is flipped but column b, in the middle of a search.
        asked = [tuple(row) for row in table.tolist()]
        trouble = [row for row in asked if row[3] in bad and row[0] == 9 and row[1] < 9 and row[2] == 9]
        if trouble:
            failed.update(trouble)
            raise RuntimeError(f"not {trouble[0]}")
        answered.update(asked)
        return table[:, :3].sum(axis=1) / 27

    space = Space([*(Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"), Feature("d")])
    explainer = Explainer(predict, space, threshold=0.7)
    t = explainer.explain_table([[*row, i] for i, row in enumerate(rows)])
    assert [isinstance(e, OracleError) for e in t] == [i in bad for i in range(len(rows))]
    assert failed
    assert set(answered.values()) == {1}
    for i in bad:
        with pytest.raises(OracleError) as alone:
            explainer.explain([*rows[i], i])
        assert str(alone.value) == str(t[i])


def test_an_interrupt_keeps_what_is_finished() -> None:
    calls = 0

    def predict(rows: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 30:
            raise KeyboardInterrupt
        return total(rows)

    t = Explainer(predict, SPACE).explain_table(table(), width=5)
    finished = [e for e in t if isinstance(e, Explanation)]
    assert 0 < len(finished) < len(t)
    assert all(isinstance(e, BudgetExhausted) for e in t if not isinstance(e, Explanation))
    assert t.summary().errors == len(t) - len(finished)
    assert "interrupted before it was explained" in t.to_dict()["error"]


def test_progress_is_told() -> None:
    told: list[tuple[int, int, int]] = []
    t = Explainer(total, SPACE).explain_table(table(20), progress=lambda *state: told.append(state))
    assert told[-1] == (20, 20, t.queries)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


def test_a_bar_is_shown_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    Explainer(total, SPACE).explain_table(table(5), progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "5/5 rows" in err


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("abc", "expected a frame or an array of rows, got str"),
        (pd.DataFrame({"a": [1]}), "the table has no column 'b'"),
        (np.zeros(3), r"expected a table of two dimensions, got an array of shape \(3,\)"),
    ],
)
def test_bad_tables_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Explainer(total, SPACE).explain_table(rows)


def test_it_is_a_sequence() -> None:
    t = Explainer(total, SPACE).explain_table(table(4))
    assert isinstance(t, Explanations)
    assert (len(t), t[0], list(t)[-1]) == (4, t.results[0], t.results[-1])


def test_what_is_wrong_for_all_rows_is_said_once() -> None:
    heavy = Space([Feature("a", "binary", direction=+1, weight=2), Feature("b", "binary", direction=+1)])
    explainer = Explainer(lambda rows: rows.sum(axis=1) >= 2, heavy)
    with pytest.raises(InputError, match="use one of the two"):
        explainer.explain_table([[0, 0], [0, 1]], max_changes=1)
    with pytest.raises(InputError, match="max_queries must be at least 1"):
        explainer.explain_table([[0, 0]], max_queries=0)


def approve(rows: Any) -> Any:
    """A model at the top of a module: workers can be given it."""
    table = np.asarray(rows, dtype=float)
    if (table[:, 0] == 13).any():
        raise RuntimeError("unlucky")
    return table[:, 0] - table[:, 1] >= 40


def test_workers_return_what_one_process_does() -> None:
    a, b = (Feature(name, "integer", lower=0, upper=60) for name in "ab")
    space = Space([replace(a, direction=+1), replace(b, direction=-1)])
    explainer = Explainer(approve, space)
    rows = [[a, b] for a in range(8, 20) for b in (10, 30, 50)] + [[9, 10], [3, "x"]]
    seen: list[tuple[int, int, int]] = []
    alone = explainer.explain_table(rows)
    shared = explainer.explain_table(rows, workers=2, progress=lambda *told: seen.append(told))
    assert [str(a) for a in alone] == [str(b) for b in shared]
    assert alone.queries == shared.queries == seen[-1][2]
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert seen[-1][:2] == (len(rows), len(rows))
    errors = [result for result in shared if isinstance(result, FlipsetError)]
    assert len(errors) == 4  # three that the model fails on, and one that is no row
    assert isinstance(shared[-1], InputError)
    assert isinstance(errors[0], OracleError)
    assert "unlucky" in str(errors[0])
    for e in shared:
        assert isinstance(e, FlipsetError) or is_confirmed(explainer, e)


def test_workers_need_a_model_that_can_be_sent() -> None:
    space = Space([Feature("a", "integer", direction=+1, lower=0, upper=9)])
    explainer = Explainer(lambda rows: rows[:, 0] >= 5, space)
    with pytest.raises(InputError, match=r"workers=2 needs a model that can be sent to other processes"):
        explainer.explain_table([[1], [2]], workers=2)
    with pytest.raises(InputError, match="workers must be a whole number of at least 1"):
        explainer.explain_table([[1], [2]], workers=0)


def die(rows: Any) -> Any:
    os._exit(3)


def test_a_worker_that_dies_is_an_error_not_a_wait() -> None:
    space = Space([Feature("a", "integer", direction=+1, lower=0, upper=9)])
    with pytest.raises(WorkerLost, match="a worker process died"):
        Explainer(die, space).explain_table([[1], [2], [3]], workers=2)


def lose_connection(rows: Any) -> Any:
    if (np.asarray(rows)[:, 2] == 8).any():  # the third column stays as it is
        raise ConnectionResetError("gone")
    return np.asarray(rows)[:, :2].sum(axis=1) >= 12


@pytest.mark.parametrize("workers", [1, 2])
def test_c3_a_fault_ends_the_table_and_keeps_what_is_finished(workers: int) -> None:
    explainer = Explainer(lose_connection, Space([*SPACE.features[:2], Feature("c", fixed=True)]))
    rows = np.array([[i % 5, i // 5, 8 if i == 20 else 0] for i in range(25)])
    seen: list[int] = []
    found = explainer.explain_table(rows, width=1, workers=workers, each=lambda i, _: seen.append(i))
    finished = [i for i, result in enumerate(found) if not isinstance(result, FlipsetError)]
    assert finished == sorted(seen) != []
    assert 20 not in finished
    assert {type(result) for i, result in enumerate(found) if i not in finished} == {Unavailable}


def test_c3_a_piece_of_a_table_returns_what_was_finished_before_a_fault() -> None:
    explainer = Explainer(lose_connection, Space([*SPACE.features[:2], Feature("c", fixed=True)]))
    rows = read_table([[1, 2, 0], [3, 4, 0], [5, 6, 8], [7, 8, 0]], SPACE.names, (), None)
    # With a limit for each row, rows are asked one after another; otherwise the table search asks them together.
    limited = request_for(explainer.space, max_queries=1000)
    job = explainer._job(explainer.space, limited, rows, width=1)  # type: ignore[arg-type]
    results, tally, fault = job.piece(rows)
    assert isinstance(fault, Unavailable)
    assert list(results) == [0, 1]
    assert tally.queries == sum(e.queries for e in results.values() if isinstance(e, Explanation))


def test_tables_are_written_by_their_ending(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 13, 45], "b": [10, 10, 50]})
    explainer = Explainer(approve, Space.from_frame(frame, increasing=["a"], decreasing=["b"]))
    t = explainer.explain_table(frame)
    for long in (False, True):
        t.write(tmp_path / "t.csv", long=long)
        t.write(tmp_path / "t.parquet", long=long)
        expected = t.to_frame(long=long)
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "t.parquet"), expected)
        read = pd.read_csv(tmp_path / "t.csv")
        assert list(read.columns) == list(expected.columns)
        advice = [[text if isinstance(text, str) else "" for text in table["advice"]] for table in (read, expected)]
        assert advice[0] == advice[1]
    t.write(tmp_path / "t.jsonl")
    first, second, _ = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    assert Explanation.from_json(first) == t[0]
    assert "unlucky" in json.loads(second)["error"]
    with pytest.raises(InputError, match=r"t\.xlsx: expected a file \.csv, \.parquet or \.jsonl"):
        t.write(tmp_path / "t.xlsx")


def test_missing_groups_are_one_group() -> None:
    t = Explainer(total, SPACE).explain_table(table(3))
    assert list(t.summary_by([1.0, float("nan"), None])) == [1.0, None]
    assert sum(summary.rows for summary in t.summary_by([float("nan"), None, np.nan]).values()) == 3


def test_an_interrupt_in_the_midst_of_a_search_ends_the_table_and_not_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt comes when it comes, most often while something is planned rather than asked."""
    begun = 0

    def interrupted(d: int, **how: Any) -> Any:
        nonlocal begun
        begun += 1
        search = guided_search(d, **how)
        first = next(search)
        answers = yield first
        if begun > 5:
            raise KeyboardInterrupt
        return (yield from _rest(search, answers))

    def _rest(search: Any, answers: Any) -> Any:
        try:
            while True:
                answers = yield search.send(answers)
        except StopIteration as stop:
            return stop.value

    monkeypatch.setattr("flipset.explain.row.guided_search", interrupted)
    t = Explainer(total, SPACE).explain_table(table(30), width=3, batch=8)
    unfinished = [result for result in t if isinstance(result, FlipsetError)]
    assert unfinished
    assert all(isinstance(result, Interrupted) for result in unfinished)
    assert all(e.status in ("optimal", "none") for e in t if not isinstance(e, FlipsetError))
