"""Processes end with the program, their end is put into words, and a fork hangs on no lock."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest

from flipset import Explainer, Feature, Journal, Space
from flipset.boundary.processes import words_for_end
from flipset.explain.collecting import fewer_collections

PATIENCE = 60  # seconds, against hanging only
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
linux = pytest.mark.skipif(sys.platform != "linux", reason="uses the kernel's signals about pipes")

CHILD = """
import ctypes, os, sys
from flipset.boundary.processes import end_with_the_program
end_with_the_program(int(sys.argv[1]))
os.write(1, b"ready")
held = ctypes.PyDLL(None)  # keeps Python's lock, so that no thread of Python can run
mutex = ctypes.create_string_buffer(64)
held.pthread_mutex_lock(mutex)
held.pthread_mutex_lock(mutex)
"""


@pytest.mark.parametrize(
    ("code", "words"), [(0, "exit code 0"), (-11, "SIGSEGV"), (-9, "SIGKILL, which is also"), (-200, "signal 200")]
)
def test_the_end_of_a_process_is_put_into_words(code: int, words: str) -> None:
    assert words_for_end(code).startswith(words)


@linux
@pytest.mark.parametrize("is_gone_before", [False, True])
def test_a_process_that_keeps_pythons_lock_ends_with_the_program(is_gone_before: bool) -> None:
    life, program = os.pipe()
    if is_gone_before:
        os.close(program)
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(life)], pass_fds=[life], stdout=subprocess.PIPE)
    try:
        os.close(life)
        assert child.stdout is not None
        if is_gone_before:
            assert child.wait(PATIENCE) == 1
        else:
            assert child.stdout.read(5) == b"ready"
            os.close(program)
            assert child.wait(PATIENCE) == -signal.SIGIO
    finally:
        child.kill()
        child.communicate()


@posix
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_c12_a_fork_while_another_thread_asks_does_not_hang(tmp_path: Path) -> None:
    space = Space([Feature("income", "integer", direction=+1, lower=0, upper=9)])
    asked, release, parent = Event(), Event(), os.getpid()

    def model(rows: np.ndarray) -> np.ndarray:
        if os.getpid() == parent:
            asked.set()
            assert release.wait(PATIENCE)
        return np.asarray(rows[:, 0] >= 7)

    journal = Journal(tmp_path / "answers.db", model="approve")
    explainer = Explainer(model, space, journal=journal)
    thread = Thread(target=lambda: explainer.explain([3]), daemon=True)
    thread.start()
    try:
        assert asked.wait(PATIENCE)  # a thread that the fork does not copy is in the middle of a call
        with journal._processes[parent].lock, fewer_collections._lock:
            child = os.fork()
            if not child:
                signal.alarm(PATIENCE)  # ends the child if it hangs
                found = explainer.explain_table([[4]])  # row [3] is claimed: the child would wait for the parent
                os._exit(0 if getattr(found[0], "status", "") == "optimal" else 3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        release.set()
        thread.join(PATIENCE)
        journal.close()
