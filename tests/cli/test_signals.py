"""Commands end on signals, whatever the model does, and their workers with them."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flipset.cli.signals import Ending, Terminated, diverting, ending_on_signals, keeping

PATIENCE = 60  # seconds, against hanging only
linux = pytest.mark.skipif(sys.platform != "linux", reason="signals and /proc of Linux")

MODELS = """
import ctypes, os, time

def say():
    fd = os.open("state", os.O_WRONLY)  # a FIFO: the test reads it
    os.write(fd, f"{os.getpid()}\\n".encode())
    os.close(fd)

def deadlock(library):
    mutex = ctypes.create_string_buffer(64)
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)

def releasing(rows):  # never returns to Python, but lets other threads run
    say(); deadlock(ctypes.CDLL(None))

def holding(rows):  # lets nothing of Python run
    say(); deadlock(ctypes.PyDLL(None))

def swallowing(rows):
    say()
    while True:
        try: time.sleep(1000)
        except BaseException: pass

asked = 0
def after_a_while(rows):
    global asked
    asked += 1
    if asked > 1: releasing(rows)
    return rows[:, 0] >= 5
"""
ROWS = "a,b\n1,2\n3,4\n6,6\n7,8\n"


class Command:
    """A command whose model is inside a call that does not return."""

    def __init__(self, folder: Path, verb: str, model: str, *more: str) -> None:
        (folder / "mine.py").write_text(MODELS)
        (folder / "rows.csv").write_text(ROWS)
        os.mkfifo(folder / "state")
        code = "from flipset.cli import main; main()"
        options = ("--increasing", "a,b", "--threshold", "0.5")
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, verb, f"python:mine:{model}", "rows.csv", *more, *options],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with open(folder / "state") as state:  # opened when the model is asked
            self.asked_in = int(state.readline())

    def end(self, *signals: int) -> tuple[int, str]:
        """Send signals; return the exit code and what was printed."""
        try:
            for one in signals:
                self.process.send_signal(one)
            out, _ = self.process.communicate(timeout=PATIENCE)
            return self.process.returncode, out
        finally:
            self.process.kill()


@linux
@pytest.mark.parametrize(
    ("verb", "model", "sent", "code", "words"),
    [
        (
            ("explain", "--row", "0"),
            "releasing",
            [signal.SIGTERM],
            143,
            "terminated",
        ),
        (
            ("explain", "--row", "0"),
            "releasing",
            [signal.SIGINT],
            130,
            "interrupted",
        ),
        (("explain", "--row", "0"), "swallowing", [signal.SIGINT, signal.SIGTERM], None, "did not return"),
        (("explain", "--row", "0"), "holding", [signal.SIGTERM], -9, "killed, because the model did not return"),
        (("table", "-o", "out.csv"), "swallowing", [signal.SIGTERM], 143, "No row is finished"),
        (("serve", "--port", "0", "--no-browser"), "releasing", [signal.SIGTERM], 143, "terminated"),
    ],
)
def test_c6_a_command_ends_although_the_model_does_not_return(
    tmp_path: Path, verb: tuple[str, ...], model: str, sent: list[int], code: int | None, words: str
) -> None:
    got, out = Command(tmp_path, verb[0], model, *verb[1:]).end(*sent)
    assert words in out
    assert got == code or (code is None and got in (130, 143))  # two signals may be seen in either order


@linux
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("model", ["releasing", "holding"])
def test_c6_no_worker_outlives_the_command(tmp_path: Path, model: str, how: int) -> None:
    command = Command(tmp_path, "table", model, "-o", "out.csv", "--workers", "2")
    worker = os.pidfd_open(command.asked_in)
    try:
        assert command.asked_in != command.process.pid
        assert command.end(how)[0] == (143 if how == signal.SIGTERM else -9)
        import select

        assert select.select([worker], [], [], PATIENCE)[0], "the worker is still there"
    finally:
        os.close(worker)


def test_handlers_are_put_back_when_there_was_no_signal() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with ending_on_signals() as ending:
        assert signal.getsignal(signal.SIGTERM) == ending.handle
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    assert ending.exit_code() is None


def test_a_thread_changes_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)

    def run() -> None:
        with ending_on_signals():
            seen.append(signal.getsignal(signal.SIGINT))

    seen: list[object] = []
    thread = threading.Thread(target=run)
    thread.start()
    thread.join(PATIENCE)
    assert seen == [before]


def test_a_request_to_end_is_an_interrupt_with_its_own_exit_code() -> None:
    ending = Ending()
    with pytest.raises(Terminated):
        ending.handle(signal.SIGTERM, None)
    assert issubclass(Terminated, KeyboardInterrupt)
    assert (ending.exit_code(), ending.was_asked) == (143, True)
    ending = Ending()
    with pytest.raises(KeyboardInterrupt):
        ending.handle(signal.SIGINT, None)
    assert (ending.exit_code(), ending.was_asked) == (130, False)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, None), (signal.SIGTERM, 143)])
def test_an_interrupt_is_the_usual_end_of_a_command_that_diverts_it(number: int, code: int | None) -> None:
    seen: list[int] = []
    ending = Ending(divert=seen.append)
    ending.handle(number, None)
    assert (seen, ending.exit_code()) == ([number], code)


def test_a_command_may_divert_signals_and_say_what_it_keeps() -> None:
    seen: list[int] = []
    with ending_on_signals() as ending:
        with diverting(seen.append), keeping(lambda: "3 rows"):
            assert ending.divert is not None
            ending.divert(15)
            assert ending.finished() == "3 rows"
        assert getattr(ending, "divert", 1) is None
        assert ending.finished() == ""
    assert seen == [15]
