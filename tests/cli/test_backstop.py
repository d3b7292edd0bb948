"""The process that ends a command whose threads cannot run."""

import os
import socket
import subprocess
import sys
import threading

import pytest

from flipset.cli import backstop
from flipset.cli.backstop import count_unread, watch

PATIENCE = 60  # seconds, against hanging only


def watched(receiver: socket.socket, is_there: bool = True) -> tuple[threading.Thread, threading.Event]:
    killed = threading.Event()
    thread = threading.Thread(target=watch, args=(receiver, 0.2, lambda: is_there, killed.set), daemon=True)
    thread.start()
    return thread, killed


@pytest.mark.parametrize("signals", [b"\x0f", b"\x02\x02"])
def test_signals_that_stay_unread_end_the_command(monkeypatch: pytest.MonkeyPatch, signals: bytes) -> None:
    monkeypatch.setattr(backstop, "MOMENT", 0.01)
    monkeypatch.setattr(backstop, "AT_ONCE", 0.01)
    receiver, sender = socket.socketpair()
    with receiver, sender:
        thread, killed = watched(receiver)
        sender.send(signals)
        assert killed.wait(PATIENCE)
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_it_ends_with_the_command() -> None:
    receiver, sender = socket.socketpair()
    with receiver:
        thread, killed = watched(receiver)
        sender.close()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert not killed.is_set()


@pytest.mark.parametrize("signals", [b"\x0f", b"\x02\x02"])
def test_a_command_that_ended_with_a_signal_unread_is_not_killed(signals: bytes) -> None:
    """Its number may belong to another process by then."""
    receiver, sender = socket.socketpair()
    with receiver:
        sender.send(signals)
        sender.close()
        thread, killed = watched(receiver, is_there=False)
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert not killed.is_set()


@pytest.mark.skipif(os.name != "posix", reason="there is no such process on other systems")
def test_the_process_ends_quietly_when_its_command_has_ended_with_a_signal_unread() -> None:
    """The command ends before its thread reads the signal, as happens while Python ends."""
    code = """
import os, socket
from flipset.cli.backstop import start_backstop
receiver, sender = socket.socketpair()
start_backstop(receiver, 0.3)
sender.send(b"\\x02")
os._exit(130)
"""
    ended = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, timeout=PATIENCE)
    # Standard error is read to its end, which comes when the process has ended, too.
    assert (ended.returncode, ended.stderr) == (130, b"")


def test_signals_are_counted_and_not_read() -> None:
    receiver, sender = socket.socketpair()
    with receiver:
        assert count_unread(receiver) == 0
        sender.send(b"\x02")
        assert count_unread(receiver) == count_unread(receiver) == 1
        receiver.recv(1)
        sender.close()
        assert count_unread(receiver) is None
