"""The process itself: how it is started, how it ends, and what is left of it."""

import os
import signal
import sys
from pathlib import Path

import pytest

from flipset.models.isolated.frames import Gone
from flipset.models.isolated.process import ModelProcess, printable
from tests.models import loaders

linux = pytest.mark.skipif(sys.platform != "linux", reason="open files are listed as Linux does")


def deed(name: str) -> tuple[str, object]:
    return "open", loaders.DEEDS[name]


@linux
@pytest.mark.parametrize(("name", "words"), [("abort", "SIGABRT"), ("segfault", "SIGSEGV"), ("leave", "exit code 3")])
def test_its_end_is_told_in_words(name: str, words: str) -> None:
    process = ModelProcess()
    with pytest.raises(Gone):
        process.ask(deed(name), 0)
    assert process.fate().startswith(words)


@linux
def test_nothing_is_left_open_or_behind() -> None:
    before = set(os.listdir("/proc/self/fd"))
    process = ModelProcess()
    assert process.ask(("open", dict), 0) == ({"labels": None}, b"")
    process.end()
    process.end()  # once more does no harm
    assert set(os.listdir("/proc/self/fd")) == before
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


@linux
def test_a_process_that_cannot_be_started_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(os.listdir("/proc/self/fd"))
    monkeypatch.setattr("flipset.models.isolated.process.get_executable", lambda: "/nowhere/python")
    with pytest.raises(FileNotFoundError):
        ModelProcess()
    assert set(os.listdir("/proc/self/fd")) == before


@linux
def test_it_ends_with_the_program_although_the_program_ignores_the_signal() -> None:
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    try:
        process = ModelProcess()
    finally:
        signal.signal(signal.SIGIO, before)
    process.ask(("open", dict), 0)
    assert process._life is not None
    os.close(process._life)  # as the end of the program does
    process._life = None
    assert process.fate() == "SIGIO"


@linux
def test_time_that_runs_out_is_told_from_a_death() -> None:
    process = ModelProcess()
    with pytest.raises(TimeoutError):
        process.ask(deed("hang"), 0, seconds=0.1)
    process.end()


@linux
def test_the_current_folder_is_not_searched_for_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('found here')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [part for part in sys.path if part])
    process = ModelProcess()
    assert process.ask(("open", dict), 0) == ({"labels": None}, b"")
    process.end()


@linux
def test_memory_can_be_limited() -> None:
    process = ModelProcess(memory=8 * 1024**3)
    about, _ = process.ask(("open", loaders.fill_memory), 0)
    assert about == {"error": "OracleError", "message": "MemoryError"}
    process.end()


@linux
def test_interrupts_from_the_keyboard_are_for_the_program() -> None:
    process = ModelProcess()
    process.ask(("open", dict), 0)
    assert os.getsid(process.pid) != os.getsid(0)
    process.end()


def test_what_a_terminal_might_obey_is_left_out() -> None:
    assert printable("\x1b[31mred\r\n") == "?[31mred??"
