"""Connections to the page: a limited number, and a time within which requests arrive and answers are read.

uvicorn itself waits forever for a request that is half sent and for a client that does not read, and limits no
connections before a request is complete. `make_protocol` returns its HTTP/1.1 protocol with these limits:

- A request, headers and body, must arrive within `seconds` after the connection was opened or the answer before it was
  sent. Otherwise the connection is closed.
- A client that does not read must go on reading within `seconds`.
- When `most` connections are open, the oldest one that is still sending a request is closed for a new one. So clients
  that send nothing cannot keep others out. If all are waiting for answers, the new one is closed.

Invariant: a request that has arrived is never cut short by these limits.
"""

from __future__ import annotations

from socket import IPPROTO_TCP, TCP_NODELAY
from typing import TYPE_CHECKING, Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from flipset.boundary.limits import MOST_CONNECTIONS, RECEIPT_SECONDS

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable


def make_protocol(most: int = MOST_CONNECTIONS, seconds: float = RECEIPT_SECONDS) -> type[Bounded]:
    """Return the protocol of the connections of one server."""
    return type("Bounded", (Bounded,), {"most": most, "seconds": seconds, "opened": {}})


class Bounded(H11Protocol):
    """A connection with limits; the class is that of one server."""

    most: ClassVar[int]
    seconds: ClassVar[float]
    opened: ClassVar[dict[Bounded, None]]  # in the order in which they were opened

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._receipt, self._reading = _Timer(), _Timer()

    # --- what the event loop and uvicorn call ---------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """Take a new connection, in the place of another if there are too many."""
        super().connection_made(transport)
        line = transport.get_extra_info("socket")
        if line is not None:
            # The head and the body of an answer are written one after the other. Without this, the body waits until the
            # client has acknowledged the head, 40 ms later. asyncio sets it only for sockets made with a protocol.
            line.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        if len(self.opened) >= self.most and not self._close_another():
            transport.abort()
            return
        self.opened[self] = None
        self._watch_receipt()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.opened.pop(self, None)
        self._receipt.cancel()
        self._reading.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take part of a request."""
        super().data_received(data)
        # The rest of the body may be still to come, or the request is complete now.
        self._watch_receipt()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._receipt.cancel()  # the time for the next request begins now
        super().on_response_complete()
        self._watch_receipt()

    def pause_writing(self) -> None:
        """Wait for a client that does not read."""
        super().pause_writing()
        self._reading.start(self.loop, self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client reads again."""
        super().resume_writing()
        self._reading.cancel()

    # --- the limits -----------------------------------------------------------------------------------------------

    @property
    def is_receiving(self) -> bool:
        """Whether a request, or its rest, is still to come."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _watch_receipt(self) -> None:
        """Start the time for a request, or end it when the request has arrived."""
        if self.is_receiving and not self.transport.is_closing():
            self._receipt.start(self.loop, self.seconds, self.transport.abort)
        else:
            self._receipt.cancel()

    def _close_another(self) -> bool:
        """Close the oldest connection that is still sending a request; say whether there was one."""
        # In the order of opening. A connection that waits for its answer is never closed: that work would be lost.
        oldest = next((connection for connection in self.opened if connection.is_receiving), None)
        if oldest is None:
            return False
        del self.opened[oldest]
        oldest.transport.abort()
        return True


class _Timer:
    """A call in the future, at most one at a time."""

    def __init__(self) -> None:
        self._handle: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop, seconds: float, action: Callable[[], None]) -> None:
        """Call `action` after `seconds`, unless that is planned already."""
        if self._handle is None:
            self._handle = loop.call_later(seconds, action)

    def cancel(self) -> None:
        """Do not call it."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
