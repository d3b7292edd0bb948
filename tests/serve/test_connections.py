"""Connections: a limited number, and no client that sends or reads nothing keeps its place. No clocks but one short."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from flipset.serve import Served
from flipset.serve.connections import Bounded, make_protocol
from tests.patience import PATIENCE
from tests.serve.running import EXPLAINER, FRAME, TOKEN, Running, running

# --- with a loop of the tests' own --------------------------------------------------------------------------------


class Timer:
    """A timer that the test fires."""

    def __init__(self, seconds: float, action: Any) -> None:
        self.seconds = seconds
        self.action = action
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Loop:
    """An event loop in which no time passes and no task runs."""

    def __init__(self) -> None:
        self.timers: list[Timer] = []

    def call_later(self, seconds: float, action: Any) -> Timer:
        self.timers.append(Timer(seconds, action))
        return self.timers[-1]

    def create_task(self, coroutine: Any, **_: Any) -> Any:
        coroutine.close()
        return Task()

    def due(self) -> list[Timer]:
        """The timers of receipt that are running; the server's own have other times."""
        return [timer for timer in self.timers if not timer.is_cancelled and timer.seconds == 7]


class Task:
    def add_done_callback(self, _: Any) -> None:
        pass


class Transport:
    """The other end of a connection."""

    def __init__(self) -> None:
        self.is_aborted = False

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 1) if name in ("sockname", "peername") else None

    def is_closing(self) -> bool:
        return self.is_aborted

    def abort(self) -> None:
        self.is_aborted = True

    close = abort

    def write(self, data: bytes) -> None:
        pass

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


async def no_app(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("no task runs")


class Server:
    """Connections of one server, with a limit of two."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.protocol = make_protocol(most=2, seconds=7)
        self.config = uvicorn.Config(no_app, http=self.protocol, ws="none", log_config=None)
        self.config.load()

    def connect(self) -> tuple[Bounded, Transport]:
        connection = self.protocol(self.config, ServerState(), {}, _loop=self.loop)
        transport = Transport()
        connection.connection_made(transport)
        return connection, transport


HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"POST", HEAD[:-2], HEAD, HEAD + b"abc"])
def test_c11_a_request_that_is_not_complete_in_time_is_cut(sent: bytes) -> None:
    server = Server()
    connection, transport = server.connect()
    for i in range(len(sent)):
        connection.data_received(sent[i : i + 1])  # single bytes win no time
    (timer,) = server.loop.due()
    assert timer is server.loop.timers[0]
    timer.action()
    assert transport.is_aborted


def test_c11_a_complete_request_is_not_cut_and_the_next_one_has_time_again() -> None:
    server = Server()
    connection, transport = server.connect()
    connection.data_received(HEAD + b"abcd")
    assert server.loop.due() == []
    connection.cycle.response_complete = True
    connection.on_response_complete()
    assert len(server.loop.due()) == 1
    connection.data_received(b"POST")
    assert len(server.loop.due()) == 1
    assert not transport.is_aborted
    connection.connection_lost(None)
    assert server.loop.due() == []


def test_c11_a_client_that_does_not_read_is_cut() -> None:
    server = Server()
    connection, transport = server.connect()
    connection.data_received(HEAD + b"abcd")
    connection.pause_writing()
    assert len(server.loop.due()) == 1
    connection.resume_writing()
    assert server.loop.due() == []
    connection.pause_writing()
    (timer,) = server.loop.due()
    timer.action()
    assert transport.is_aborted


def test_c11_the_oldest_half_request_makes_room_and_complete_ones_stay() -> None:
    server = Server()
    (working, first), (_, second) = server.connect(), server.connect()
    working.data_received(HEAD + b"abcd")
    third_connection, third = server.connect()
    assert (first.is_aborted, second.is_aborted, third.is_aborted) == (False, True, False)
    third_connection.data_received(HEAD + b"abcd")
    _, fourth = server.connect()  # all are waiting for answers: there is no room
    assert (first.is_aborted, third.is_aborted, fourth.is_aborted) == (False, False, True)
    working.connection_lost(None)
    _, fifth = server.connect()
    assert not fifth.is_aborted


# --- with real connections ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hasty() -> Iterator[Running]:
    with running(Served(EXPLAINER, FRAME, eager=False), most=20, seconds=0.05) as where:
        yield where


@pytest.mark.parametrize("sent", [b"", b"GET / HT", HEAD])
def test_c11_a_half_sent_request_ends(hasty: Running, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", hasty.port), timeout=PATIENCE) as line:
        admitted = f"Host: 127.0.0.1:{hasty.port}\r\nAuthorization: Bearer {TOKEN}"
        line.sendall(sent.replace(b"POST / ", b"POST /api/explain ").replace(b"Host: x", admitted.encode()))
        with suppress(ConnectionResetError):
            assert line.recv(1) == b""


def test_c11_five_hundred_half_sent_requests_keep_nobody_out() -> None:
    with running(Served(EXPLAINER, FRAME, eager=False), most=20, seconds=PATIENCE) as where, ExitStack() as lines:
        for _ in range(500):
            line = lines.enter_context(socket.create_connection(("127.0.0.1", where.port), timeout=PATIENCE))
            with suppress(OSError):  # it may have made room already
                line.sendall(b"POST /api/explain HTTP/1.1\r\n")
        with where.client() as client:
            assert client.post("/api/explain", json={"row": 0}).status_code == 200
