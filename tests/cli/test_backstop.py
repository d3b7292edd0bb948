"""The process that ends a command whose threads cannot run."""

import socket
import threading

import pytest

from flipset.cli import backstop
from flipset.cli.backstop import count_unread, watch

PATIENCE = 60  # seconds, against hanging only


def watched(receiver: socket.socket) -> tuple[threading.Thread, threading.Event]:
    killed = threading.Event()
    thread = threading.Thread(target=watch, args=(receiver, 0.2, killed.set), daemon=True)
    thread.start()
    return thread, killed


@pytest.mark.parametrize("signals", [b"\x0f", b"\x02\x02"])
def test_signals_that_stay_unread_end_the_command(monkeypatch: pytest.MonkeyPatch, signals: bytes) -> None:
    monkeypatch.setattr(backstop, "MOMENT", 0.01)
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


def test_signals_are_counted_and_not_read() -> None:
    receiver, sender = socket.socketpair()
    with receiver:
        assert count_unread(receiver) == 0
        sender.send(b"\x02")
        assert count_unread(receiver) == count_unread(receiver) == 1
        receiver.recv(1)
        sender.close()
        assert count_unread(receiver) is None
