"""Calls of the model: no more at a time than it bears, and people before the background. Events, no clocks."""

from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Any

import pytest

from flipset.serve.calls import GIVE_WAY, Gone, ModelAccess, Rank


def nobody_left() -> bool:
    return False


class Model:
    """Counts how many calls are inside at once; a call ends when it is let go."""

    def __init__(self) -> None:
        self.inside = self.most = self.calls = 0
        self.entered = Event()
        self.release = Event()
        self.lock = Lock()

    def __call__(self, rows: Any) -> Any:
        with self.lock:
            self.inside += 1
            self.calls += 1
            self.most = max(self.most, self.inside)
        self.entered.set()
        self.release.wait()
        with self.lock:
            self.inside -= 1
        return rows


def started(work: Callable[[], Any]) -> Thread:
    thread = Thread(target=work, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("at_once", [1, 2])
def test_no_more_calls_are_inside_than_the_model_bears(at_once: int) -> None:
    gate, model = ModelAccess(at_once), Model()
    ask = gate.for_work(model, Rank.ROW, nobody_left)
    threads = [started(lambda: ask([1])) for _ in range(6)]
    model.entered.wait()
    model.release.set()
    for thread in threads:
        thread.join()
    assert model.calls == 6
    assert model.most <= at_once


def test_the_background_waits_for_people_and_goes_on_after_them() -> None:
    gate, order = ModelAccess(), list[str]()
    ask = gate.for_work(lambda rows: order.append("background"), Rank.BACKGROUND, nobody_left)
    with gate.working(Rank.ROW):
        waiting = started(lambda: ask([1]))
        gate.for_work(lambda rows: order.append("person"), Rank.ROW, nobody_left)([1])
        assert order == ["person"]  # the background cannot have come before: somebody is there
    waiting.join()
    assert order == ["person", "background"]


def test_several_people_must_all_have_left() -> None:
    gate, done = ModelAccess(), Event()
    with gate.working(Rank.ROW):
        with gate.working(Rank.ROW):
            pass
        waiting = started(lambda: gate.for_work(lambda rows: done.set(), Rank.BACKGROUND, nobody_left)([1]))
        assert not done.is_set()
    waiting.join()
    assert done.is_set()


def test_whoever_is_gone_asks_nothing() -> None:
    gate = ModelAccess()
    gone = Event()
    ask = gate.for_work(lambda rows: rows, Rank.ROW, gone.is_set)
    assert ask([1]) == [1]
    gone.set()
    with pytest.raises(Gone):
        ask([1])


def test_a_closed_gate_lets_nothing_through_and_wakes_who_waits() -> None:
    gate = ModelAccess()
    ended: list[type[BaseException]] = []

    def background() -> None:
        try:
            gate.for_work(lambda rows: rows, Rank.BACKGROUND, nobody_left)([1])
        except Gone:
            ended.append(Gone)

    with gate.working(Rank.ROW):
        waiting = started(background)
        gate.close()
        waiting.join()
    assert ended == [Gone]
    assert gate.is_closed
    with pytest.raises(Gone):
        gate.for_work(lambda rows: rows, Rank.ROW, nobody_left)([1])


def test_that_somebody_is_gone_is_no_error_of_the_model() -> None:
    assert not issubclass(Gone, Exception)


def test_the_model_is_free_again_after_an_error() -> None:
    gate = ModelAccess()
    with pytest.raises(ZeroDivisionError):
        gate.for_work(lambda rows: 1 / 0, Rank.ROW, nobody_left)([1])
    assert gate.for_work(lambda rows: rows, Rank.ROW, nobody_left)([1]) == [1]


def test_c11_a_table_waits_for_a_person_and_the_background_for_a_table() -> None:
    gate, order = ModelAccess(), list[str]()
    with gate.working(Rank.TABLE):
        with gate.working(Rank.ROW):
            table = started(lambda: gate.for_work(lambda rows: order.append("table"), Rank.TABLE, nobody_left)([1]))
            gate.for_work(lambda rows: order.append("person"), Rank.ROW, nobody_left)([1])
            assert order == ["person"]
        table.join()
        background = started(
            lambda: gate.for_work(lambda rows: order.append("back"), Rank.BACKGROUND, nobody_left)([1])
        )
        assert order == ["person", "table"]
    background.join()
    assert order == ["person", "table", "back"]


def test_c11_a_table_is_not_starved() -> None:
    gate, looked, went = ModelAccess(), Event(), Event()

    def is_gone() -> bool:
        looked.set()  # the call is waiting from now on
        return False

    with gate.working(Rank.ROW):
        table = started(lambda: gate.for_work(lambda rows: went.set(), Rank.TABLE, is_gone)([1]))
        looked.wait()
        for _ in range(GIVE_WAY):
            assert not went.is_set()
            with gate.working(Rank.ROW):
                pass
        table.join()
    assert went.is_set()


def test_c11_a_call_that_waits_ends_when_its_client_leaves() -> None:
    gate, model, gone, looked = ModelAccess(), Model(), Event(), Event()
    running = started(lambda: gate.for_work(model, Rank.ROW, nobody_left)([1]))
    model.entered.wait()
    ended: list[type[BaseException]] = []

    def is_gone() -> bool:
        looked.set()
        return gone.is_set()

    def second() -> None:
        try:
            gate.for_work(model, Rank.ROW, is_gone)([1])
        except Gone:
            ended.append(Gone)

    waiting = started(second)
    looked.wait()
    gone.set()
    gate.wake()
    waiting.join()  # although the first call is still inside the model
    assert (ended, model.calls) == ([Gone], 1)
    model.release.set()
    running.join()
