"""The server that runs the page, with limits on connections and on what it logs."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

import uvicorn

from flipset.boundary.limits import MOST_CONNECTIONS, RECEIPT_SECONDS
from flipset.serve.connections import make_protocol

if TYPE_CHECKING:
    from collections.abc import Callable

LOGGED, LOG_SECONDS = 20, 60.0
"""The most messages that are logged in this many seconds. A client can cause a message with every request."""

LOGGERS = ("uvicorn.error", "asyncio")
"""The loggers that write about connections: those of the server and of its event loop."""


def make_server(
    app: Any, *, most: int = MOST_CONNECTIONS, seconds: float = RECEIPT_SECONDS, log_level: str = "warning"
) -> uvicorn.Server:
    """Return a server for the application; it logs warnings, a limited number, and no requests."""
    config = uvicorn.Config(
        app,
        http=make_protocol(most, seconds),
        # Nothing here uses websockets, and what is not there need not be kept safe.
        ws="none",
        log_level=log_level,
        access_log=False,
        timeout_graceful_shutdown=1,  # a command that is asked to end has two seconds
    )
    limit = LogLimit(LOGGED, LOG_SECONDS, time.monotonic)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        # Loggers belong to the process: a second server would add a second limit.
        for old in [one for one in logger.filters if isinstance(one, LogLimit)]:
            logger.removeFilter(old)
        logger.addFilter(limit)
    return uvicorn.Server(config)


class LogLimit(logging.Filter):
    """Lets `most` messages pass in any period of `seconds`; the first one after that says how many were left out."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float]) -> None:
        super().__init__()
        self.most = most
        self.seconds = seconds
        self.clock = clock
        self._end = clock() + seconds
        self._passed = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a message is logged."""
        now = self.clock()
        if now >= self._end:
            left_out = self._passed - self.most
            self._end, self._passed = now + self.seconds, 0
            if left_out > 0:
                record.msg, record.args = f"{record.getMessage()} ({left_out:,} messages before it were left out)", ()
        self._passed += 1
        return self._passed <= self.most
