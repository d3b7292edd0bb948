"""The server: what it logs is limited."""

import logging

from flipset.serve.server import LOGGERS, LogLimit, make_server


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def record(text: str, *args: object) -> logging.LogRecord:
    return logging.LogRecord("uvicorn.error", logging.WARNING, "", 0, text, args, None)


def test_c11_messages_are_limited_and_counted() -> None:
    clock = Clock()
    limit = LogLimit(3, 60, clock)
    assert sum(limit.filter(record("again")) for _ in range(100_000)) == 3
    clock.now = 60
    after = record("request %d", 7)
    assert limit.filter(after)
    assert after.getMessage() == "request 7 (99,997 messages before it were left out)"
    clock.now = 120
    quiet = record("later")
    assert limit.filter(quiet)
    assert quiet.getMessage() == "later"


def test_c11_every_server_limits_its_loggers_once() -> None:
    for _ in range(3):
        server = make_server(None)
    assert server.config.access_log is False
    for name in LOGGERS:
        assert sum(isinstance(one, LogLimit) for one in logging.getLogger(name).filters) == 1
