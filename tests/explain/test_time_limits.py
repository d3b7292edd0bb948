"""Limits of time: a row's own work in tables, a limit for the table, and both with a model that does not return."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Event
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, Space
from flipset.drivers import abandon
from flipset.errors import NotReturned
from flipset.explain.time_limits import Deadline, RowClocks

PATIENCE = 60  # seconds, against hanging only
SPACE = Space([Feature(f"x{i}", "integer", direction=+1, lower=0, upper=9) for i in range(6)])
ROWS = [[i % 3] * 5 + [i % 10] for i in range(20)]


class Wall:
    """A clock that the model moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    clock = Wall()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


def slow(wall: Wall, seconds_per_row: float) -> Explainer:
    def model(rows: np.ndarray) -> np.ndarray:
        wall.now += seconds_per_row * len(rows)
        return np.asarray(rows.sum(axis=1) >= 20)

    return Explainer(model, SPACE)


@pytest.mark.parametrize("how", [{}, {"width": 3}, {"in_flight": 2}])
def test_c6_a_limit_that_suffices_alone_suffices_in_a_table(wall: Wall, how: dict[str, Any]) -> None:
    explainer = slow(wall, 1.0)
    most, alone = 0.0, []
    for row in ROWS:
        before = wall.now
        alone.append(explainer.explain(row))
        most = max(most, wall.now - before)
    found = explainer.explain_table(ROWS, max_seconds=most + 1, **how)
    assert [getattr(one, "status", one) for one in found] == [one.status for one in alone]
    stopped = explainer.explain_table(ROWS, max_seconds=2, **how)
    assert "stopped" in {getattr(one, "status", one) for one in stopped}


def test_c6_a_table_ends_with_its_time_and_says_which_rows_were_not_begun(wall: Wall) -> None:
    for batch in (None, 4):  # the table search and the guided search
        found = slow(wall, 1.0).explain_table(ROWS, max_table_seconds=150, width=4, batch=batch)
        statuses = [getattr(one, "status", str(one)) for one in found]
        assert "not begun: the time for the table was over (150 seconds)" in statuses
        assert set(statuses) & {"stopped", "optimal"}
    whole = slow(wall, 1.0).explain_table(ROWS, max_table_seconds=1e9)
    assert list(map(str, whole)) == list(map(str, slow(wall, 0.0).explain_table(ROWS)))


def alone(explainer: Explainer) -> Any:
    return [explainer.explain([0] * 6, max_seconds=0.3)]


def awaited(explainer: Explainer) -> Any:
    return [asyncio.run(explainer.aexplain([0] * 6, max_seconds=0.3))]


def in_a_table(explainer: Explainer) -> Any:
    return explainer.explain_table(ROWS[:3], max_seconds=0.3)


def in_a_limited_table(explainer: Explainer) -> Any:
    return explainer.explain_table(ROWS[:3], max_table_seconds=0.3)


def in_a_pool(explainer: Explainer) -> Any:
    return explainer.explain_table(ROWS[:3], max_table_seconds=0.3, in_flight=2)


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    monkeypatch.setattr(abandon, "GRACE", 0.01)
    event = Event()
    yield event
    event.set()


@pytest.mark.filterwarnings("always:the model did not return:RuntimeWarning")
@pytest.mark.parametrize("find", [alone, awaited, in_a_table, in_a_limited_table, in_a_pool])
@pytest.mark.parametrize("answered", [0, 1])
def test_c6_limits_hold_although_the_model_does_not_return(
    release: Event, find: Callable[[Explainer], Any], answered: int
) -> None:
    calls = []

    def model(rows: np.ndarray) -> np.ndarray:
        calls.append(len(rows))
        if len(calls) > answered:
            release.wait(PATIENCE)
        return np.asarray(rows.sum(axis=1) >= 20)

    explainer = Explainer(model, SPACE)
    found: list[Any] = []
    with pytest.warns(RuntimeWarning, match="the model did not return .* abandoned"), suppress(NotReturned):
        found += find(explainer)
    assert len(calls) <= answered + 2  # in a pool, two calls are under way
    if answered and find is not in_a_pool:
        assert {getattr(one, "status", None) for one in found} == {"stopped"}


def test_rows_share_a_call_by_their_queries(wall: Wall) -> None:
    clocks = RowClocks(10.0)

    def nothing(_: object) -> Any:
        yield [1]

    flows = [clocks.start(row, nothing) for row in "ab"]
    assert [next(flow) for flow in flows] == [[1], [1]]
    clocks.share("aaab", 8.0)
    assert (clocks.of["a"](), clocks.of["b"]()) == (6.0, 2.0)
    assert clocks.left("aab") == 4.0 + 8.0
    clocks.end("a")
    clocks.share("ab", 8.0)
    assert clocks.left("ab") == 4.0
    assert RowClocks(None).left("ab") == float("inf")


def test_a_deadline_begins_when_it_is_first_looked_at(wall: Wall) -> None:
    deadline = Deadline(5.0, " for the table")
    wall.now = 100.0
    assert deadline.is_over() is None
    wall.now = 105.0
    assert str(deadline.is_over()) == "not begun: the time for the table was over (5 seconds)"
