"""Python's collector looks less often inside, and as before outside."""

import gc
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from flipset.explain.collecting import NEW_OBJECTS, FewerCollections


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_the_threshold_is_raised_inside_and_put_back() -> None:
    gc.set_threshold(700, 10, 10)
    with FewerCollections():
        assert gc.get_threshold() == (NEW_OBJECTS, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_it_is_put_back_after_an_error() -> None:
    gc.set_threshold(700, 10, 10)
    with pytest.raises(RuntimeError), FewerCollections():
        raise RuntimeError
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("own", [0, NEW_OBJECTS * 2])
def test_a_collector_that_is_off_or_rarer_stays_so(own: int) -> None:
    gc.set_threshold(own, 10, 10)
    with FewerCollections():
        assert gc.get_threshold()[0] == own


def test_the_last_of_several_threads_puts_it_back() -> None:
    gc.set_threshold(700, 10, 10)
    fewer, inside, leave = FewerCollections(), Event(), Event()

    def work() -> None:
        with fewer:
            inside.set()
            leave.wait()

    with fewer:
        other = Thread(target=work)
        other.start()
        inside.wait()
    assert gc.get_threshold()[0] == NEW_OBJECTS  # the other is still inside
    leave.set()
    other.join()
    assert gc.get_threshold() == (700, 10, 10)
