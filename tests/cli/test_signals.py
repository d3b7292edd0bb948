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
import ctypes, os, signal, time

def block(library):
    # One call says so and never returns. What it writes can be read only while it is inside, the pipe cannot hold all
    # of it, and signals are handled by other threads, so they do not end it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    state = os.open("state", os.O_WRONLY)  # a FIFO: the test reads its first line, and keeps it open
    text = f"{os.getpid()}\\n".encode() + bytes(1 << 21)
    library.write(state, text, len(text))

def releasing(rows):  # never returns to Python, but lets other threads run
    block(ctypes.CDLL(None))

def holding(rows):  # lets nothing of Python run
    block(ctypes.PyDLL(None))

def swallowing(rows):
    with open("state", "w") as state:
        while True:
            try:  # the second signal may be noticed between two rounds of the inner loop
                while True:
                    try:
                        print(os.getpid(), file=state, flush=True)  # at first, and after every signal
                        time.sleep(1000)
                    except BaseException: pass
            except BaseException: pass

def waiting(rows):  # can be interrupted
    with open("state", "w") as state:
        print(os.getpid(), file=state, flush=True)
    time.sleep(1000)
"""
ROWS = "a,b\n1,2\n3,4\n6,6\n7,8\n"


class Command:
    """A command whose model is inside a call that does not return."""

    def __init__(self, folder: Path, verb: str, model: str, *more: str) -> None:
        (folder / "mine.py").write_text(MODELS)
        (folder / "rows.csv").write_text(ROWS)
        os.mkfifo(folder / "state")
        # Whoever runs the tests may ignore a signal, as `nohup` does, and child processes inherit that.
        reset = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)"
        code = f"{reset}; from flipset.cli import main; main()"
        options = ("--increasing", "a,b", "--threshold", "0.5")
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, verb, f"python:mine:{model}", "rows.csv", *more, *options],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.state = open(folder / "state", "rb")  # noqa: SIM115 - as long as the model writes to it
        self.asked_in = int(self.state.readline())

    def end(self, *signals: int) -> tuple[int, str]:
        """Send signals, each after the one before was noticed; return the exit code and what was printed."""
        try:
            for i, one in enumerate(signals):
                if i:
                    self.state.readline()
                self.process.send_signal(one)
            out, _ = self.process.communicate(timeout=PATIENCE)
            return self.process.returncode, out
        finally:
            self.process.kill()
            self.state.close()


ABANDONED = "what was under way did not return, such as a call of the model, and was abandoned."
EXPLAIN = ("explain", "--row", "0")
SERVE = ("serve", "--port", "0", "--no-browser")


@linux
@pytest.mark.parametrize(
    ("verb", "model", "sent", "code", "words"),
    [
        (EXPLAIN, "releasing", [signal.SIGTERM], 143, f"flipset: terminated; {ABANDONED}"),
        (EXPLAIN, "releasing", [signal.SIGHUP], 129, f"flipset: terminated; {ABANDONED}"),
        (EXPLAIN, "releasing", [signal.SIGINT], 130, f"flipset: interrupted; {ABANDONED}"),
        # The second signal is the one that ends it.
        (EXPLAIN, "swallowing", [signal.SIGINT, signal.SIGTERM], 143, f"flipset: terminated; {ABANDONED}"),
        (EXPLAIN, "holding", [signal.SIGTERM], -9, "flipset: killed, because the model did not return and kept"),
        (("table", "-o", "out.csv"), "swallowing", [signal.SIGTERM], 143, f"{ABANDONED} No row is finished"),
        (SERVE, "releasing", [signal.SIGTERM], 143, f"flipset: terminated; {ABANDONED}"),
    ],
)
def test_c6_a_command_ends_although_the_model_does_not_return(
    tmp_path: Path, verb: tuple[str, ...], model: str, sent: list[int], code: int, words: str
) -> None:
    got, out = Command(tmp_path, verb[0], model, *verb[1:]).end(*sent)
    assert words in out
    assert got == code


@linux
def test_a_model_that_can_be_interrupted_is_not_said_to_be_abandoned(tmp_path: Path) -> None:
    got, out = Command(tmp_path, "explain", "waiting", "--row", "0").end(signal.SIGINT)
    assert (got, out) == (130, "flipset: interrupted\n")


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
