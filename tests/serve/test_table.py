"""The table in the background: it has budgets, it can be stopped, and viewed rows are explained all the same."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import pytest

from flipset import InputError
from flipset.serve import table as tables
from flipset.serve.calls import ModelAccess, Rank
from flipset.serve.row_results import STATUSES, RowResults
from flipset.serve.table import BackgroundTable
from tests.patience import PATIENCE
from tests.serve.running import FRAME, approve, explainer


class Counting:
    """A model that counts the rows it is asked about; it can be held up."""

    def __init__(self) -> None:
        self.rows = 0
        self.entered = Event()
        self.go = Event()
        self.go.set()

    def __call__(self, rows: Any) -> Any:
        self.entered.set()
        assert self.go.wait(PATIENCE)
        self.rows += len(rows)
        return approve(rows)


@contextmanager
def explaining(model: Any, *, eager: bool = True) -> Iterator[BackgroundTable]:
    access = ModelAccess()
    table = BackgroundTable(explainer(model), FRAME, access, eager=eager)
    table.start()
    try:
        yield table
    finally:
        access.close()
        table.close()
        table.join()


def wait(until: Callable[[], bool]) -> None:
    while not until():
        pass


def test_all_rows_are_explained() -> None:
    with explaining(Counting()) as table:
        table.join()
        progress = table.progress()
    assert progress["explained"] == progress["rows"] == len(FRAME)
    assert (progress["background"], progress["failure"]) == (False, "")


def test_the_report_that_counts_all_rows_says_that_none_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = []
    note = RowResults.note

    def noted(results: RowResults, *given: Any) -> None:
        note(results, *given)
        reports.append(table.progress())  # before the background has looked for more rows

    monkeypatch.setattr(RowResults, "note", noted)
    model = Counting()
    model.go.clear()  # until the table has a name here
    with explaining(model) as table:
        model.go.set()
        table.join()
    assert {report["explained"] == len(FRAME) for report in reports} == {False, True}
    for report in reports:
        left = report["explained"] < len(FRAME)
        assert (report["background"], report["may_explain_all"]) == (left, left)


def test_c11_a_row_in_the_background_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BACKGROUND_QUERIES", 4)
    model = Counting()
    with explaining(model) as table:
        table.join()
        kinds = {STATUSES[status] for status in table.results.status}
    assert "stopped" in kinds
    assert kinds <= {"stopped", "optimal", "none"}
    assert model.rows <= len(FRAME) * (1 + 4 + 4)  # scored once, a chunk together, and then each by itself
    assert table.failure == ""


def test_c11_rows_beyond_the_limit_are_explained_when_they_are_viewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BACKGROUND_ROWS", 20)
    with explaining(Counting()) as table:
        wait(lambda: not table.progress()["background"])
        assert table.progress()["explained"] == 20
        table.want([100, 101])
        wait(lambda: table.progress()["explained"] == 22)
        assert (table.results.status[[100, 101]] > 0).all()
        assert table.results.status[102] == 0


def test_c11_the_background_is_stopped_and_goes_on() -> None:
    model = Counting()
    model.go.clear()
    with explaining(model) as table:
        assert model.entered.wait(PATIENCE)
        table.explain_all(False)
        model.go.set()
        table.want([7])
        wait(lambda: bool(table.results.status[7]))
        assert table.progress()["explained"] == 1
        assert not table.progress()["background"]
        table.explain_all(True)
        table.join()
        assert table.progress()["explained"] == len(FRAME)
        assert table.failure == ""


def test_c11_a_call_that_waits_is_given_up_when_the_background_is_stopped() -> None:
    model = Counting()
    access = ModelAccess()
    table = BackgroundTable(explainer(model), FRAME, access)
    with access.working(Rank.ROW):  # a client keeps the background waiting
        table.start()
        table.explain_all(False)
        table.want([3])
    wait(lambda: bool(table.results.status[3]))
    assert table.progress()["explained"] == 1
    access.close()
    table.close()
    table.join()


def test_a_page_that_was_started_for_viewed_rows_only_stays_that_way() -> None:
    model = Counting()
    with explaining(model, eager=False) as table:
        with pytest.raises(InputError, match="--everything"):
            table.explain_all(True)
        table.explain_all(False)
        table.want([0])
        wait(lambda: bool(table.results.status[0]))
        assert table.progress()["may_explain_all"] is False
