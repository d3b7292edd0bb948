"""Work in other processes: every piece once, and errors that say what to do."""

import os
import signal
import warnings

import pytest

from flipset.errors import InputError, WorkerLost
from flipset.explain.workers import in_processes


def double(piece: int) -> tuple[int, int]:
    return 2 * piece, os.getpid()


def fail_on_two(piece: int) -> int:
    if piece == 2:
        raise ZeroDivisionError("piece 2")
    return piece


def die(piece: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return piece


def test_every_piece_is_done_once_and_elsewhere() -> None:
    results = dict(in_processes(double, [1, 2, 3, 4, 5], 2))
    assert {i: value for i, (value, _) in results.items()} == {0: 2, 1: 4, 2: 6, 3: 8, 4: 10}
    assert os.getpid() not in {pid for _, pid in results.values()}


def test_what_cannot_travel_is_refused_before_anything_starts() -> None:
    with pytest.raises(InputError, match="workers=2 needs a model that can be sent to other processes"):
        next(in_processes(lambda piece: piece, [1], 2))


def test_an_error_of_the_work_is_the_callers() -> None:
    with pytest.raises(ZeroDivisionError, match="piece 2"):
        list(in_processes(fail_on_two, [1, 2, 3], 1))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are not killed by a signal here")
def test_a_process_that_dies_is_said_to_have_died() -> None:
    with pytest.raises(WorkerLost, match="a worker process died"):
        list(in_processes(die, [1], 1))


def warn_twice(piece: int) -> int:
    warnings.warn(f"piece {piece}", UserWarning, stacklevel=1)
    warnings.warn("any piece", UserWarning, stacklevel=1)
    return piece


def test_warnings_of_workers_are_those_of_the_program(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("default")
        assert sorted(in_processes(warn_twice, [1, 2], 1)) == [(0, 1), (1, 2)]
    assert sorted(str(one.message) for one in noted) == ["any piece", "piece 1", "piece 2"]
    assert capfd.readouterr().err == ""
